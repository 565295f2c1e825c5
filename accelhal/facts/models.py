"""Nominal figures of a board model, as published: what a board of that name should be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class BoardModel:
    """A model of board. None means that no figure is published; nothing here was measured.

    A figure is as good as `strength` says, unless `unverified` names it: no test or diagnosis may
    fail on one that it names.

    Attributes:
        id: name of this entry ("a100-sxm4-80gb").
        vendor: who makes it.
        aliases: short names that people use for it ("a100").
        names: whole names under which drivers and torch show it.
        chips: boards that the driver lists for one of it; the figures are of all together.
        memory: bytes.
        memory_reported: bytes that a driver was seen to report for one chip of it; firmware and
            error correction take some.
        bandwidth: bytes a second of its memory.
        peak_rates: operations a second by element type ("float32"; "tfloat32" for float32 products
            in reduced precision), dense, a multiply-add counted as two.
        peak_basis: the units that `peak_rates` counts, where boards have several kinds.
        unsupported: element types that it has no units for.
        power: watts.
        pcie_generation: of the board, not of the slot.
        pcie_lanes: of the board, not of the slot.
        link_kind: the vendor's name for its links to other boards ("NVLink"), None without any.
        link_generation: generation of those links.
        link_bandwidth: bytes a second one way, all links of it together.
        compute_units: multiprocessors or cores.
        arch: names of its architecture in the vendor's toolchain ("sm_80").
        slices: names of the slices it can be cut into.
        strength: how good the sources are: "vendor document", "public report", or "from general
            knowledge, unverified".
        unverified: attributes ("power", "peak_rates.int8") that are general knowledge or arithmetic
            whatever the strength.
        sources: where the figures were read.
    """

    id: str
    vendor: str
    aliases: tuple[str, ...] = ()
    names: tuple[str, ...]
    chips: int = 1
    memory: int | None = None
    memory_reported: int | None = None
    bandwidth: float | None = None
    peak_rates: Mapping[str, float] = field(default_factory=dict)
    peak_basis: str | None = None
    unsupported: tuple[str, ...] = ()
    power: float | None = None
    pcie_generation: int | None = None
    pcie_lanes: int | None = None
    link_kind: str | None = None
    link_generation: int | None = None
    link_bandwidth: float | None = None
    compute_units: int | None = None
    arch: tuple[str, ...] = ()
    slices: tuple[str, ...] = ()
    strength: str
    unverified: tuple[str, ...] = ()
    sources: tuple[str, ...]
