"""How near two PCI functions are, told from the bridges between them in sysfs."""

from __future__ import annotations

from itertools import takewhile

from accelhal.facts import Relation
from accelhal.host import Host
from accelhal.host.pci import numa_node
from accelhal.host.pci_ports import path_above


def pci_relation(host: Host, one: str, other: str) -> Relation | None:
    """How near two functions are; None where sysfs does not say.

    Below one host bridge the bridges of the two paths decide. Between host bridges the NUMA nodes
    do, and where the kernel knows none (-1, usual in virtual machines) nobody can tell.

    Args:
        host: the host to look at.
        one: address of a function, domain:bus:device.function.
        other: address of another.
    """
    paths = [path_above(host, address) for address in (one, other)]
    if None in paths:
        return None
    (mine, my_bridges), (theirs, their_bridges) = (path for path in paths if path is not None)
    if mine != theirs:
        return _between_host_bridges(host, one, other)
    shared = len(
        list(
            takewhile(lambda pair: pair[0] == pair[1], zip(my_bridges, their_bridges, strict=False))
        )
    )
    if not shared:
        return Relation.PHB
    # A switch has one port up and one down for each slot: one port apart is one switch.
    ports_apart = max(len(my_bridges), len(their_bridges)) - shared
    return Relation.PIX if ports_apart <= 1 else Relation.PXB


def _between_host_bridges(host: Host, one: str, other: str) -> Relation | None:
    nodes = numa_node(host, one), numa_node(host, other)
    if None in nodes:
        return None
    return Relation.NODE if nodes[0] == nodes[1] else Relation.SYS
