"""One interface for every AI board, over PyTorch.

Importing this package takes neither torch nor a plugin; both are loaded on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from accelhal.batching import (
        DynamicBatcher as DynamicBatcher,
        batch as batch,
    )
    from accelhal.errors import (
        AccelhalError as AccelhalError,
        AccelhalWarning as AccelhalWarning,
        BackendConflictError as BackendConflictError,
        BackendError as BackendError,
        BackendIncompatibleError as BackendIncompatibleError,
        BackendLoadError as BackendLoadError,
        BackendNotFoundError as BackendNotFoundError,
        BatcherClosedError as BatcherClosedError,
        BatchingError as BatchingError,
        BatchSizeMismatchError as BatchSizeMismatchError,
        DeadlineExceededError as DeadlineExceededError,
        DeviceError as DeviceError,
        DeviceLostError as DeviceLostError,
        DeviceNotFoundError as DeviceNotFoundError,
        DeviceOutOfMemoryError as DeviceOutOfMemoryError,
        DeviceTimeoutError as DeviceTimeoutError,
        DeviceUnhealthyError as DeviceUnhealthyError,
        DistributedError as DistributedError,
        ErrorKind as ErrorKind,
        ModelExitError as ModelExitError,
        QueueFullError as QueueFullError,
        UnsupportedError as UnsupportedError,
        UsageError as UsageError,
    )
    from accelhal.facade import (
        Device as Device,
        device as device,
        devices as devices,
    )
    from accelhal.facts import (
        BoardInfo as BoardInfo,
        BoardKey as BoardKey,
        DeviceProperties as DeviceProperties,
        HealthReport as HealthReport,
        HealthStatus as HealthStatus,
        MemoryStats as MemoryStats,
        Probe as Probe,
        ProbeStatus as ProbeStatus,
        Telemetry as Telemetry,
    )
    from accelhal.graphs import (
        GraphedModule as GraphedModule,
        make_graphed_callables as make_graphed_callables,
    )
    from accelhal.management.boards import (
        boards as boards,
    )
    from accelhal.registry import (
        Backend as Backend,
        backends as backends,
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
    "batch": "accelhal.batching",
    "DynamicBatcher": "accelhal.batching",
    "device": "accelhal.facade",
    "devices": "accelhal.facade",
    "Device": "accelhal.facade",
    "GraphedModule": "accelhal.graphs",
    "make_graphed_callables": "accelhal.graphs",
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
    "BatchingError": "accelhal.errors",
    "BatcherClosedError": "accelhal.errors",
    "BatchSizeMismatchError": "accelhal.errors",
    "DeadlineExceededError": "accelhal.errors",
    "ModelExitError": "accelhal.errors",
    "QueueFullError": "accelhal.errors",
    "DeviceError": "accelhal.errors",
    "DeviceLostError": "accelhal.errors",
    "DeviceNotFoundError": "accelhal.errors",
    "DeviceOutOfMemoryError": "accelhal.errors",
    "DeviceTimeoutError": "accelhal.errors",
    "DeviceUnhealthyError": "accelhal.errors",
    "DistributedError": "accelhal.errors",
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
