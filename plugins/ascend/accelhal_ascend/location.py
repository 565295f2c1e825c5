"""Which board is under a device: by the driver's number, which DCMI and the variable share.

DCMI, which lists the boards, does not know torch_npu's UUID.
"""

from __future__ import annotations

from collections.abc import Sequence

from accelhal.facts import BoardInfo, BoardKey, Location
from accelhal.host import Host
from accelhal.host.visible_devices import Mask, active_mask, explain
from accelhal_ascend.probe import VISIBLE_DEVICES


def locate(index: int, mask: Mask | None) -> Location:
    """The board under device `index`, where `mask` was in force when the runtime was loaded."""
    if mask is None:
        return Location(BoardKey("npu", "logic-id", str(index)))
    if index < len(mask.entries):
        return Location(BoardKey("npu", "logic-id", mask.entries[index]))
    return Location(None, f"{explain(mask)}; it shows no device {index}")


def locate_without_torch(index: int, host: Host, boards: Sequence[BoardInfo]) -> Location:
    """The board that device `index` of a new process would be on; None where there is none.

    Args:
        index: torch's number of the device.
        host: whose environment is read.
        boards: as DCMI lists them; in a container its own, numbered anew.
    """
    count = sum(board.parent is None for board in boards)
    if index >= count:
        return Location(None, f"there is no device {index}: the driver lists {count} boards")
    return locate(index, active_mask(VISIBLE_DEVICES, host.environ, count))
