"""NUMA nodes and where processes run, read from a tree of files."""

from __future__ import annotations

from pathlib import Path

from host_tree import HostTree

from accelhal.facts.host_record import NumaNode, ProcessPlacement
from accelhal.host import Host
from accelhal.host.numa import allowed_cpus, numa_nodes, placements


def test_nodes_and_their_cpus(tmp_path: Path) -> None:
    tree = HostTree(tmp_path)
    assert numa_nodes(tree.host) is None
    tree.file("/sys/devices/system/node/node0/cpulist", "0-1\n")
    tree.file("/sys/devices/system/node/node10/cpulist", "2,3\n")
    tree.file("/sys/devices/system/node/node2/cpulist", "\n")  # memory alone
    assert numa_nodes(tree.host) == (
        NumaNode(number=0, cpus=(0, 1)),
        NumaNode(number=2, cpus=()),
        NumaNode(number=10, cpus=(2, 3)),
    )


def test_where_processes_run_and_have_their_memory(tmp_path: Path) -> None:
    tree = HostTree(tmp_path)
    tree.file("/proc/7/status", "Name:\tjob\nCpus_allowed_list:\t0-1,4\nMems_allowed_list:\t0-1\n")
    tree.file(
        "/proc/7/numa_maps",
        "7f00 default anon=12 dirty=12 N0=3 N1=9 kernelpagesize_kB=4\n7f10 default N1=1\n",
    )
    tree.file("/proc/8/status", "Cpus_allowed_list:\t0\n")
    assert placements(tree.host, [7, 7, 8, 9]) == (
        ProcessPlacement(pid=7, cpus=(0, 1, 4), pages=(3, 10)),
        ProcessPlacement(pid=8, cpus=(0,)),
    )


def test_this_process() -> None:
    assert allowed_cpus(Host())
