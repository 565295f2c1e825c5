"""One interface for every AI board, over PyTorch.

Importing this package takes neither torch nor a plugin; both are loaded on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from accelhal.errors import (
        AccelhalError as AccelhalError,
    )
    from accelhal.errors import (
        AccelhalWarning as AccelhalWarning,
    )
    from accelhal.errors import (
        BackendConflictError as BackendConflictError,
    )
    from accelhal.errors import (
        BackendError as BackendError,
    )
    from accelhal.errors import (
        BackendIncompatibleError as BackendIncompatibleError,
    )
    from accelhal.errors import (
        BackendLoadError as BackendLoadError,
    )
    from accelhal.errors import (
        BackendNotFoundError as BackendNotFoundError,
    )
    from accelhal.errors import (
        DeviceError as DeviceError,
    )
    from accelhal.errors import (
        DeviceLostError as DeviceLostError,
    )
    from accelhal.errors import (
        DeviceNotFoundError as DeviceNotFoundError,
    )
    from accelhal.errors import (
        DeviceOutOfMemoryError as DeviceOutOfMemoryError,
    )
    from accelhal.errors import (
        DeviceTimeoutError as DeviceTimeoutError,
    )
    from accelhal.errors import (
        DeviceUnhealthyError as DeviceUnhealthyError,
    )
    from accelhal.errors import (
        ErrorKind as ErrorKind,
    )
    from accelhal.errors import (
        UnsupportedError as UnsupportedError,
    )
    from accelhal.errors import (
        UsageError as UsageError,
    )
    from accelhal.facade import (
        Device as Device,
    )
    from accelhal.facade import (
        device as device,
    )
    from accelhal.facade import (
        devices as devices,
    )
    from accelhal.facts import (
        BoardInfo as BoardInfo,
    )
    from accelhal.facts import (
        BoardKey as BoardKey,
    )
    from accelhal.facts import (
        DeviceProperties as DeviceProperties,
    )
    from accelhal.facts import (
        HealthReport as HealthReport,
    )
    from accelhal.facts import (
        HealthStatus as HealthStatus,
    )
    from accelhal.facts import (
        MemoryStats as MemoryStats,
    )
    from accelhal.facts import (
        Probe as Probe,
    )
    from accelhal.facts import (
        ProbeStatus as ProbeStatus,
    )
    from accelhal.facts import (
        Telemetry as Telemetry,
    )
    from accelhal.management.boards import (
        boards as boards,
    )
    from accelhal.registry import (
        Backend as Backend,
    )
    from accelhal.registry import (
        backends as backends,
    )
    from accelhal.registry import (
        register as register,
    )
    from accelhal.spi import (
        Support as Support,
    )

__version__ = "0.1.0"

_HOME = {
    "backends": "accelhal.registry",
    "register": "accelhal.registry",
    "Backend": "accelhal.registry",
    "boards": "accelhal.management.boards",
    "device": "accelhal.facade",
    "devices": "accelhal.facade",
    "Device": "accelhal.facade",
    "Support": "accelhal.spi",
    "BoardInfo": "accelhal.facts",
    "BoardKey": "accelhal.facts",
    "DeviceProperties": "accelhal.facts",
    "HealthReport": "accelhal.facts",
    "HealthStatus": "accelhal.facts",
    "MemoryStats": "accelhal.facts",
    "Probe": "accelhal.facts",
    "ProbeStatus": "accelhal.facts",
    "Telemetry": "accelhal.facts",
    "AccelhalError": "accelhal.errors",
    "AccelhalWarning": "accelhal.errors",
    "BackendConflictError": "accelhal.errors",
    "BackendError": "accelhal.errors",
    "BackendIncompatibleError": "accelhal.errors",
    "BackendLoadError": "accelhal.errors",
    "BackendNotFoundError": "accelhal.errors",
    "DeviceError": "accelhal.errors",
    "DeviceLostError": "accelhal.errors",
    "DeviceNotFoundError": "accelhal.errors",
    "DeviceOutOfMemoryError": "accelhal.errors",
    "DeviceTimeoutError": "accelhal.errors",
    "DeviceUnhealthyError": "accelhal.errors",
    "ErrorKind": "accelhal.errors",
    "UnsupportedError": "accelhal.errors",
    "UsageError": "accelhal.errors",
}

__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
