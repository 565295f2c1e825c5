"""How fast a device is beside the others, before any of it was observed."""

from __future__ import annotations

from typing import Any

from accelhal.facade import Device
from accelhal.facts import Partition
from accelhal.partitions import list_partitions


def relative_speed(device: Any) -> float:
    """A whole board counts as 1, a slice of one as its share of the board's compute.

    Args:
        device: a Device, a Partition, or anything else (a rank, a name), which counts as 1.
    """
    if isinstance(device, Partition):
        return device.compute_share or 1.0
    if not isinstance(device, Device):
        return 1.0
    board = device.board
    if board is None or board.parent is None:
        return 1.0
    shares = (one.compute_share for one in list_partitions() if one.key == board.key)
    return next(shares, None) or 1.0
