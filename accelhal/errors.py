"""The error tree: every failure names the backend, the device, the operation and the next step."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Collection
from enum import Enum
from typing import Any


class AccelhalError(RuntimeError):
    """Base of every error raised by accelhal.

    Attributes:
        backend: backend name ("cuda"), or None where none is involved.
        device: device name ("cuda:0"), or None.
        operation: the call that failed ("memory_allocated"), or None.
        hint: the next step for the user, or None.
    """

    def __init__(
        self,
        message: str,
        *,
        backend: str | None = None,
        device: str | None = None,
        operation: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.backend = backend
        self.device = device
        self.operation = operation
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  next: {self.hint}" if self.hint else self.message

    def __reduce__(self) -> tuple[Any, ...]:
        # Keyword-only attributes travel in the state: errors cross process boundaries.
        return (type(self), (self.message,), self.__dict__.copy())


class BackendError(AccelhalError):
    """A backend could not be found, loaded or opened."""


class BackendNotFoundError(BackendError):
    """No installed backend has that name."""


class BackendLoadError(BackendError):
    """The backend's plugin, vendor package or driver library failed to load."""


class BackendConflictError(BackendError):
    """Two distributions register one backend name."""


class BackendIncompatibleError(BackendError):
    """The backend cannot work with this accelhal, this torch or another backend in the process."""


class DeviceError(AccelhalError):
    """A device is absent, full, lost, sick or silent."""


class DeviceNotFoundError(DeviceError, IndexError):
    """No device has that index."""


class DeviceOutOfMemoryError(DeviceError):
    """The device has no memory left for the request.

    What the facade raises is also a `torch.OutOfMemoryError`; see `accelhal.runtimes.translation`.
    """


class DeviceLostError(DeviceError):
    """The device fell off the bus or its driver shut down; the process cannot use it again."""


class DeviceUnhealthyError(DeviceError):
    """The device answers but its results cannot be trusted (uncorrectable ECC, broken link)."""


class DeviceTimeoutError(DeviceError, TimeoutError):
    """The device did not answer within the limit."""


class UnsupportedError(AccelhalError, NotImplementedError):
    """The device does not have the capability that the operation needs."""

    def __init__(self, message: str, *, capability: str | None = None, **context: Any) -> None:
        super().__init__(message, **context)
        self.capability = capability


class BatchingError(AccelhalError):
    """A batcher could not serve a request."""


class QueueFullError(BatchingError):
    """The batcher's queue holds as many rows as it may."""


class DeadlineExceededError(BatchingError, TimeoutError):
    """The request was not answered within its time limit, or could not have been."""


class BatcherClosedError(BatchingError):
    """The batcher takes no requests any more; what was pending is not answered."""


class BatchSizeMismatchError(BatchingError):
    """The model returned another number of results than the batch has rows."""


class ModelExitError(BatchingError):
    """The model raised what would end a thread or a loop (SystemExit, KeyboardInterrupt)."""


class DistributedError(AccelhalError):
    """The ranks of a group do not fit together, do not all come, or lost one another."""


class UsageError(AccelhalError, ValueError):
    """The caller passed something that no device could serve."""


class AccelhalWarning(UserWarning):
    """Something works, but not as the user may expect (a fallback to cpu, a downgraded backend)."""


def warn(text: str) -> None:
    """Issue an AccelhalWarning that points at the caller's line, outside this package."""
    package = os.path.dirname(__file__)
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, AccelhalWarning, stacklevel=level)


def message_of(error: BaseException) -> str:
    """An error's message, without its hint; a plugin's error may fail to make one."""
    try:
        return error.message if isinstance(error, AccelhalError) else str(error)
    except Exception as failure:
        return f"(no message: its __str__ raised {type(failure).__name__})"


def described(error: BaseException) -> str:
    """An error's class and message: "ValueError: no such board"."""
    text = message_of(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def did_you_mean(word: str, known: Collection[str]) -> str:
    """The question to begin a hint with, where a known word is close; empty where none is."""
    import difflib  # 5 ms that only an error needs

    close = difflib.get_close_matches(word, known, n=1)
    return f"did you mean {close[0]!r}? " if close else ""


class ErrorScope(str, Enum):
    """What an error spoils: one request, the device, or the whole process."""

    REQUEST = "request"
    DEVICE = "device"
    PROCESS = "process"


class ErrorKind(Enum):
    """What went wrong, in the vendor-free words that batching and failover act on.

    Attributes:
        scope: what the error spoils.
        sticky: True where every later call on the device (or in the process) fails too.
    """

    OUT_OF_MEMORY = ("out_of_memory", ErrorScope.REQUEST, False)
    RESOURCE_EXHAUSTED = ("resource_exhausted", ErrorScope.REQUEST, False)  # streams, not memory
    DEVICE_LOST = ("device_lost", ErrorScope.DEVICE, True)
    DEVICE_UNAVAILABLE = ("device_unavailable", ErrorScope.DEVICE, False)  # cannot be opened now
    MEMORY_FAULT = ("memory_fault", ErrorScope.DEVICE, True)  # uncorrectable ECC
    LINK_FAULT = ("link_fault", ErrorScope.DEVICE, True)  # board-to-board link
    ILLEGAL_ACCESS = ("illegal_access", ErrorScope.PROCESS, True)
    LAUNCH_FAILURE = ("launch_failure", ErrorScope.PROCESS, True)
    TIMEOUT = ("timeout", ErrorScope.DEVICE, True)
    COMMUNICATION = ("communication", ErrorScope.PROCESS, True)  # collective library
    DRIVER_SHUTDOWN = ("driver_shutdown", ErrorScope.PROCESS, True)
    BAD_FORK = ("bad_fork", ErrorScope.PROCESS, True)
    UNSUPPORTED = ("unsupported", ErrorScope.REQUEST, False)
    USAGE = ("usage", ErrorScope.REQUEST, False)
    UNKNOWN = ("unknown", ErrorScope.REQUEST, False)

    def __init__(self, label: str, scope: ErrorScope, sticky: bool) -> None:
        self.label = label
        self.scope = scope
        self.sticky = sticky
