"""The installed plugins: do they load, does each name have one owner, do the interfaces fit."""

from __future__ import annotations

from collections.abc import Iterator

from accelhal.doctor.facts import Facts
from accelhal.doctor.hardware import impact
from accelhal.errors import AccelhalError, BackendConflictError, BackendIncompatibleError
from accelhal.evidence.environment import ListedBackend
from accelhal.facts import Finding, FindingState, ProbeStatus
from accelhal.registry.listing import LIMIT_VARIABLE, Backend
from accelhal.spi import API_VERSION, ENTRY_POINT_GROUP
from accelhal.spi.doctor import Check

_ID = "plugin.load"


def _plugins_load(facts: Facts) -> Iterator[Finding]:
    if not facts.live:
        for listed in facts.listed:
            yield _listed(listed)
        return
    for backend in facts.backends:
        if backend.error is not None:
            yield _refused(backend, backend.error, facts)
        elif backend.spec is None:
            yield _finding("plugin.left_out", FindingState.INFO, backend, variable=LIMIT_VARIABLE)
        else:
            theirs = backend.spec.api_version
            newer = theirs > API_VERSION and backend.probe.status is not ProbeStatus.DISABLED
            code, state = (
                ("plugin.newer", FindingState.INFO) if newer else ("plugin.loaded", FindingState.OK)
            )
            yield _finding(
                code, state, backend, interface=_dotted(theirs), ours=_dotted(API_VERSION)
            )

    for path, reason in facts.damaged_metadata.items():
        yield Finding(
            _ID,
            "plugin.damaged",
            FindingState.WARN,
            {"path": path, "reason": reason},
            evidence={path: reason},
            commands=(f"reinstall or remove what lies in {path}",),
        )


def _listed(listed: ListedBackend) -> Finding:
    return Finding(
        _ID,
        "plugin.loaded",
        FindingState.OK,
        {
            "distribution": listed.distribution,
            "version": listed.version,
            "interface": listed.api_version or "?",
        },
        device=listed.name,
    )


def _refused(backend: Backend, error: AccelhalError, facts: Facts) -> Finding:
    if isinstance(error, BackendConflictError):
        code = "plugin.conflict"
    elif isinstance(error, BackendIncompatibleError):
        code = "plugin.incompatible"
    else:
        code = "plugin.broken"
    hint = (error.hint,) if error.hint else ()
    return _finding(code, impact(backend, facts), backend, commands=hint, reason=error.message)


def _finding(
    code: str,
    state: FindingState,
    backend: Backend,
    *,
    commands: tuple[str, ...] = (),
    **params: str,
) -> Finding:
    return Finding(
        _ID,
        code,
        state,
        {"distribution": backend.distribution, "version": backend.version, **params},
        device=backend.name,
        commands=commands,
    )


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))


LOAD = Check(
    _ID,
    "Plugins",
    "installed plugins: distribution, version, interface; do they load, is each name theirs alone",
    (f"entry points of group {ENTRY_POINT_GROUP}",),
    _plugins_load,
    explanation="accelhal finds backends by the entry points of installed distributions. A plugin "
    "that raises, speaks another major version of the interface, or shares its name with another "
    "costs only itself: a failure where its boards are here or a variable names it, else a "
    "warning.",
)
