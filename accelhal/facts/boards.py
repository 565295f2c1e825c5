"""Boards as the driver sees them: names, slices, and what of them does not change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

KeySource = Literal["uuid", "pci", "logic-id", "visible-order"]


@dataclass(frozen=True)
class BoardKey:
    """The name of a board that another process of this host can find again.

    Attributes:
        backend: backend name ("cuda").
        source: how the board was told apart, best first: "uuid", "pci"
            (domain:bus:device.function), "logic-id" (the driver's own number), "visible-order"
            (mask times driver order).
        value: the identifier itself.
    """

    backend: str
    source: KeySource
    value: str


@dataclass(frozen=True)
class Location:
    """Where a torch device stands among the boards: a key, or None and the reason."""

    key: BoardKey | None
    reason: str = ""


@dataclass(frozen=True)
class BoardInfo:
    """One board, or a partition of one, as the driver or the PCI bus shows it.

    Attributes:
        key: its stable name, or None for a board that only the PCI bus shows to us.
        vendor: the vendor's name ("NVIDIA").
        name: product name, or the PCI device id where nothing better is known.
        backend: the backend that drives it, or None where no installed plugin does.
        source: who reports it ("pci", or the driver library's name).
        index: the driver's own number of the board.
        uuid: in the driver's spelling.
        serial: the board's serial number.
        pci: address as domain:bus:device.function ("0000:3b:00.0").
        total_memory: bytes.
        numa_node: NUMA node, or None where the host does not say (the kernel's -1).
        driver: kernel driver bound to it, or None.
        parent: the board this one is a partition of.
        simulated: True for boards that exist in software alone.
        tool_id: what the vendor's tool calls it, where that is not `index` ("4.0": chip 0 of
            card 4).
    """

    key: BoardKey | None
    vendor: str
    name: str
    backend: str | None
    source: str
    index: int | None = None
    uuid: str | None = None
    serial: str | None = None
    pci: str | None = None
    total_memory: int | None = None
    numa_node: int | None = None
    driver: str | None = None
    parent: BoardKey | None = None
    simulated: bool = False
    tool_id: str | None = None


@dataclass(frozen=True)
class Partition:
    """A slice of a board: MIG instance, vNPU, MIM.

    Attributes:
        key: the slice's own name.
        parent: the board it is cut from.
        profile: the vendor's profile name.
        total_memory: bytes.
        compute_share: fraction of the parent's compute, 0 to 1.
        environment: the variables that select it.
        memory_share: fraction of the parent's memory, 0 to 1. Plugins need not set it:
            `accelhal.partitions` divides.
    """

    key: BoardKey
    parent: BoardKey
    profile: str
    total_memory: int | None = None
    compute_share: float | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    memory_share: float | None = None


@dataclass(frozen=True)
class VendorCommands:
    """What to type into the vendor's own tools. accelhal prints it and runs none of it.

    Attributes:
        lines: shell commands, in their order; empty where they are not known.
        notes: who may run them, whom they disturb, and where to look up what is not known.
    """

    lines: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class BoardDetails:
    """What of a board changes seldom or never. None means "not reported"; `reasons` says why.

    Units: degrees Celsius, watts, MHz.

    Attributes:
        part_number: the maker's number of the board's model.
        firmware: version of the board's firmware (VBIOS, MCU).
        node: number of its file under /dev.
        slowdown_temperature: the driver lowers the clocks above it.
        shutdown_temperature: the board turns itself off above it.
        default_power_limit: the limit the board is delivered with.
        max_core_clock: highest clock of the compute units.
        max_memory_clock: highest clock of the memory.
        cpu_affinity: CPUs of the host that are near the board, ascending.
        ecc: whether error correction of its memory is on.
        persistence: whether the driver stays loaded while nobody uses the board.
        compute_mode: who may use it at once, in the driver's word.
        partitioned: whether it is set up to be cut into slices.
        fabric: state of the switched fabric between boards, in the driver's word.
        reasons: field -> why it is None; "*" for all.
    """

    part_number: str | None = None
    firmware: str | None = None
    node: int | None = None
    slowdown_temperature: float | None = None
    shutdown_temperature: float | None = None
    default_power_limit: float | None = None
    max_core_clock: float | None = None
    max_memory_clock: float | None = None
    cpu_affinity: tuple[int, ...] | None = None
    ecc: bool | None = None
    persistence: bool | None = None
    compute_mode: str | None = None
    partitioned: bool | None = None
    fabric: str | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)
