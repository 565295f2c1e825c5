"""The slices that the drivers list, each with its share of its board."""

from __future__ import annotations

from dataclasses import replace

from accelhal.errors import AccelhalError
from accelhal.facts import BoardInfo, Partition
from accelhal.management.boards import boards as all_boards
from accelhal.partitions.planes import ask


def list_partitions(board: BoardInfo | None = None) -> list[Partition]:
    """The slices of a board, or of every board of this host.

    Args:
        board: one board, as `accelhal.boards()` lists it; all when None. Those whose driver fails
            are then passed over.

    Raises:
        AccelhalError: the driver of the one board that was asked for fails.
    """
    if board is not None:
        return _of(board)
    found = []
    for each in all_boards():
        try:
            found += _of(each)
        except AccelhalError:
            continue  # what the driver fails at is the doctor's to say
    return found


def _of(board: BoardInfo) -> list[Partition]:
    key = board.key
    # A slice is not cut again, and a board that only the PCI bus shows has no driver to ask.
    if key is None or board.parent is not None or board.source == "pci":
        return []
    found = ask(key, lambda plane: plane.partitions(key))
    return [replace(one, memory_share=_memory_share(one, board)) for one in found]


def _memory_share(one: Partition, board: BoardInfo) -> float | None:
    """The plugin's figure, else the slice's bytes over the board's; None where that is no share."""
    own, whole = one.total_memory, board.total_memory
    if one.memory_share is not None or own is None or not whole or not 0 < own <= whole:
        return one.memory_share
    return own / whole
