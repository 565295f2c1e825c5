"""NUMA nodes of a host, and where processes run and have their memory, as /sys and /proc tell."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from accelhal.facts.host_record import NumaNode, ProcessPlacement
from accelhal.host.cpu_list import parse_cpu_list
from accelhal.host.host import Host

NODES = "/sys/devices/system/node"

_ALLOWED = re.compile(r"^Cpus_allowed_list:\s*(\S+)$", re.MULTILINE)
_PAGES = re.compile(r" N([0-9]{1,4})=([0-9]{1,15})(?= |$)", re.MULTILINE)


def numa_nodes(host: Host) -> tuple[NumaNode, ...] | None:
    """The nodes, by number; None where the kernel shows none."""
    found = []
    for path in host.glob(f"{NODES}/node[0-9]*"):
        number = path.rsplit("/node", 1)[1]
        cpus = host.read_text(f"{path}/cpulist")
        if number.isdecimal() and cpus is not None:
            found.append(NumaNode(number=int(number), cpus=parse_cpu_list(cpus)))
    return tuple(found) or None


def allowed_cpus(host: Host, process: int | str = "self") -> tuple[int, ...] | None:
    """The CPUs that a process may run on; None where it is not there."""
    found = _ALLOWED.search(host.read_text(f"/proc/{process}/status") or "")
    return parse_cpu_list(found[1]) if found else None


def placements(host: Host, pids: Iterable[int]) -> tuple[ProcessPlacement, ...]:
    """Of those processes that are in sight: a container does not see the host's."""
    found = []
    for pid in dict.fromkeys(pids):
        cpus = allowed_cpus(host, pid)
        if cpus:
            pages: Counter[int] = Counter()
            for node, count in _PAGES.findall(host.read_text(f"/proc/{pid}/numa_maps") or ""):
                pages[int(node)] += int(count)
            by_node = tuple(pages[node] for node in range(max(pages, default=-1) + 1))
            found.append(ProcessPlacement(pid=pid, cpus=cpus, pages=by_node))
    return tuple(found)
