"""accelhal's facts of a simulated board, for the runtimes and for management."""

from __future__ import annotations

from accelhal.facts import BoardInfo, BoardKey, DeviceProperties, MemoryStats
from accelhal_mock.simulation import Board


def key(board: Board) -> BoardKey:
    """The board's stable name."""
    return BoardKey(board.machine.name, "uuid", board.uuid)


def properties(board: Board) -> DeviceProperties:
    """What the board is, as torch would say."""
    profile = board.profile
    return DeviceProperties(
        name=profile.product,
        vendor=profile.vendor,
        total_memory=board.memory.capacity,
        arch=profile.arch,
        compute_units=profile.compute_units,
        uuid=board.uuid,
        pci=board.pci,
        integrated=False,
        simulated=True,
    )


def info(board: Board) -> BoardInfo:
    """What the board is, as its driver would say."""
    profile = board.profile
    return BoardInfo(
        key=key(board),
        vendor=profile.vendor,
        name=profile.product,
        backend=board.machine.name,
        source="simulation",
        index=board.index,
        uuid=board.uuid,
        serial=board.serial,
        pci=board.pci,
        total_memory=board.memory.capacity,
        numa_node=board.numa_node,
        driver="simulated",
        simulated=True,
    )


def memory_stats(board: Board) -> MemoryStats:
    """This process's memory on the board."""
    found = board.memory.statistics()
    return MemoryStats(
        allocated=found["allocated_bytes.all.current"],
        peak_allocated=found["allocated_bytes.all.peak"],
        reserved=found["reserved_bytes.all.current"],
        peak_reserved=found["reserved_bytes.all.peak"],
        inactive_split=found["inactive_split_bytes.all.current"],
        allocations=found["allocation.all.current"],
        alloc_retries=found["num_alloc_retries"],
        ooms=found["num_ooms"],
    )
