"""The pictures of docs/doctor.md; `python tests/doctor_pictures.py` draws them anew.

The hosts are made up: eight boards as a driver would report them, and the same with five faults.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from accelhal.cli.doctor_view import show_report
from accelhal.doctor.catalogue import catalogue
from accelhal.doctor.engine import run_checks
from accelhal.doctor.facts import Facts
from accelhal.evidence.environment import BusBoard, Environment, ListedBackend
from accelhal.evidence.snapshot import Snapshot
from accelhal.facts import (
    BoardDetails,
    BoardInfo,
    BoardKey,
    BoardReading,
    BoardRelation,
    Evidence,
    HealthCheck,
    HealthReport,
    HealthStatus,
    HostFacts,
    Link,
    MemoryErrors,
    PcieLink,
    ProbeStatus,
    ProcessMemory,
    Relation,
    Telemetry,
)
from accelhal.facts.host_record import HostRecord, NumaNode

IMAGES = Path(__file__).parents[1] / "docs" / "images"
WIDTH = 116
COUNT = 8
GIB = 1 << 30

_HOST = HostFacts("Linux", "6.8.0", "x86_64", "3.11.9", "CPU", 128, 1024 * GIB, None, "bare")


def board(index: int) -> BoardReading:
    """A sound board at rest."""
    key = BoardKey("cuda", "pci", f"0000:{0x10 + index:02x}:00.0")
    peers = (n for n in range(COUNT) if n != index)
    return BoardReading(
        BoardInfo(
            key=key,
            vendor="NVIDIA",
            name="NVIDIA H100 80GB HBM3",
            backend="cuda",
            source="driver",
            index=index,
            pci=key.value,
            total_memory=80 * GIB,
            numa_node=index // 4,
        ),
        details=BoardDetails(
            slowdown_temperature=87.0,
            default_power_limit=700.0,
            max_core_clock=1980.0,
            max_memory_clock=2619.0,
            cpu_affinity=tuple(range(64 * (index // 4), 64 * (index // 4) + 64)),
            ecc=True,
            persistence=True,
            compute_mode="default",
            partitioned=False,
            fabric="completed",
        ),
        telemetry=Telemetry(
            temperature=31.0 + index % 3,
            memory_temperature=38.0,
            power=70.0,
            power_limit=700.0,
            utilization=0.0,
            memory_bandwidth_utilization=0.0,
            core_clock=345.0,
            memory_clock=2619.0,
            memory_used=0,
            memory_total=80 * GIB,
            throttle_reasons=("idle",),
        ),
        health=HealthReport.of([HealthCheck("bus", HealthStatus.OK, "present")]),
        memory_errors=MemoryErrors(0, 0, 0, 0, 0, False, False),
        pcie=PcieLink(1, 5, 16, 16, 0, 0.0, 0.0),
        links=tuple(
            Link("NVLink", BoardKey("cuda", "pci", f"0000:{0x10 + n:02x}:00.0"), True, number=n)
            for n in peers
        ),
        processes=(),
        partitions=(),
    )


def host(boards: Sequence[BoardReading], **record: object) -> Snapshot:
    """A host with these boards."""
    relations = [
        BoardRelation(one, other, Relation.LINK) for other in range(COUNT) for one in range(other)
    ]
    seen = HostRecord(
        kernel="6.8.0",
        command_line="root=/dev/sda2 iommu=pt",
        modules={"nvidia": "580.65.06", "nvidia_uvm": "580.65.06", "nvidia_peermem": "580.65.06"},
        variables={},
        nodes={
            **{f"/dev/nvidia{n}": True for n in range(COUNT)},
            **dict.fromkeys(("/dev/nvidiactl", "/dev/nvidia-uvm"), True),
        },
        shared_memory=512 * GIB,
        libraries={
            "libcuda.so.1": "/usr/lib/x86_64-linux-gnu/libcuda.so.580.65.06",
            "libnvidia-ml.so.1": "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.580.65.06",
        },
        services={
            "nvidia-persistenced.service": "active",
            "nvidia-fabricmanager.service": "active",
        },
        packages={"torch": "2.13.0+cu130"},
        torch_builds={"cuda": "13.0"},
        iommu={f"0000:{0x10 + n:02x}:00.0": "identity" for n in range(COUNT)},
        ports=(),
        numa_nodes=(
            NumaNode(number=0, cpus=tuple(range(64))),
            NumaNode(number=1, cpus=tuple(range(64, 128))),
        ),
        cpus=tuple(range(128)),
        placements=(),
        rdma=(),
        kernel_log=("[    0.000000] Linux version 6.8.0",),
    )
    on_bus = tuple(
        BusBoard(f"0000:{0x10 + n:02x}:00.0", "NVIDIA", "10de:2330", "nvidia", n // 4, "cuda")
        for n in range(COUNT)
    )
    listed = ListedBackend(
        "cuda", "accelhal-cuda", "0.1.0", "1.1", ProbeStatus.AVAILABLE, COUNT, "8 boards"
    )
    return Snapshot(
        host=_HOST,
        environment=Environment({"torch": "2.13.0+cu130"}, (listed,), on_bus),
        record=replace(seen, **record),  # type: ignore[arg-type]
        evidence=(
            Evidence("cuda", "driver", tuple(boards), tuple(relations), {"driver": "580.65.06"}),
        ),
    )


def healthy() -> Snapshot:
    """Eight sound boards."""
    return host([board(index) for index in range(COUNT)])


def sick() -> Snapshot:
    """A lost board, a hot one, one with memory errors; a broken mask, little shared memory."""
    boards = [board(index) for index in range(COUNT)]
    lost = HealthCheck("bus", HealthStatus.FAILED, "GPU is lost")
    boards[3] = BoardReading(boards[3].board, health=HealthReport.of([lost]))
    seen = boards[5].telemetry
    assert seen is not None, "every board here has sensors"
    boards[5] = replace(
        boards[5],
        telemetry=replace(
            seen,
            temperature=88.0,
            utilization=99.0,
            core_clock=1005.0,
            power=410.0,
            throttle_reasons=("hardware_thermal",),
        ),
        processes=(ProcessMemory(4121, 60 * GIB),),
        pcie=PcieLink(5, 5, 16, 16, 0, 0.0, 0.0),
    )
    boards[6] = replace(boards[6], memory_errors=MemoryErrors(9, 2, 40, 2, 1, True, False))
    return host(
        boards,
        variables={"CUDA_VISIBLE_DEVICES": "0,1,1"},
        shared_memory=64 << 20,
        kernel_log=(
            "[    0.000000] Linux version 6.8.0",
            "[ 8121.402211] NVRM: Xid (PCI:0000:13:00): 79, GPU has fallen off the bus.",
        ),
    )


def draw(name: str, shown: Snapshot) -> None:
    """Write the picture of a report."""
    facts = Facts(evidence=shown)
    known = catalogue(facts.specs)
    report = run_checks(known.select([]), facts, texts=known.texts)
    out = Console(
        record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, highlight=False
    )
    show_report(out, report, facts, verbose=False)
    IMAGES.mkdir(exist_ok=True)
    out.save_svg(
        str(IMAGES / f"doctor_{name}.svg"),
        title=f"accelhal doctor --from {name}.json",
        unique_id=f"doctor-{name}",
    )


if __name__ == "__main__":
    draw("healthy", healthy())
    draw("sick", sick())
