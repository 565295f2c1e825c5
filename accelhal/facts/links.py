"""Connections of a board: to other boards, and to the host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from accelhal.facts.boards import BoardKey


@dataclass(frozen=True)
class Link:
    """A connection between two boards, or a board and the host.

    Attributes:
        kind: the vendor's name for the link ("NVLink", "HCCS", "MLU-Link", "PCIe").
        peer: the board at the other end, or None where the driver does not name it.
        up: True when active, None when the driver does not say.
        lanes: link width in lanes, or number of bonded links.
        number: the driver's number of the link on its board.
        version: generation of the link, in the driver's word.
        bandwidth: bytes per second one way.
        errors: counter -> count since the driver was loaded, in the driver's words.
    """

    kind: str
    peer: BoardKey | None
    up: bool | None = None
    lanes: int | None = None
    number: int | None = None
    version: str | None = None
    bandwidth: float | None = None
    errors: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class PcieLink:
    """A board's link to the host. None means "not reported"; `reasons` says why.

    Attributes:
        generation: PCIe generation now; boards at rest lower it.
        max_generation: the highest that board and slot share.
        lanes: width now.
        max_lanes: the width that board and slot share.
        replays: packets sent again, a counter.
        received: bytes per second from the host.
        sent: bytes per second to the host.
        reasons: field -> why it is None; "*" for all.
    """

    generation: int | None = None
    max_generation: int | None = None
    lanes: int | None = None
    max_lanes: int | None = None
    replays: int | None = None
    received: float | None = None
    sent: float | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)


class Relation(str, Enum):
    """How near two boards are, nearest first; the words are those of `topo -m`.

    BOARD: chips of one board. LINK: a chip-to-chip link. PIX: one PCIe switch. PXB: several
    switches under one root port. PHB: one host bridge. NODE: one NUMA node. SYS: the CPU
    interconnect lies between.
    """

    BOARD = "board"
    LINK = "link"
    PIX = "pix"
    PXB = "pxb"
    PHB = "phb"
    NODE = "node"
    SYS = "sys"
