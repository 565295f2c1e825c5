"""The record of a live host, each part read on its own: one that fails costs only itself."""

from __future__ import annotations

import os
from collections.abc import Sequence

from accelhal.evidence.environment import SHOWN_VARIABLES
from accelhal.facts.host_record import HostRecord
from accelhal.host import Host, pci
from accelhal.host.numa import allowed_cpus, numa_nodes
from accelhal.host.pci_ports import iommu_domains, read_ports
from accelhal.spi.doctor import VendorHost


def read_host_record(host: Host, vendors: Sequence[VendorHost]) -> HostRecord:
    """What of the host's software and settings is seen now, not yet redacted.

    Args:
        host: the host to look at.
        vendors: whose modules, files, libraries, services and variables to look for.
    """
    boards = [board.address for board in pci.accelerators(host)]
    has_bus = host.exists(pci.BUS)
    shown = {*SHOWN_VARIABLES, *(name for vendor in vendors for name in _variables(vendor))}
    return HostRecord(
        kernel=_line(host, "/proc/sys/kernel/osrelease"),
        command_line=_line(host, "/proc/cmdline"),
        modules=_modules(host),
        variables={name: host.environ[name] for name in sorted(shown) if name in host.environ},
        shared_memory=_shared_memory(host),
        files=_files(host, vendors),
        ports=read_ports(host, boards) if has_bus else None,
        iommu=iommu_domains(host, boards) if has_bus else None,
        numa_nodes=numa_nodes(host),
        cpus=allowed_cpus(host),
        rdma=_names(host, "/sys/class/infiniband/*"),
    )


def _variables(vendor: VendorHost) -> list[str]:
    return [*vendor.variables, *(variable.name for variable in vendor.debug_variables)]


def _line(host: Host, path: str) -> str | None:
    text = host.read_text(path)
    return None if text is None else text.strip()


def _modules(host: Host) -> dict[str, str] | None:
    text = host.read_text("/proc/modules")
    if text is None:
        return None
    names = (line.split(maxsplit=1)[0] for line in text.splitlines() if line.strip())
    return {name: _line(host, f"/sys/module/{name}/version") or "" for name in names}


def _shared_memory(host: Host) -> int | None:
    try:
        found = os.statvfs(host.path("/dev/shm"))
    except OSError:
        return None
    return found.f_blocks * found.f_frsize


def _names(host: Host, pattern: str) -> tuple[str, ...]:
    return tuple(path.rsplit("/", 1)[1] for path in host.glob(pattern))


def _files(host: Host, vendors: Sequence[VendorHost]) -> dict[str, str]:
    found = {}
    for pattern in dict.fromkeys(pattern for vendor in vendors for pattern in vendor.files):
        for path in host.glob(pattern):
            text = host.read_text(path)
            if text is not None:
                found[path] = text
    return found
