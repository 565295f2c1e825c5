"""What the failure of one device of several means for the others."""

from __future__ import annotations

from accelhal.errors import AccelhalError, DeviceTimeoutError, ErrorKind, ErrorScope, described
from accelhal.facade import Device
from accelhal.parallel.splitting.parts import Part
from accelhal.runtimes.translation import typed_error


def kind_of(error: BaseException, device: Device) -> ErrorKind:
    """The device's word on an error."""
    if isinstance(error, DeviceTimeoutError):
        return ErrorKind.TIMEOUT
    return device.classify_error(error)


def is_loss(kind: ErrorKind) -> bool:
    """Whether the device is spoilt, and nothing but the device."""
    return kind.scope is ErrorScope.DEVICE


def named(error: Exception, device: Device, part: Part) -> AccelhalError:
    """The error to raise for one of a device's: it names the device and the rows."""
    rows = f"rows {part.start} to {part.stop}"
    if isinstance(error, AccelhalError):
        error.device = error.device or str(device)
        return error
    typed = typed_error(
        kind_of(error, device),
        error,
        backend=device.backend,
        device=str(device),
        operation=rows,
    )
    return typed or AccelhalError(
        f"{device}: {rows} failed: {described(error)}",
        backend=device.backend,
        device=str(device),
        operation="LocalDataParallel",
        hint="the cause is the model's own: run these rows on one device to see it alone",
    )
