"""What to type to make a slice or to take one away: the vendor's own commands, never run here."""

from __future__ import annotations

from accelhal.errors import UnsupportedError, UsageError
from accelhal.facts import BoardInfo, Partition, VendorCommands
from accelhal.partitions.planes import ask


def creation(board: BoardInfo, profile: str) -> VendorCommands:
    """What makes a slice of the vendor's profile on a board; nothing is run, nothing is changed.

    Whether the profile exists and still fits is for the vendor's tool to say.

    Raises:
        UsageError: the board is a slice, or the profile is empty.
        UnsupportedError: no driver lists the board.
        AccelhalError: its driver does not open, or fails.
    """
    key = board.key
    if board.parent is not None:
        raise UsageError(
            f"{board.name} is a slice already",
            operation="partitions create",
            hint="name the board that it is cut from",
        )
    if not profile.strip():
        raise UsageError("the profile is empty", operation="partitions create")
    if key is None or board.source == "pci":
        raise UnsupportedError(
            f"{board.name}: only the PCI bus shows it, no driver",
            operation="partitions create",
            hint="`accelhal doctor` says why",
        )
    return ask(key, lambda plane: plane.partition_commands(key, profile))


def removal(part: Partition) -> VendorCommands:
    """What takes a slice away; nothing is run, nothing is changed.

    Raises:
        AccelhalError: its driver does not open, or does not know it.
    """
    return ask(part.key, lambda plane: plane.removal_commands(part.key))
