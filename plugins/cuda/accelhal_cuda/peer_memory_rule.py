"""The doctor's net.peermem: whether network cards may reach the boards' memory directly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from accelhal.facts import Finding, FindingState
from accelhal.spi.doctor import Check, DoctorFacts, NotShownError, Text
from accelhal.spi.versions import version_key

CLIENTS = "/sys/kernel/mm/memory_peers/*/version"
"""What the RDMA core shows for each peer-memory client that registered with it."""

_ID = "net.peermem"

_MODULES = ("nvidia_peermem", "nv_peer_mem")
"""The driver's own module, and the separate one that it replaced."""

_NEEDS_OLD_MODULE = "2.22.3"
"""The last NCCL reported not to find the driver's own module (NVIDIA/nccl#1676)."""

_OPEN_MODULES = "Open Kernel Module"
"""In /proc/driver/nvidia/version: these export memory as DMA-BUF, which needs no client."""

TEXTS: Mapping[str, Text] = {
    "peermem.no_network": Text("no RDMA network card"),
    "peermem.registered": Text("network cards reach the boards' memory by {module}"),
    "peermem.dma_buf": Text("the driver's open modules export the boards' memory as DMA-BUF"),
    "peermem.missing": Text(
        "RDMA cards {cards}, and no module that gives them the boards' memory",
        "GPUDirect RDMA is off: traffic between hosts goes through the host's memory, at a "
        "fraction of the bandwidth. All hosts of a job need the module.",
        "nvidia_peermem is loaded, on every host of the job",
    ),
    "peermem.unregistered": Text(
        "{module} is loaded, and no peer-memory client is registered",
        "The driver was built without the RDMA core of the network driver, so the module does "
        "nothing.",
        "a folder under /sys/kernel/mm/memory_peers",
    ),
    "peermem.old_nccl": Text(
        "{module} is loaded, and NCCL {nccl} looks for another module",
        "NCCL up to " + _NEEDS_OLD_MODULE + " was seen not to find the driver's own module; "
        "bandwidth between hosts fell from 180 to 10 GB/s.",
        "an NCCL newer than " + _NEEDS_OLD_MODULE,
    ),
}


def _peer_memory(facts: DoctorFacts) -> Iterator[Finding]:
    if not facts.readings("cuda"):
        return
    record = facts.record
    if record.rdma is None:
        raise NotShownError("RDMA network cards", commands=("ls /sys/class/infiniband",))
    if not record.rdma:
        yield Finding(_ID, "peermem.no_network", FindingState.OK)
        return
    if record.modules is None:
        raise NotShownError("the loaded kernel modules", commands=("lsmod",))
    loaded = next((module for module in _MODULES if module in record.modules), None)
    version = record.files.get("/proc/driver/nvidia/version", "")
    clients = [path for path in record.files if path.startswith("/sys/kernel/mm/memory_peers/")]
    nccl = _nccl(record.packages or {})
    if loaded is None and _OPEN_MODULES in version:
        yield Finding(_ID, "peermem.dma_buf", FindingState.OK)
    elif loaded is None:
        yield _fault(
            "peermem.missing",
            FindingState.WARN,
            {"cards": ", ".join(record.rdma)},
            ("sudo modprobe nvidia-peermem",),
        )
    elif loaded == _MODULES[0] and nccl and version_key(nccl) <= version_key(_NEEDS_OLD_MODULE):
        yield _fault(
            "peermem.old_nccl",
            FindingState.FAIL,
            {"module": loaded, "nccl": nccl},
            (f"pip install 'nvidia-nccl-cu12>{_NEEDS_OLD_MODULE}'  # as torch allows",),
        )
    elif not clients and _OPEN_MODULES not in version:
        yield _fault(
            "peermem.unregistered",
            FindingState.WARN,
            {"module": loaded},
            (
                "ls /sys/kernel/mm/memory_peers",
                "reinstall the NVIDIA driver after the network driver (DOCA/OFED)",
            ),
        )
    else:
        yield Finding(_ID, "peermem.registered", FindingState.OK, {"module": loaded})


def _nccl(packages: Mapping[str, str]) -> str | None:
    names: Iterable[str] = (name for name in packages if name.startswith("nvidia-nccl"))
    return next((packages[name] for name in names), None)


def _fault(
    code: str, state: FindingState, params: Mapping[str, str], commands: tuple[str, ...]
) -> Finding:
    return Finding(_ID, code, state, params, "cuda", commands=commands, needs_root=True)


PEER_MEMORY = Check(
    _ID,
    "Network",
    "whether network cards may reach the boards' memory directly",
    ("/sys/class/infiniband", "/proc/modules", CLIENTS),
    _peer_memory,
    explanation="With GPUDirect RDMA a network card reads and writes the boards' memory itself. It "
    "needs nvidia_peermem, registered with the RDMA core, or the driver's open modules, which "
    "export memory as DMA-BUF. Hosts without RDMA cards are not judged.",
)
