"""From a vendor's exception to the typed error that the facade raises."""

from __future__ import annotations

from functools import cache

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
)

_ERROR_CLASS: dict[ErrorKind, type[AccelhalError]] = {
    ErrorKind.DEVICE_LOST: DeviceLostError,
    ErrorKind.DRIVER_SHUTDOWN: DeviceLostError,
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
    ErrorKind.MEMORY_FAULT: "drain the device and reset it; `accelhal doctor` shows its counters",
    ErrorKind.BAD_FORK: "start worker processes with the 'spawn' method",
    ErrorKind.OUT_OF_MEMORY: "free tensors, use a smaller batch, or call empty_cache()",
}


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
        f"{device}: {operation} failed: {cause}",
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
