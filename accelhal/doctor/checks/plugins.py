"""The installed plugins: do they load, does each name have one owner, do the interfaces fit."""

from __future__ import annotations

from collections.abc import Iterator

from accelhal.doctor.facts import Facts
from accelhal.doctor.hardware import impact
from accelhal.errors import AccelhalError, BackendConflictError, BackendIncompatibleError
from accelhal.evidence.environment import ListedBackend, listed
from accelhal.facts import Finding, FindingState, ProbeStatus
from accelhal.registry.listing import LIMIT_VARIABLE, Backend
from accelhal.spi import API_VERSION, ENTRY_POINT_GROUP
from accelhal.spi.doctor import Check

_ID = "plugin.load"


def _plugins_load(facts: Facts) -> Iterator[Finding]:
    if not facts.live:
        yield from (_as_listed(backend, facts) for backend in facts.listed)
        return
    for backend in facts.backends:
        if backend.error is not None:
            yield _refused(backend, backend.error, facts)
        elif backend.spec is None:
            yield _finding("plugin.left_out", FindingState.INFO, backend, variable=LIMIT_VARIABLE)
        else:
            yield _loaded(listed(backend), backend.spec.api_version)

    for path, reason in facts.damaged_metadata.items():
        yield Finding(
            _ID,
            "plugin.damaged",
            FindingState.WARN,
            {"path": path, "reason": reason},
            evidence={path: reason},
            commands=(f"reinstall or remove what lies in {path}",),
        )


def _loaded(backend: ListedBackend, theirs: tuple[int, int]) -> Finding:
    newer = theirs > API_VERSION and backend.status is not ProbeStatus.DISABLED
    code, state = (
        ("plugin.newer", FindingState.INFO) if newer else ("plugin.loaded", FindingState.OK)
    )
    return _finding(code, state, backend, interface=_dotted(theirs), ours=_dotted(API_VERSION))


def _as_listed(backend: ListedBackend, facts: Facts) -> Finding:
    """What the list of backends says of the plugin: why one did not load is in its probe."""
    if backend.api_version is not None:
        return _finding("plugin.loaded", FindingState.OK, backend, interface=backend.api_version)
    if backend.status is ProbeStatus.DISABLED:
        return _finding("plugin.left_out", FindingState.INFO, backend, variable=LIMIT_VARIABLE)
    if backend.status is not ProbeStatus.INCOMPATIBLE:
        code = "plugin.broken"
    else:
        code = "plugin.conflict" if ", " in backend.distribution else "plugin.incompatible"
    return _finding(code, impact(backend, facts), backend, reason=backend.reason)


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
    backend: Backend | ListedBackend,
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
