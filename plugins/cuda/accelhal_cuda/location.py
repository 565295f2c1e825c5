"""Which board is under a device of torch.cuda, by the best name there is, or why none is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from accelhal.facts import BoardInfo, BoardKey, DeviceProperties, Location
from accelhal.host import Host, pci
from accelhal.host.visible_devices import Mask, active_mask, explain, matched
from accelhal_cuda.probe import PCI_VENDOR_ID, VISIBLE_DEVICES

_ORDER_VARIABLE = "CUDA_DEVICE_ORDER"
_BUS_ORDER = "PCI_BUS_ID"
_DEFAULT_ORDER = "FASTEST_FIRST"
"""CUDA C++ Programming Guide, "CUDA Environment Variables"."""

_UUID = r"(GPU|MIG)-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
WHOLE_UUID = re.compile(rf"{_UUID}|MIG-{_UUID}/\d+/\d+", re.ASCII | re.IGNORECASE)
"""A board or a slice; drivers before release 470 name a slice by its board and its instances."""

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
    named = entry if WHOLE_UUID.fullmatch(entry) else None
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
                f"torch reports neither UUID nor PCI address, and {_not_in_order(seen, order)}",
            )
    return Location(BoardKey("cuda", "visible-order", str(index) if entry is None else entry))


def locate_without_torch(index: int, host: Host, boards: Sequence[BoardInfo]) -> Location:
    """The board that device `index` of a new process would be on; None for a guess.

    Args:
        index: torch's number of the device.
        host: whose environment is read.
        boards: as NVML lists them, slices too.
    """
    mask = active_mask(VISIBLE_DEVICES, host.environ)
    whole = [board for board in boards if board.parent is None]
    if mask is None or all(entry.isdecimal() for entry in mask.entries):
        return _numbered(index, host, whole, boards)
    wanted = [board for board in boards if board.uuid is not None]
    known = matched(mask, [str(board.uuid) for board in wanted], abbreviated=True)
    if index >= len(known.entries):
        return _hidden(known, index)
    board = next(board for board in wanted if board.uuid == known.entries[index])
    if board.parent is not None and index > 0:
        return Location(None, f"{_ONE_SLICE}, and whether it is shown device {index} is not known")
    if _is_cut(board, boards):
        return Location(None, f"{board.uuid} is cut into slices: {_NAME_SLICE}")
    return Location(BoardKey("cuda", "uuid", known.entries[index]))


_ONE_SLICE = 'a process sees one MIG slice alone (NVIDIA MIG User Guide, "CUDA_VISIBLE_DEVICES")'
_NAME_SLICE = f"name the slice by its UUID in {VISIBLE_DEVICES[0].variable}"


def _numbered(
    index: int, host: Host, whole: Sequence[BoardInfo], boards: Sequence[BoardInfo]
) -> Location:
    """The board by the driver's number, where CUDA's order is NVML's."""
    mask = active_mask(VISIBLE_DEVICES, host.environ, len(whole))
    numbers = [int(entry) for entry in mask.entries] if mask else list(range(len(whole)))
    if index >= len(numbers):
        there = Location(None, f"there is no device {index}: the driver lists {len(whole)} boards")
        return there if mask is None else _hidden(mask, index)
    if any(_is_cut(board, boards) for board in whole):
        return Location(None, f"a board is cut into slices, which have no number: {_NAME_SLICE}")
    if any(board.uuid is None for board in whole):
        return Location(None, "a board does not answer, and whether CUDA counts it is not known")
    order = host.environ.get(_ORDER_VARIABLE, _DEFAULT_ORDER)
    products = {(board.name, board.total_memory) for board in whole}
    if order != _BUS_ORDER and len(products) > 1:
        return Location(None, f"{_not_in_order('boards of several products', order)}")
    found = next((board for board in whole if board.index == numbers[index]), None)
    if found is None:
        return Location(None, f"the driver lists no board {numbers[index]}")
    return Location(found.key)


def _is_cut(board: BoardInfo, boards: Sequence[BoardInfo]) -> bool:
    return any(other.parent is not None and other.parent == board.key for other in boards)


def _hidden(mask: Mask, index: int) -> Location:
    return Location(None, f"{explain(mask)}; it shows no device {index}")


def _not_in_order(seen: str, order: str) -> str:
    return (
        f"with {seen} CUDA's order ({_ORDER_VARIABLE}={order}) is not the driver's; "
        f"{_BUS_ORDER} makes it so"
    )


def _entry(index: int, host: Host) -> str | None:
    """The device's entry in the visible-devices variable; None where it is not set."""
    mask = active_mask(VISIBLE_DEVICES, host.environ)
    return mask.entries[index] if mask is not None and index < len(mask.entries) else None
