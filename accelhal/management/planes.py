"""The open driver libraries of this process, one for each backend that has one."""

from __future__ import annotations

import threading

from accelhal.errors import AccelhalError, BackendLoadError, UnsupportedError
from accelhal.spi import BackendSpec, Management

_lock = threading.Lock()
_open: dict[str, tuple[BackendSpec, Management]] = {}


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
    with _lock:
        known = _open.get(spec.name)
        if known is not None and known[0] is spec:
            return known[1]
        try:
            management = spec.open_management()
        except (KeyboardInterrupt, AccelhalError):
            raise
        except BaseException as error:
            raise BackendLoadError(
                f"{spec.name}: its driver library did not open: {type(error).__name__}: {error}",
                backend=spec.name,
                operation="open_management",
                hint="`accelhal doctor` looks into the driver",
            ) from error
        _open[spec.name] = (spec, management)
        return management
