"""Which board is under a device, told from the visible-devices variable: torch_mlu does not say."""

from __future__ import annotations

from collections.abc import Sequence

from accelhal.facts import BoardInfo, BoardKey, Location
from accelhal.host import Host
from accelhal.host.visible_devices import Mask, active_mask, explain, matched
from accelhal_cambricon.probe import VISIBLE_DEVICES

READ_BY_DRIVER = frozenset({"CN_VISIBLE_DEVICES", "MLU_VISIBLE_DEVICES"})
"""Cambricon's own variables. CUDA_VISIBLE_DEVICES is read by torch_mlu's Python, and of the driver
nothing is known: a board that it names may be another one."""

_UUID_LENGTH = 36


def locate(index: int, mask: Mask | None) -> Location:
    """The board under device `index`, where `mask` was in force when the driver was loaded.

    Position in the variable is torch's index, and an integer there the driver's number; without a
    variable torch's index is that number.
    """
    if mask is None:
        return Location(BoardKey("mlu", "visible-order", str(index)))
    if mask.variable not in READ_BY_DRIVER:
        reason = f"{mask.variable} is set, and whether Cambricon's driver follows it is not known"
        return Location(None, reason)
    if index >= len(mask.entries):
        reason = f"{explain(mask)}; device {index} is none of them, so it was changed since"
        return Location(None, reason)
    entry = mask.entries[index]
    if entry.isdecimal():
        return Location(BoardKey("mlu", "visible-order", entry))
    if len(entry) == _UUID_LENGTH:
        return Location(BoardKey("mlu", "uuid", entry))
    return Location(None, f"{mask.variable} holds {entry!r}, which is no whole UUID")


def locate_without_torch(index: int, host: Host, boards: Sequence[BoardInfo]) -> Location:
    """The board that device `index` of a new process would be on; None for a guess.

    Args:
        index: torch's number of the device.
        host: whose environment is read.
        boards: as CNDev lists them, slices too.
    """
    count = sum(board.parent is None for board in boards)
    mask = active_mask(VISIBLE_DEVICES, host.environ, count)
    if mask is None and index >= count:
        return Location(None, f"there is no device {index}: the driver lists {count} boards")
    if mask is not None and not all(entry.isdecimal() for entry in mask.entries):
        mask = matched(mask, [board.uuid for board in boards if board.uuid is not None])
    return locate(index, mask)
