"""The open management planes, one for each backend that has one."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from accelhal.errors import AccelhalError, BackendLoadError, UnsupportedError, described
from accelhal.host import Host
from accelhal.management.driver_client import DriverClient, can_run_elsewhere
from accelhal.management.remote import RemoteManagement
from accelhal.spi import BackendSpec, Management

PLACE_VARIABLE = "ACCELHAL_MANAGEMENT"
IN_PROCESS = "inproc"
"""Loads driver libraries into this process: a call that hangs then hangs the caller."""

OPEN_LIMIT_S = 30.0
"""How long one thread waits while another opens a driver library."""

_lock = threading.RLock()
_open: dict[str, tuple[BackendSpec, Management]] = {}
_clients: dict[str, tuple[BackendSpec, DriverClient]] = {}  # also those that did not start
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


def end_driver_processes() -> None:
    """End every driver process of this process: what takes its place would inherit them.

    The next call of `open_management` starts anew.
    """
    if not _lock.acquire(timeout=OPEN_LIMIT_S):
        return  # another thread starts one, and waits for a driver
    try:
        clients = [client for _, client in _clients.values()]
        _clients.clear()
        _open.clear()
    finally:
        _lock.release()
    for client in clients:
        client.close()


def _started(spec: BackendSpec, start: Callable[[], Management]) -> Management:
    if spec.name in _opening:
        raise _failed(spec, "its start asks for itself")
    library = spec.driver_library
    if library is not None and not library.is_there(Host()):
        raise BackendLoadError(
            f"{spec.name}: the driver library {library.soname} is not on this host",
            backend=spec.name,
            operation="open_management",
            hint=library.hint,
        )
    _opening.append(spec.name)
    try:
        management = _remote(spec, start) if _is_remote(spec, start) else start()
    except (KeyboardInterrupt, AccelhalError):
        raise
    except BaseException as error:
        raise _failed(spec, described(error)) from error
    finally:
        _opening.remove(spec.name)
    if not isinstance(management, Management):
        raise _failed(spec, f"open_management returned a {type(management).__name__}")
    return management


def _is_remote(spec: BackendSpec, start: Callable[[], Management]) -> bool:
    """Simulated boards live in this process; so does a library that another cannot be told of."""
    if spec.simulated or os.environ.get(PLACE_VARIABLE) == IN_PROCESS:
        return False
    return can_run_elsewhere(start)


def _remote(spec: BackendSpec, start: Callable[[], Management]) -> Management:
    known = _clients.get(spec.name)
    if known is None or known[0] is not spec:
        known = _clients[spec.name] = (spec, DriverClient(spec.name, start))
    client = known[1]
    client.open()
    return RemoteManagement(client)


def _failed(spec: BackendSpec, reason: str) -> BackendLoadError:
    return BackendLoadError(
        f"{spec.name}: its driver library did not open: {reason}",
        backend=spec.name,
        operation="open_management",
        hint="`accelhal doctor` looks into the driver",
    )
