"""BoardProfile: the facts of a board that the simulation runs on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from accelhal.host.pcie_rate import pcie_rate


@dataclass(frozen=True, kw_only=True)
class Thermals:
    """Temperatures in degrees Celsius, and how fast they follow the load.

    Attributes:
        idle: without load.
        full_load: under full load, after a long time.
        slowdown: where the board throttles itself.
        time_constant: seconds in which 63 % of the way to a new temperature is gone.
    """

    idle: float
    full_load: float
    slowdown: float
    time_constant: float


@dataclass(frozen=True, kw_only=True)
class Pcie:
    """The host connection."""

    generation: int
    lanes: int

    def bandwidth(self, lanes: int | None = None) -> float:
        """Bytes a second in one direction, over `lanes` lanes (all when None)."""
        width = self.lanes if lanes is None else min(lanes, self.lanes)
        return pcie_rate(self.generation, width)


@dataclass(frozen=True, kw_only=True)
class ChipLink:
    """The links between boards of one host; every board reaches every other.

    Attributes:
        kind: the vendor's name ("NVLink").
        bandwidth: bytes a second in one direction, all links of a board together.
    """

    kind: str
    bandwidth: float


@dataclass(frozen=True, kw_only=True)
class Slice:
    """A part that the board can be cut into.

    Attributes:
        name: the vendor's profile name ("3g.40gb").
        memory: bytes.
        compute_share: fraction of the board's compute.
    """

    name: str
    memory: int
    compute_share: float


@dataclass(frozen=True, kw_only=True)
class BoardProfile:
    """A board model.

    Attributes:
        name: the profile's name ("a100-80g").
        vendor: who makes the board ("NVIDIA").
        product: the name that its driver prints.
        memory: bytes.
        bandwidth: bytes a second of its memory.
        peak_rates: operations a second by element type ("float32"; "tfloat32" for float32 products
            in reduced precision), dense, a multiply-add counted as two.
        unsupported: element types it has no units for.
        launch_cost: seconds that each launch takes beside its work.
        power_idle: watts without load.
        power_limit: watts under full load.
        thermals: temperatures.
        core_clock: MHz under load.
        memory_clock: MHz.
        pcie: the host connection.
        link: the links between boards, or None.
        numa_nodes: NUMA nodes over which the boards of a host are spread evenly, in order.
        compute_units: multiprocessors or cores, or None.
        arch: architecture name ("sm_80", "Ascend910B3"), or None.
        slices: what it can be cut into.
        assumed: attributes whose value is a neutral default, as no figure is published.
        unverified: attributes whose figure is general knowledge, not read in a source.
        sources: where the figures were read.
    """

    name: str
    vendor: str
    product: str
    memory: int
    bandwidth: float
    peak_rates: Mapping[str, float]
    unsupported: frozenset[str] = frozenset()
    launch_cost: float
    power_idle: float
    power_limit: float
    thermals: Thermals
    core_clock: float
    memory_clock: float
    pcie: Pcie
    link: ChipLink | None = None
    numa_nodes: int
    compute_units: int | None = None
    arch: str | None = None
    slices: tuple[Slice, ...] = ()
    assumed: frozenset[str] = field(default=frozenset())
    unverified: frozenset[str] = field(default=frozenset())
    sources: tuple[str, ...] = ()

    def rate(self, dtype: str) -> float:
        """Operations a second in an element type.

        A type without a figure runs at the rate of the slowest that has one: units for other types
        do not speed it up.
        """
        found = self.peak_rates.get(dtype)
        return min(self.peak_rates.values()) if found is None else found
