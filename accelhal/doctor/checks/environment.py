"""accelhal's own variables: do they name what is installed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from accelhal.device_name import DeviceName, parse_device_name
from accelhal.doctor.facts import Facts
from accelhal.doctor.frameworks import installed_torch
from accelhal.errors import UsageError
from accelhal.evidence.environment import ListedBackend, listed
from accelhal.facts import Finding, FindingState, ProbeStatus
from accelhal.registry.choosing import DEVICE_VARIABLE
from accelhal.registry.listing import LIMIT_VARIABLE, limit, same_distribution
from accelhal.spi.doctor import Check

_ID = "env.accelhal"


def _own_variables(facts: Facts) -> Iterator[Finding]:
    device = facts.variables.get(DEVICE_VARIABLE)
    names = limit(facts.host)
    if device:
        yield _device(device, facts)
    if names is not None:
        yield _limit(names, facts)
    if not device and names is None:
        yield Finding(
            _ID,
            "own.unset",
            FindingState.OK,
            {"device_variable": DEVICE_VARIABLE, "limit_variable": LIMIT_VARIABLE},
        )


def _device(text: str, facts: Facts) -> Finding:
    """What `accelhal.device()` would say of ACCELHAL_DEVICE before it opens anything."""
    try:
        name = parse_device_name(text)
    except UsageError as error:
        return _finding("own.malformed", FindingState.FAIL, text, hint=error.hint or "")
    backends = _backends(facts)
    backend = next((b for b in backends if b.name == name.backend), None)
    installed = ", ".join(b.name for b in backends)
    if backend is None:
        return _finding("own.not_installed", FindingState.FAIL, text, installed=installed)
    providers = backend.distribution.split(", ")
    if name.distribution and not any(same_distribution(name.distribution, p) for p in providers):
        return _finding(
            "own.other_distribution", FindingState.FAIL, text, providers=backend.distribution
        )
    if backend.status is ProbeStatus.DISABLED:
        return _finding("own.excluded", FindingState.FAIL, text, limit=LIMIT_VARIABLE)
    return _index(text, name, backend.count)


def _backends(facts: Facts) -> Sequence[ListedBackend]:
    """The backends where the variables are set.

    Raises:
        NotShownError: the evidence does not list them.
    """
    return [listed(backend) for backend in facts.backends] if facts.live else facts.listed


def _index(text: str, name: DeviceName, count: int | None) -> Finding:
    if name.index is not None and count and name.index >= count:
        return _finding("own.no_such_index", FindingState.FAIL, text, last=count - 1)
    return _finding("own.device", FindingState.INFO, text)


def _limit(names: frozenset[str], facts: Facts) -> Finding:
    backends = _backends(facts)
    known = {backend.name for backend in backends}
    unknown = ", ".join(sorted(names - known))
    text = facts.host.environ.get(LIMIT_VARIABLE, "")
    params = {"unknown": unknown, "installed": ", ".join(sorted(known))}
    if not names & known:
        return _finding("own.limit_nothing", FindingState.FAIL, text, LIMIT_VARIABLE, **params)
    if installed_torch(facts) is not None and not any(
        backend.name in names and backend.status is ProbeStatus.AVAILABLE and not backend.simulated
        for backend in backends
    ):
        return _finding("own.limit_unusable", FindingState.FAIL, text, LIMIT_VARIABLE)
    if unknown:
        return _finding("own.limit_unknown", FindingState.WARN, text, LIMIT_VARIABLE, **params)
    return _finding("own.limit", FindingState.INFO, text, LIMIT_VARIABLE)


def _finding(
    code: str,
    state: FindingState,
    value: str,
    variable: str = DEVICE_VARIABLE,
    **params: str | int,
) -> Finding:
    return Finding(
        _ID,
        code,
        state,
        {"variable": variable, "value": value, **params},
        evidence={variable: value},
        commands=(f"unset {variable}",) if state in (FindingState.WARN, FindingState.FAIL) else (),
    )


OWN_VARIABLES = Check(
    _ID,
    "Environment",
    f"{DEVICE_VARIABLE} and {LIMIT_VARIABLE}: well formed, and naming what is installed",
    ("the environment",),
    _own_variables,
    explanation=f"{DEVICE_VARIABLE} names the device that `accelhal.device()` takes, and "
    f"{LIMIT_VARIABLE} the backends that are considered. A name that no plugin provides makes "
    "`accelhal.device()` raise; unset the variable or correct it.",
)
