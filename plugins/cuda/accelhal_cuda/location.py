"""Which board is under a device of torch.cuda, by the best name there is, or why none is."""

from __future__ import annotations

import re

from accelhal.facts import BoardKey, DeviceProperties, Location
from accelhal.host import Host, pci
from accelhal.host.visible_devices import active_mask, explain
from accelhal_cuda.probe import PCI_VENDOR_ID, VISIBLE_DEVICES

_ORDER_VARIABLE = "CUDA_DEVICE_ORDER"
_BUS_ORDER = "PCI_BUS_ID"
_DEFAULT_ORDER = "FASTEST_FIRST"
"""CUDA C++ Programming Guide, "CUDA Environment Variables"."""

_WHOLE_UUID = re.compile(r"(GPU|MIG)-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_SLICE_NAME = re.compile(r" MIG \d+g\.")


def is_slice(name: str) -> bool:
    """Whether a device's name is that of a MIG instance ("NVIDIA A100-SXM4-40GB MIG 1g.5gb")."""
    return _SLICE_NAME.search(name) is not None


def driver_uuid(index: int, name: str, reported: str | None, host: Host) -> str | None:
    """The device's UUID as the driver writes it, or None.

    Args:
        index: torch's number of the device.
        name: its product name. What torch reports for a MIG instance may be its board's UUID, so
            that only the one in CUDA_VISIBLE_DEVICES is taken.
        reported: what torch reports, without the driver's prefix (torch >= 2.5).
        host: whose environment is read.
    """
    entry = _entry(index, host) or ""
    named = entry if _WHOLE_UUID.fullmatch(entry) else None
    if is_slice(name):
        return named if named is not None and named.startswith("MIG-") else None
    if reported is None:
        return named
    return reported if reported.startswith(("GPU-", "MIG-")) else f"GPU-{reported}"


def locate(index: int, properties: DeviceProperties, host: Host) -> Location:
    """The board by UUID, else by PCI address, else by the driver's order; None for a guess."""
    if properties.uuid is not None:
        return Location(BoardKey("cuda", "uuid", properties.uuid))
    if is_slice(properties.name):
        variable = VISIBLE_DEVICES[0].variable
        return Location(None, f"a slice of a board: {variable} does not give its whole MIG UUID")
    if properties.pci is not None:
        return Location(BoardKey("cuda", "pci", properties.pci))
    return _by_order(index, host)


def _by_order(index: int, host: Host) -> Location:
    """The driver's number of the board: its place in the variable, times the driver's order."""
    mask = active_mask(VISIBLE_DEVICES, host.environ)
    if mask is not None and index >= len(mask.entries):
        reason = f"{explain(mask)}; device {index} is none of them, so it was changed since"
        return Location(None, reason)
    entry = _entry(index, host)
    if entry is not None and not entry.isdecimal():
        return Location(None, f"torch reports neither UUID nor PCI address, and {entry} is cut off")
    order = host.environ.get(_ORDER_VARIABLE, _DEFAULT_ORDER)
    if order != _BUS_ORDER:
        products = {board.device for board in pci.accelerators(host, {PCI_VENDOR_ID})}
        if len(products) != 1:
            seen = "boards of several products" if products else "no board on the PCI bus"
            return Location(
                None,
                f"torch reports neither UUID nor PCI address, and with {seen} its order "
                f"({_ORDER_VARIABLE}={order}) is not the driver's; {_BUS_ORDER} makes it so",
            )
    return Location(BoardKey("cuda", "visible-order", str(index) if entry is None else entry))


def _entry(index: int, host: Host) -> str | None:
    """The device's entry in the visible-devices variable; None where it is not set."""
    mask = active_mask(VISIBLE_DEVICES, host.environ)
    return mask.entries[index] if mask is not None and index < len(mask.entries) else None
