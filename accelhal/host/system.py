"""The machine itself: processor, memory, kernel, container, as /proc and the interpreter tell."""

from __future__ import annotations

import os
import platform
import re
from dataclasses import dataclass
from typing import Literal

from accelhal.facts import HostFacts
from accelhal.host.host import Host

_KIB = 1024


@dataclass(frozen=True)
class MemoryInfo:
    """Host memory in bytes; `available` is what a new program can get without swapping."""

    available: int
    total: int


def memory_info(host: Host | None = None) -> MemoryInfo | None:
    """Host memory from /proc/meminfo; None where there is no such file."""
    text = (host or Host()).read_text("/proc/meminfo")
    if text is None:
        return None
    available = re.search(r"^MemAvailable:\s*(\d+) kB$", text, re.MULTILINE)
    total = re.search(r"^MemTotal:\s*(\d+) kB$", text, re.MULTILINE)
    if available is None or total is None:
        return None
    return MemoryInfo(int(available[1]) * _KIB, int(total[1]) * _KIB)


def cpu_model(host: Host | None = None) -> str | None:
    """The processor's name from /proc/cpuinfo, or its architecture where the file has none."""
    text = (host or Host()).read_text("/proc/cpuinfo") or ""
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name.strip() in ("model name", "Model", "Hardware"):
            return value.strip()
    return platform.machine() or None  # platform.processor() would start `uname -p`


def container_kind(host: Host) -> str | None:
    """The kind of container this process runs in, or None on a bare or virtual machine."""
    if "KUBERNETES_SERVICE_HOST" in host.environ:
        return "kubernetes"
    for marker, kind in (("/.dockerenv", "docker"), ("/run/.containerenv", "podman")):
        if host.exists(marker):
            return kind
    cgroup = host.read_text("/proc/1/cgroup") or ""
    for word in ("docker", "containerd", "lxc"):
        if word in cgroup:
            return word
    return None


def host_kind(host: Host) -> Literal["container", "vm", "bare"]:
    """What this process runs on: a container, a virtual machine, or bare metal."""
    if container_kind(host):
        return "container"
    # x86 processors tell a guest by this flag; elsewhere hypervisors name themselves in DMI.
    flags = host.read_text("/proc/cpuinfo") or ""
    product = host.read_text("/sys/class/dmi/id/product_name") or ""
    hypervisors = ("KVM", "Virtual", "VMware", "HVM domU")
    virtual = " hypervisor" in flags or any(name in product for name in hypervisors)
    return "vm" if virtual else "bare"


def host_facts(host: Host) -> HostFacts:
    """The machine and interpreter that accelhal runs on."""
    memory = memory_info(host)
    return HostFacts(
        system=platform.system(),
        kernel=platform.release(),
        machine=platform.machine(),
        python=platform.python_version(),
        cpu_model=cpu_model(host),
        cpu_count=os.cpu_count() or 1,
        memory_total=memory.total if memory else None,
        container=container_kind(host),
        kind=host_kind(host),
    )
