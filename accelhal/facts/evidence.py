"""What a look at a host's boards showed: live, in a snapshot, or in a tool's captured output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from accelhal.facts.boards import BoardDetails, BoardInfo, KeySource, Partition
from accelhal.facts.links import Link, PcieLink, Relation
from accelhal.facts.sensors import HealthReport, MemoryErrors, ProcessMemory, Telemetry


@dataclass(frozen=True)
class BoardReading:
    """All that was seen of one board; None where nobody looked.

    Attributes:
        board: the board. Its name is empty where the source does not say it.
    """

    board: BoardInfo
    details: BoardDetails | None = None
    telemetry: Telemetry | None = None
    health: HealthReport | None = None
    memory_errors: MemoryErrors | None = None
    pcie: PcieLink | None = None
    links: tuple[Link, ...] | None = None
    processes: tuple[ProcessMemory, ...] | None = None
    partitions: tuple[Partition, ...] | None = None


@dataclass(frozen=True)
class BoardRelation:
    """How near two boards are, by their positions in `Evidence.boards`; one < other."""

    one: int
    other: int
    relation: Relation


@dataclass(frozen=True)
class Evidence:
    """What one source showed of one backend's boards.

    Attributes:
        backend: the backend whose boards they are ("npu").
        source: the tool and its page ("nvidia-smi topo -m"), or the driver library.
        boards: the boards, in the source's order.
        relations: pairs of boards that the source tells of.
        versions: "driver", "firmware", "library", "toolkit", "tool" -> version.
        notes: what the source shows and is not read, one sentence each.
        keyed_by: what the backend makes its boards' keys of, best first; as in KeySource where
            it is empty.
    """

    backend: str
    source: str
    boards: tuple[BoardReading, ...] = ()
    relations: tuple[BoardRelation, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    keyed_by: tuple[KeySource, ...] = ()
