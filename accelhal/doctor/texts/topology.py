"""What the doctor says of where boards are: to one another, to the CPUs, on the bus."""

from __future__ import annotations

from collections.abc import Mapping

from accelhal.spi.doctor import Text

_BETWEEN_BOARDS = "{count} boards of {device} reach one another over PCIe"
_P2P = (
    "Copies between boards then go up to the root and through the IOMMU instead of straight "
    "across; collectives become slow, or hang."
)

TEXTS: Mapping[str, Text] = {
    # ---- topo.p2p
    "p2p.one": Text("{device}: one board, no pair", several="{devices}: no pair of boards"),
    "p2p.all": Text("{device}: all {count} boards are visible"),
    "p2p.near": Text("{device}: no nearer {count} boards than those that are visible"),
    "p2p.far": Text(
        "{device}: boards {ids} are {worst} apart, and boards {better} only {nearer}",
        "The mask picks boards with more of the machine between them than others have, so what "
        "they exchange takes longer.",
        "boards that are nearer to one another",
    ),
    "p2p.untold": Text("{device}: which boards are visible cannot be told: {reason}"),
    # ---- topo.numa
    "numa.one_node": Text("one NUMA node: every CPU is near every board"),
    "numa.no_job": Text(
        "{device}: no process in sight holds it", several="no process in sight on {number} boards"
    ),
    "numa.near": Text(
        "{device}: its process runs and has its memory on node {node}",
        several="{number} processes run near their boards",
    ),
    "numa.wanders": Text(
        "{device}: process {pid} may run on nodes {nodes}; the board is on node {node}",
        "Nothing keeps its threads near the board: when the kernel moves them to another node, "
        "each launch and copy crosses the interconnect between CPUs. Token rates 16 % lower were "
        "reported.",
        "the process is bound to the CPUs of node {node}",
    ),
    "numa.elsewhere": Text(
        "{device}: process {pid} may run on nodes {nodes} alone; the board is on node {node}",
        "Each launch and copy crosses the interconnect between CPUs.",
        "the process is bound to the CPUs of node {node}",
    ),
    "numa.remote_memory": Text(
        "{device}: {share} % of the memory of process {pid} lies on other nodes than {node}",
        "Copies from there cross the interconnect between CPUs.",
        "memory of node {node}, taken first",
    ),
    # ---- topo.cpubind
    "cpubind.near": Text("{device}: this process may run near every board it sees"),
    "cpubind.far": Text(
        "{device}: this process may run on no CPU of node {node}",
        "A container or a job's CPU set was given CPUs of other nodes than the board's.",
        "CPUs of node {node}: {near}",
    ),
    "cpubind.shared": Text(
        "processes {pids} are bound to the same CPUs {cpus} and hold different boards",
        "They take turns on these CPUs while others are idle.",
        "CPUs of its own for each process, near its board",
    ),
    # ---- topo.acs
    "acs.no_pair": Text("{device}: no two boards that reach one another over PCIe"),
    "acs.virtual": Text("{device}: a virtual machine needs the host's access controls as they are"),
    "acs.off": Text("{device}: no bridge above the boards redirects traffic between them"),
    "acs.on": Text(
        _BETWEEN_BOARDS + ", and bridges redirect it: {bridges}",
        _P2P,
        "access controls off on bare metal, unless boards are handed to virtual machines",
    ),
    # ---- topo.iommu
    "iommu.no_pair": Text("{device}: no two boards that reach one another over PCIe"),
    "iommu.virtual": Text("{device}: the IOMMU is the virtual machine's"),
    "iommu.off": Text("{device}: no IOMMU stands between the boards"),
    "iommu.passthrough": Text("{device}: the IOMMU passes the boards' addresses through"),
    "iommu.translates": Text(
        _BETWEEN_BOARDS + ", and the IOMMU translates it",
        _P2P,
        "iommu=pt on the kernel's command line, or the IOMMU off",
    ),
}
