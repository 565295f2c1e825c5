"""From a vendor's exception to the typed error that the facade raises."""

from __future__ import annotations

from functools import cache
from typing import Any

from accelhal.errors import (
    AccelhalError,
    DeviceError,
    DeviceLostError,
    DeviceOutOfMemoryError,
    DeviceTimeoutError,
    DeviceUnhealthyError,
    ErrorKind,
    UnsupportedError,
    UsageError,
    message_of,
)
from accelhal.spi import Runtime

_ERROR_CLASS: dict[ErrorKind, type[AccelhalError]] = {
    ErrorKind.DEVICE_LOST: DeviceLostError,
    ErrorKind.DRIVER_SHUTDOWN: DeviceLostError,
    ErrorKind.DEVICE_UNAVAILABLE: DeviceError,
    ErrorKind.RESOURCE_EXHAUSTED: DeviceError,
    ErrorKind.MEMORY_FAULT: DeviceUnhealthyError,
    ErrorKind.LINK_FAULT: DeviceUnhealthyError,
    ErrorKind.TIMEOUT: DeviceTimeoutError,
    ErrorKind.ILLEGAL_ACCESS: DeviceError,
    ErrorKind.LAUNCH_FAILURE: DeviceError,
    ErrorKind.COMMUNICATION: DeviceError,
    ErrorKind.BAD_FORK: UsageError,
    ErrorKind.UNSUPPORTED: UnsupportedError,
    ErrorKind.USAGE: UsageError,
}

_HINT: dict[ErrorKind, str] = {
    ErrorKind.DEVICE_LOST: "stop using the device; `accelhal doctor` says whether a reset will do",
    ErrorKind.DEVICE_UNAVAILABLE: "`accelhal doctor` says what holds the device or is missing",
    ErrorKind.DRIVER_SHUTDOWN: "start the process anew",
    ErrorKind.MEMORY_FAULT: "drain the device and reset it; `accelhal doctor` shows its counters",
    ErrorKind.LINK_FAULT: "drain the device; `accelhal doctor` shows the counters of its links",
    ErrorKind.ILLEGAL_ACCESS: "start the process anew; a kernel left the memory that it may use",
    ErrorKind.LAUNCH_FAILURE: "start the process anew; the call at fault may be an earlier one",
    ErrorKind.TIMEOUT: "stop using the device; `accelhal doctor` says whether it answers",
    ErrorKind.COMMUNICATION: "start all ranks anew; the first rank that failed names the cause",
    ErrorKind.BAD_FORK: "start worker processes with the 'spawn' method",
    ErrorKind.OUT_OF_MEMORY: "free tensors, use a smaller batch, or call empty_cache()",
    ErrorKind.RESOURCE_EXHAUSTED: "hold fewer streams, events and captured graphs",
}


def call_runtime(runtime: Runtime, backend: str, operation: str, *args: object) -> Any:
    """Call a Runtime method that belongs to no one device; known errors become typed."""
    try:
        return getattr(runtime, operation)(*args)
    except Exception as error:
        known = translated(error, runtime, backend=backend, device=backend, operation=operation)
        if known is None or known is error:
            raise
        raise known from error


def translated(
    error: Exception, runtime: Runtime, *, backend: str, device: str, operation: str
) -> AccelhalError | None:
    """What the facade raises for a runtime's error: None where the error is left as it is."""
    if isinstance(error, AccelhalError):
        error.backend = error.backend or backend
        error.device = error.device or device
        return error
    kind = kind_of(error, runtime)
    return typed_error(kind, error, backend=backend, device=device, operation=operation)


def kind_of(error: BaseException, runtime: Runtime) -> ErrorKind:
    """The runtime's word on an error; UNKNOWN where finding it fails, so that no error is lost."""
    try:
        kind = runtime.classify_error(error)
    except Exception:
        return ErrorKind.UNKNOWN
    return kind if isinstance(kind, ErrorKind) else ErrorKind.UNKNOWN


def typed_error(
    kind: ErrorKind, cause: BaseException, *, backend: str, device: str, operation: str
) -> AccelhalError | None:
    """The accelhal error for a cause of the given kind; None where the kind is UNKNOWN."""
    if kind is ErrorKind.OUT_OF_MEMORY:
        error_class: type[AccelhalError] = _out_of_memory_class()
    elif kind in _ERROR_CLASS:
        error_class = _ERROR_CLASS[kind]
    else:
        return None
    return error_class(
        f"{device}: {operation} failed: {message_of(cause)}",
        backend=backend,
        device=device,
        operation=operation,
        hint=_HINT.get(kind),
    )


@cache
def _out_of_memory_class() -> type[DeviceOutOfMemoryError]:
    """The out-of-memory error that `except torch.OutOfMemoryError` catches too.

    torch's class is a base of it, so it can exist only once torch is imported.
    """
    import torch

    class OutOfMemoryError(DeviceOutOfMemoryError, torch.OutOfMemoryError):
        """Out of memory on a device."""

        def __reduce__(self) -> tuple[object, ...]:
            return (_rebuild_out_of_memory, (self.message,), self.__dict__.copy())

    return OutOfMemoryError


def _rebuild_out_of_memory(message: str) -> DeviceOutOfMemoryError:
    return _out_of_memory_class()(message)
