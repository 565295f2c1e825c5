"""What of a host's software and settings was seen: the ground on which its boards are judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class BusPort:
    """A function on the PCI bus as its registers show it. None: not seen.

    Attributes:
        address: domain:bus:device.function.
        is_bridge: whether other functions lie behind it.
        behind: bus numbers behind a bridge, first and last.
        speed: transfers per second now, in 10^9 ("LnkSta").
        max_speed: what the port itself can do ("LnkCap").
        lanes: width now.
        max_lanes: what the port itself can do.
        redirects: the access controls that are on and send traffic between boards up to the root
            ("ReqRedir", "CmpltRedir", "UpstreamFwd"); empty where none is.
    """

    address: str
    is_bridge: bool = False
    behind: tuple[int, int] | None = None
    speed: float | None = None
    max_speed: float | None = None
    lanes: int | None = None
    max_lanes: int | None = None
    redirects: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class AirReading:
    """Temperatures of the air through the machine, from its board management; degrees Celsius."""

    inlet: float | None = None
    outlet: float | None = None


@dataclass(frozen=True, kw_only=True)
class NumaNode:
    """A NUMA node of the host, and its CPUs."""

    number: int
    cpus: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class ProcessPlacement:
    """Where a process that holds a board may run, and where its memory lies.

    Attributes:
        pid: its number.
        cpus: the CPUs it may run on.
        pages: of its memory on the nodes 0, 1, ...; empty where that may not be read.
    """

    pid: int
    cpus: tuple[int, ...]
    pages: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class HostRecord:
    """A host, its boards apart. None where nobody looked or may look; `reasons` says why.

    Attributes:
        kernel: release of the running kernel.
        command_line: what the kernel was started with.
        modules: loaded kernel module -> its version, empty where it has none.
        built_modules: module that plugins ask for -> whether a file for the running kernel has it.
        variables: the environment of the process that looked.
        nodes: path under /dev -> whether that process may open it to read and write.
        refused_nodes: those of them whose mode lets the process in, and the kernel does not: the
            device rules of its control group.
        shared_memory: bytes of /dev/shm.
        files: path -> text, of the files that plugins ask for.
        libraries: soname that plugins ask for -> the file that the loader takes, with the name that
            links lead to ("/usr/lib/libtoy.so.2.1"); empty: none.
        unlisted_libraries: of those that the loader does not find, where the installers put them.
        services: unit that plugins ask for -> "active", "inactive" or "absent".
        packages: Python distribution that plugins ask for, and torch -> version, if installed.
        torch_builds: toolkit that the installed torch was built with ("hip") -> its version; empty
            where it was built for CPUs alone.
        ports: functions of the PCI bus that are boards, or lie above one.
        iommu: PCI address -> kind of its IOMMU domain ("DMA", "identity"), empty where only its
            group is known; an empty table without an IOMMU.
        numa_nodes: its NUMA nodes, by number.
        cpus: the CPUs that the process that looked may run on.
        placements: of the processes that hold boards.
        worker_variables: daemon that starts the workers of jobs ("raylet 1234") -> the variables
            of `variables`' kind that they inherit from it.
        rdma: RDMA devices ("mlx5_0").
        kernel_log: lines, oldest first.
        kernel_lines_left_out: how many more the log had, which say nothing of boards.
        messages: lines of programs, loaders and tools that say what failed.
        air: what the machine's board management reads; empty where it reads no air.
        reasons: attribute -> why it is None.
    """

    kernel: str | None = None
    command_line: str | None = None
    modules: Mapping[str, str] | None = None
    built_modules: Mapping[str, bool] | None = None
    variables: Mapping[str, str] | None = None
    nodes: Mapping[str, bool] | None = None
    refused_nodes: tuple[str, ...] | None = None
    shared_memory: int | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    libraries: Mapping[str, str] | None = None
    unlisted_libraries: Mapping[str, str] = field(default_factory=dict)
    services: Mapping[str, str] | None = None
    packages: Mapping[str, str] | None = None
    torch_builds: Mapping[str, str] | None = None
    ports: tuple[BusPort, ...] | None = None
    iommu: Mapping[str, str] | None = None
    numa_nodes: tuple[NumaNode, ...] | None = None
    cpus: tuple[int, ...] | None = None
    placements: tuple[ProcessPlacement, ...] | None = None
    worker_variables: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    rdma: tuple[str, ...] | None = None
    kernel_log: tuple[str, ...] | None = None
    kernel_lines_left_out: int | None = None
    messages: tuple[str, ...] = ()
    air: tuple[AirReading, ...] | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)
