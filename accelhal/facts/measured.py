"""What a board was measured to do: products, copies within it, and copies in and out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from accelhal.facts.boards import BoardKey
from accelhal.facts.links import PcieLink
from accelhal.facts.sensors import Telemetry


@dataclass(frozen=True, kw_only=True)
class BoardFigures:
    """One board's figures. What could not be measured is left out; `reasons` says why.

    Attributes:
        products: element type -> operations a second of a matrix product, a multiply-add counted
            as two.
        memory: bytes a second that a copy within the board reads and writes, both counted.
        to_board: kind of host memory ("pinned", "pageable") -> bytes a second from it.
        from_board: the same to it.
        peers: another board -> bytes a second to it.
        telemetry: sensors while it multiplied.
        pcie: its link while it copied.
        clock: what timed it: "device_events" or "host".
        short: element types, or "memory", whose steps were so short that launches count: fit to be
            compared with another board alone.
        reasons: what is left out -> why.
    """

    products: Mapping[str, float] = field(default_factory=dict)
    memory: float | None = None
    to_board: Mapping[str, float] = field(default_factory=dict)
    from_board: Mapping[str, float] = field(default_factory=dict)
    peers: Mapping[BoardKey, float] = field(default_factory=dict)
    telemetry: Telemetry | None = None
    pcie: PcieLink | None = None
    clock: str = ""
    short: tuple[str, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)
