"""Slices of boards: what there is, its share of the board, how one is used, made and removed."""

from accelhal.facts import Partition, VendorCommands
from accelhal.partitions.commands import creation, removal
from accelhal.partitions.listing import list_partitions

__all__ = ["Partition", "VendorCommands", "creation", "list_partitions", "removal"]
