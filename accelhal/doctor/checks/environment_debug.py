"""Variables that help to find errors and cost speed while they stay set; preloaded libraries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from accelhal.doctor.facts import Facts
from accelhal.doctor.presence import present_specs
from accelhal.evidence.torch_variables import TORCH_DEBUG_VARIABLES
from accelhal.facts import Finding, FindingState
from accelhal.host.library_search import find_library
from accelhal.registry.vendor_hosts import vendor_host
from accelhal.spi import BackendSpec
from accelhal.spi.doctor import Check, DebugVariable, NotShownError

_DEBUG_ID = "env.debug"
_PRELOAD_ID = "env.preload"


# ---- env.debug


def _debug(facts: Facts) -> Iterator[Finding]:
    found = [*_set(TORCH_DEBUG_VARIABLES, None, FindingState.WARN, facts)]
    present = _present(facts)
    for spec in facts.specs:
        # Without boards nothing reads the variable: a word, for a job may inherit it elsewhere.
        here = present is None or spec.name in present
        state = FindingState.WARN if here else FindingState.INFO
        found += _set(facts.vendor_host(spec).debug_variables, spec.name, state, facts)
    yield from found or [Finding(_DEBUG_ID, "debug.none", FindingState.OK)]


def _present(facts: Facts) -> set[str] | None:
    try:
        return {spec.name for spec in present_specs(facts)}
    except NotShownError:
        return None


def _set(
    variables: Iterable[DebugVariable], device: str | None, state: FindingState, facts: Facts
) -> Iterator[Finding]:
    for variable in variables:
        value = facts.variables.get(variable.name)
        if value is None or value in variable.harmless:
            continue
        yield Finding(
            _DEBUG_ID,
            "debug.set",
            state,
            {
                "variable": variable.name,
                "value": value,
                "effect": variable.effect,
                "when": variable.when,
            },
            device,
            {variable.name: value},
            (f"unset {variable.name}",),
        )


_RULE = (
    "These variables make drivers, toolkits and torch wait, check or log, so that an error shows "
    "where it happens; they cost up to several times the speed of a job that runs well. Set one "
    "while you look for such an error, and unset it after."
)


def explained(check: Check, specs: Iterable[BackendSpec]) -> Check:
    """The check with each variable that the vendors name, and when to set it."""
    vendors = (one for spec in specs for one in vendor_host(spec).debug_variables)
    lines = [
        f"{variable.name} ({variable.effect}): when {variable.when}."
        for variable in dict.fromkeys((*TORCH_DEBUG_VARIABLES, *vendors))
    ]
    return replace(check, explanation="\n".join((_RULE, *lines)))


DEBUG = Check(
    _DEBUG_ID,
    "Environment",
    "variables that help to find errors and slow every job down while they are set",
    ("the environment",),
    _debug,
    explanation=_RULE,
)


# ---- env.preload

_REFUSED = re.compile(
    r"ERROR: ld\.so: object '(?P<entry>[^']+)' from (?P<source>\S+) cannot be preloaded"
)
"""glibc's loader, rtld.c."""

_VARIABLE = "LD_PRELOAD"
_FILE = "/etc/ld.so.preload"


def _preload(facts: Facts) -> Iterator[Finding]:
    missing = {}
    for line in facts.record.messages:
        if refused := _REFUSED.search(line):
            missing[refused["entry"]] = refused["source"]
    entries = dict.fromkeys(re.split(r"[ :]+", facts.variables.get(_VARIABLE, "")), _VARIABLE)
    if facts.live:
        entries |= dict.fromkeys((facts.host.read_text(_FILE) or "").split(), _FILE)
        missing |= {
            entry: source
            for entry, source in entries.items()
            if entry and "$" not in entry and not _loadable(entry, facts)
        }
    for entry, source in missing.items():
        variable = source != _FILE
        yield Finding(
            _PRELOAD_ID,
            "preload.missing",
            FindingState.WARN,
            {"entry": entry, "source": source},
            evidence={source: entry},
            commands=(f"unset {_VARIABLE}",)
            if variable
            else (f"sudo sed -i '\\#{entry}#d' {_FILE}",),
            needs_root=not variable,
        )
    if not missing:
        loaded = ", ".join(entry for entry in entries if entry)
        code = "preload.loaded" if loaded else "preload.none"
        state = FindingState.INFO if loaded else FindingState.OK
        yield Finding(_PRELOAD_ID, code, state, {"entries": loaded})


def _loadable(entry: str, facts: Facts) -> bool:
    if "/" in entry:
        return facts.host.exists(entry)
    return find_library(facts.host, entry) is not None


PRELOAD = Check(
    _PRELOAD_ID,
    "Environment",
    "libraries that the loader puts into every program: can it load them",
    (_VARIABLE, _FILE),
    _preload,
    explanation="A library named there that is not found makes the loader complain at every start, "
    "and what it should do (sharing a board, tracing) is not done. One that is found can change "
    "how much memory or how many boards a program sees; it is named for that.",
)
