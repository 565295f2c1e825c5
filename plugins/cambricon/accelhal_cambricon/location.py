"""Which board is under a device, told from the visible-devices variable: torch_mlu does not say."""

from __future__ import annotations

from accelhal.facts import BoardKey, Location
from accelhal.host.visible_devices import Mask, explain

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
