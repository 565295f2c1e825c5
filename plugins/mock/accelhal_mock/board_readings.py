"""What a driver would read of a simulated board beside its sensors: profile, faults, place."""

from __future__ import annotations

from accelhal.facts import BoardDetails, MemoryErrors, PcieLink, Relation
from accelhal_mock.simulation import Board, FaultKind

NOT_SIMULATED = "not simulated"


def details(board: Board) -> BoardDetails:
    """What of the board changes seldom or never."""
    profile = board.profile
    return BoardDetails(
        slowdown_temperature=profile.thermals.slowdown,
        default_power_limit=profile.power_limit,
        max_core_clock=profile.core_clock,
        max_memory_clock=profile.memory_clock,
        ecc=True,
        partitioned=bool(board.slices),
        reasons={
            "node": "a simulated board has no file under /dev",
            "cpu_affinity": "a simulated board is near no CPU of this host",
            **dict.fromkeys(
                (
                    *("part_number", "firmware", "shutdown_temperature"),
                    *("persistence", "compute_mode", "fabric"),
                ),
                NOT_SIMULATED,
            ),
        },
    )


def memory_errors(board: Board) -> MemoryErrors:
    """What the memory faults that struck have left."""
    faults = board.faults
    return MemoryErrors(
        corrected=faults.corrected,
        uncorrected=int(faults.standing(FaultKind.ECC_UNCORRECTED) is not None),
        repair_pending=faults.standing(FaultKind.ROW_REMAP_PENDING) is not None,
        reasons=dict.fromkeys(
            ("corrected_total", "uncorrected_total", "repaired", "repair_failed"), NOT_SIMULATED
        ),
    )


def pcie(board: Board) -> PcieLink:
    """The link to the host, as narrow as a fault makes it."""
    whole, moved = board.profile.pcie, moved_by(board)
    return PcieLink(
        generation=whole.generation,
        max_generation=whole.generation,
        lanes=board.pcie_lanes or whole.lanes,
        max_lanes=whole.lanes,
        received=moved,
        sent=moved,
        reasons=not_simulated("replays", *(() if board.hung else ("received", "sent"))),
    )


def moved_by(board: Board) -> float | None:
    """What the board moves over PCIe and in its memory: nothing while work hangs, else not told."""
    return 0.0 if board.hung else None


def not_simulated(*fields: str) -> dict[str, str]:
    """Their reason."""
    return dict.fromkeys(fields, NOT_SIMULATED)


def relation(board: Board, other: Board) -> Relation:
    """Over their link where it is up, else by NUMA node: profiles know no PCIe switches."""
    if board is other:
        return Relation.BOARD
    mine, theirs = board.profile.link, other.profile.link
    linked = mine is not None and theirs is not None and mine.kind == theirs.kind
    if linked and board.machine.link_up(board.index, other.index):
        return Relation.LINK
    return Relation.NODE if board.numa_node == other.numa_node else Relation.SYS
