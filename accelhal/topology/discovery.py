"""From what the drivers and sysfs say to a Topology."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import TypeVar

from accelhal.facts import BoardInfo, BoardKey, Relation
from accelhal.host import Host
from accelhal.host.pci import numa_node
from accelhal.management.boards import boards as all_boards
from accelhal.management.planes import open_management
from accelhal.registry import backends
from accelhal.spi import Management
from accelhal.topology.neighbourhood import Topology
from accelhal.topology.pci_path import pci_relation

T = TypeVar("T")

UNKNOWN_NODE = "the kernel knows no NUMA node for the boards (-1, usual in virtual machines)"
UNKNOWN_PLACE = "neither the drivers nor the PCI bus say where the boards are"


def discover(boards: Sequence[BoardInfo] | None = None, host: Host | None = None) -> Topology:
    """How near the boards are: by the driver's word where it has one, else by the PCI bus.

    Args:
        boards: the boards; those of this host when None.
        host: the host whose PCI bus is read; this one when None.
    """
    found = tuple(all_boards() if boards is None else boards)
    where = Host() if host is None else host
    managements = _managements({board.backend for board in found if board.backend})
    links = _links(found, managements)
    relations = {
        (one, other): _relation(found[one], found[other], managements, links, where)
        for one, other in combinations(range(len(found)), 2)
    }
    return Topology(found, relations, _why_unknown(found, relations, where))


def _relation(
    one: BoardInfo,
    other: BoardInfo,
    managements: Mapping[str, Management],
    links: Mapping[BoardKey, set[BoardKey]],
    host: Host,
) -> Relation | None:
    if one_board(one, other):
        return Relation.BOARD
    if one.key is not None and other.key is not None:
        if other.key in links.get(one.key, ()) or one.key in links.get(other.key, ()):
            return Relation.LINK
        management = managements.get(one.key.backend)
        if management is not None and one.key.backend == other.key.backend:
            told = _told(management.relation, one.key, other.key)
            if told is not None:
                return told
    if one.pci is None or other.pci is None:
        return None
    return pci_relation(host, one.pci, other.pci)


def one_board(one: BoardInfo, other: BoardInfo) -> bool:
    """Slices of one board, or a slice and its board."""
    if one.pci is not None and one.pci == other.pci:
        return True
    parents = {board.parent for board in (one, other)} - {None}
    return bool(parents & {one.key, other.key}) or (
        one.parent is not None and one.parent == other.parent
    )


def _links(
    boards: Sequence[BoardInfo], managements: Mapping[str, Management]
) -> dict[BoardKey, set[BoardKey]]:
    """Board -> the boards at the other ends of its links that are up."""
    found: dict[BoardKey, set[BoardKey]] = {}
    for board in boards:
        key = board.key
        if key is None or key.backend not in managements:
            continue
        found[key] = _told(_peers, managements[key.backend], key) or set()
    return found


def _peers(management: Management, board: BoardKey) -> set[BoardKey]:
    return {link.peer for link in management.links(board) if link.up and link.peer is not None}


def _managements(names: set[str]) -> dict[str, Management]:
    specs = {backend.name: backend.spec for backend in backends() if backend.name in names}
    opened = {
        name: _told(open_management, spec)
        for name, spec in specs.items()
        if spec is not None and spec.open_management is not None
    }
    return {name: management for name, management in opened.items() if management is not None}


def _told(ask: Callable[..., T], *arguments: object) -> T | None:
    """What a driver answers; None where it fails: the PCI bus may still say it."""
    try:
        return ask(*arguments)
    except Exception:  # a driver library and its wrapper raise what they like
        return None


def _why_unknown(
    boards: Sequence[BoardInfo],
    relations: Mapping[tuple[int, int], Relation | None],
    host: Host,
) -> str:
    places = {place for pair, relation in relations.items() if relation is None for place in pair}
    if not places:
        return ""
    addresses = [boards[place].pci for place in places]
    if any(address is None for address in addresses):
        return UNKNOWN_PLACE
    without_node = any(numa_node(host, a) is None for a in addresses if a is not None)
    return UNKNOWN_NODE if without_node else UNKNOWN_PLACE
