"""Frozen facts that cross every boundary: plain data with units, no behaviour, no torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import torch

# ---------------------------------------------------------------- finding a backend


class ProbeStatus(str, Enum):
    """Whether a backend can be used here, and if not, in which of seven ways."""

    AVAILABLE = "available"
    NO_HARDWARE = "no_hardware"
    NO_DRIVER = "no_driver"
    NOT_INSTALLED = "not_installed"
    LIBRARY_BROKEN = "library_broken"
    INCOMPATIBLE = "incompatible"
    HIDDEN_BY_ENV = "hidden_by_env"
    DISABLED = "disabled"


DEFECTS = frozenset({ProbeStatus.LIBRARY_BROKEN, ProbeStatus.INCOMPATIBLE})
"""Wrong in themselves: a plain `import torch` may meet them, board or not. The other kinds of "no"
matter only where there is a board to use."""


@dataclass(frozen=True)
class Probe:
    """What a look at the host says of a backend, without importing its vendor package.

    Attributes:
        status: AVAILABLE, or the kind of "no".
        count: devices expected, or None where only opening can tell.
        reason: one sentence saying why.
        hint: the next step; empty when there is none to take.
        evidence: what was looked at, in reading order (path or variable -> what it said).
    """

    status: ProbeStatus
    count: int | None
    reason: str
    hint: str = ""
    evidence: Mapping[str, str] = field(default_factory=dict)


# ---------------------------------------------------------------- boards (the driver's view)

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


@dataclass(frozen=True)
class Telemetry:
    """One reading of a board's sensors. None means "not reported"; `reasons` says why.

    Units: degrees Celsius, watts, percent (0 to 100), MHz, bytes.
    """

    temperature: float | None = None
    memory_temperature: float | None = None
    power: float | None = None
    power_limit: float | None = None
    utilization: float | None = None
    memory_bandwidth_utilization: float | None = None
    core_clock: float | None = None
    memory_clock: float | None = None
    memory_used: int | None = None
    memory_total: int | None = None
    throttle_reasons: tuple[str, ...] | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)


class HealthStatus(str, Enum):
    """UNKNOWN is the answer wherever a state cannot be seen."""

    OK = "ok"
    DEGRADED = "degraded"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class HealthCheck:
    """One looked-at aspect of a board ("ecc", "link", "throttle")."""

    name: str
    status: HealthStatus
    value: str | None = None
    detail: str = ""


@dataclass(frozen=True)
class HealthReport:
    """A board's health: the worst of its checks, or UNKNOWN with the reason."""

    status: HealthStatus
    checks: tuple[HealthCheck, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Link:
    """A connection between two boards, or a board and the host.

    Attributes:
        kind: the vendor's name for the link ("NVLink", "HCCS", "MLU-Link", "PCIe").
        peer: the board at the other end, or None where the driver does not name it.
        up: True when active, None when the driver does not say.
        lanes: link width in lanes, or number of bonded links.
    """

    kind: str
    peer: BoardKey | None
    up: bool | None = None
    lanes: int | None = None


@dataclass(frozen=True)
class ProcessMemory:
    """Memory that one process of the host holds on a board, in bytes."""

    pid: int
    used: int | None


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
    """

    key: BoardKey
    parent: BoardKey
    profile: str
    total_memory: int | None = None
    compute_share: float | None = None
    environment: Mapping[str, str] = field(default_factory=dict)


# ---------------------------------------------------------------- devices (torch's view)


@dataclass(frozen=True)
class DeviceProperties:
    """What a device is. None means that torch does not report it.

    Attributes:
        name: product name.
        vendor: vendor name.
        total_memory: bytes.
        arch: the vendor's architecture name ("sm_90"), as its toolchain writes it.
        compute_units: multiprocessors, AI cores or CPU cores.
        uuid: board UUID in the driver's spelling.
        pci: domain:bus:device.function.
        integrated: True where the device shares the host's memory.
        simulated: True for devices that exist in software alone.
    """

    name: str
    vendor: str
    total_memory: int | None = None
    arch: str | None = None
    compute_units: int | None = None
    uuid: str | None = None
    pci: str | None = None
    integrated: bool | None = None
    simulated: bool = False


@dataclass(frozen=True)
class MemoryStats:
    """This process's memory on a device, in bytes and counts. None means "not reported", never 0.

    Attributes:
        allocated: bytes held by live tensors.
        peak_allocated: largest `allocated` since the last reset.
        reserved: bytes the caching allocator holds from the driver.
        peak_reserved: largest `reserved` since the last reset.
        inactive_split: bytes in free pieces of partly used blocks; they cannot be returned.
        allocations: live allocations.
        alloc_retries: times the allocator flushed its cache and tried again.
        ooms: out-of-memory errors raised.
    """

    allocated: int | None = None
    peak_allocated: int | None = None
    reserved: int | None = None
    peak_reserved: int | None = None
    inactive_split: int | None = None
    allocations: int | None = None
    alloc_retries: int | None = None
    ooms: int | None = None

    @property
    def fragmentation(self) -> float | None:
        """(reserved - allocated) / reserved: the share of the cache no tensor uses, 0 to 1."""
        if self.reserved is None or self.allocated is None:
            return None
        return (self.reserved - self.allocated) / self.reserved if self.reserved else 0.0


@dataclass(frozen=True)
class SupportedDtypes:
    """The element types a device takes: to hold, to multiply, and under autocast."""

    storage: frozenset[torch.dtype]
    compute: frozenset[torch.dtype]
    autocast: frozenset[torch.dtype]


# ---------------------------------------------------------------- the host


@dataclass(frozen=True)
class HostFacts:
    """The machine and interpreter that accelhal runs on. Memory in bytes.

    Attributes:
        container: the kind of container ("docker"), or None outside of one.
        kind: what this process runs on: a container, a virtual machine, or bare metal.
    """

    system: str
    kernel: str
    machine: str
    python: str
    cpu_model: str | None
    cpu_count: int
    memory_total: int | None
    container: str | None
    kind: Literal["container", "vm", "bare"]


# ---------------------------------------------------------------- findings


class FindingState(str, Enum):
    """The outcome of a check, mildest first."""

    OK = "ok"
    INFO = "info"
    SKIP = "skip"
    UNKNOWN = "unknown"
    WARN = "warn"
    FAIL = "fail"
    ERROR = "error"


@dataclass(frozen=True)
class Finding:
    """What a check found: a code with parameters; texts are made from them.

    Attributes:
        check: id of the check ("device.mask").
        code: key of the text that describes the finding.
        state: outcome.
        params: values for the text.
        device: board, device or backend concerned, or None for the host.
        evidence: what was read, where (path or variable -> value).
        commands: exact commands to type next.
        needs_root: True where a command needs administrator rights.
        disturbs: True where a command disturbs running jobs.
        confidence: "certain", "likely" or "possible".
        refs: sources of the rule.
    """

    check: str
    code: str
    state: FindingState
    params: Mapping[str, str | int | float] = field(default_factory=dict)
    device: str | None = None
    evidence: Mapping[str, str] = field(default_factory=dict)
    commands: tuple[str, ...] = ()
    needs_root: bool = False
    disturbs: bool = False
    confidence: Literal["certain", "likely", "possible"] = "certain"
    refs: tuple[str, ...] = ()
