"""From a name to a Device: `accelhal.device()` and `accelhal.devices()`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accelhal.device_name import DeviceName, parse_device_name
from accelhal.errors import UsageError
from accelhal.facade.device_object import Device
from accelhal.registry import choose, open_backend

if TYPE_CHECKING:
    import torch


def device(name: str | torch.device | Device | None = None) -> Device:
    """The device of that name, or the best one of this host.

    Args:
        name: "npu", "npu:0", "npu@distribution:0", a torch.device, a Device, or None for what
            ACCELHAL_DEVICE says, else the first device of the most preferred backend that opens.
            Without an index it is the backend's current device.

    Raises:
        UsageError: not a device name.
        BackendError: no such backend, or it cannot be used; the message says why.
        DeviceNotFoundError: the backend has no such index.
    """
    if isinstance(name, Device):
        return name
    if name is None:
        backend, index = choose()
    else:
        parsed = _parse(name)
        backend, index = open_backend(parsed), parsed.index
    return Device(backend, backend.ask("current_device") if index is None else index)


def devices(backend: str | None = None) -> list[Device]:
    """All devices of a backend; of the one that `device()` would choose when None.

    Raises:
        UsageError: not a backend's name.
        BackendError: no such backend, or it cannot be used; the message says why.
    """
    if backend is None:
        opened = choose()[0]
    else:
        name = _parse(backend)
        if name.index is not None:
            raise UsageError(
                f"{backend!r} names one device, not a backend",
                operation="devices",
                hint=f"accelhal.devices({name.backend!r}), or accelhal.device({str(backend)!r})",
            )
        opened = open_backend(name)
    return [Device(opened, index) for index in range(opened.ask("device_count"))]


def _parse(name: object) -> DeviceName:
    if isinstance(name, str):
        return parse_device_name(name)
    kind, index = getattr(name, "type", None), getattr(name, "index", None)
    if isinstance(kind, str) and (index is None or type(index) is int):  # a torch.device
        return DeviceName(kind, None, index)
    raise UsageError(
        f"{name!r} is not a device name",
        operation="device",
        hint='write the backend too: "cuda:0", not 0',
    )
