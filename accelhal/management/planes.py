"""The open driver libraries of this process, one for each backend that has one."""

from __future__ import annotations

import threading
from collections.abc import Callable

from accelhal.errors import AccelhalError, BackendLoadError, UnsupportedError, described
from accelhal.spi import BackendSpec, Management

OPEN_LIMIT_S = 30.0
"""How long one thread waits while another opens a driver library."""

_lock = threading.RLock()
_open: dict[str, tuple[BackendSpec, Management]] = {}
_opening: list[str] = []


def open_management(spec: BackendSpec) -> Management:
    """The backend's management plane, opened on first use.

    Raises:
        UnsupportedError: the backend has none.
        BackendLoadError: the driver library does not load or does not start.
    """
    if spec.open_management is None:
        raise UnsupportedError(
            f"{spec.name}: this version of its plugin has no management plane",
            backend=spec.name,
            operation="open_management",
        )
    if not _lock.acquire(timeout=OPEN_LIMIT_S):
        raise _failed(spec, f"another thread is at it for {OPEN_LIMIT_S:g} s")
    try:
        known = _open.get(spec.name)
        if known is None or known[0] is not spec:
            known = _open[spec.name] = (spec, _started(spec, spec.open_management))
        return known[1]
    finally:
        _lock.release()


def _started(spec: BackendSpec, start: Callable[[], Management]) -> Management:
    if spec.name in _opening:
        raise _failed(spec, "its start asks for itself")
    _opening.append(spec.name)
    try:
        management = start()
    except (KeyboardInterrupt, AccelhalError):
        raise
    except BaseException as error:
        raise _failed(spec, described(error)) from error
    finally:
        _opening.remove(spec.name)
    if not isinstance(management, Management):
        raise _failed(spec, f"open_management returned a {type(management).__name__}")
    return management


def _failed(spec: BackendSpec, reason: str) -> BackendLoadError:
    return BackendLoadError(
        f"{spec.name}: its driver library did not open: {reason}",
        backend=spec.name,
        operation="open_management",
        hint="`accelhal doctor` looks into the driver",
    )
