"""The boards that a snapshot shows, and how near they are: what commands list in a host's place."""

from __future__ import annotations

from itertools import combinations

from accelhal.evidence.environment import BusBoard
from accelhal.evidence.snapshot import Snapshot
from accelhal.facts import BoardInfo, BoardReading, Relation
from accelhal.topology import Topology
from accelhal.topology.discovery import one_board

UNTOLD = "the evidence does not say how near they are"


def readings(snapshot: Snapshot) -> list[BoardReading]:
    """Every board, backend by backend; then those that the PCI bus alone shows."""
    found = [reading for evidence in snapshot.evidence for reading in evidence.boards]
    if snapshot.environment is not None:
        known = {reading.board.pci for reading in found}
        on_bus = (board for board in snapshot.environment.boards if board.address not in known)
        found += [BoardReading(_board(board)) for board in on_bus]
    return found


def _board(board: BusBoard) -> BoardInfo:
    return BoardInfo(
        key=None,
        vendor=board.vendor,
        name=f"PCI device {board.id}",
        backend=board.backend,
        source="pci",
        pci=board.address,
        numa_node=board.numa_node,
        driver=board.driver,
    )


def topology(snapshot: Snapshot) -> Topology:
    """How near the boards are, by what the evidence says of slices, links and relations."""
    found = readings(snapshot)
    told = _told(snapshot, found)
    relations = {
        (one, other): _relation(found[one], found[other], told.get((one, other)))
        for one, other in combinations(range(len(found)), 2)
    }
    unknown = UNTOLD if None in relations.values() else ""
    return Topology(tuple(reading.board for reading in found), relations, unknown)


def _relation(one: BoardReading, other: BoardReading, told: Relation | None) -> Relation | None:
    if one_board(one.board, other.board):
        return Relation.BOARD
    return Relation.LINK if _linked(one, other) or _linked(other, one) else told


def _linked(one: BoardReading, other: BoardReading) -> bool:
    key = other.board.key
    return key is not None and any(link.up and link.peer == key for link in one.links or ())


def _told(snapshot: Snapshot, found: list[BoardReading]) -> dict[tuple[int, int], Relation]:
    """What the evidence says of pairs of boards, by their places in the whole list."""
    told: dict[tuple[int, int], Relation] = {}
    first = 0
    for evidence in snapshot.evidence:
        for pair in evidence.relations:
            told[first + pair.one, first + pair.other] = pair.relation
        first += len(evidence.boards)
    places = {
        reading.board.pci: place
        for place, reading in enumerate(found)
        if reading.board.parent is None
    }
    for between in snapshot.relations:
        if between.one in places and between.other in places:
            one, other = sorted((places[between.one], places[between.other]))
            told.setdefault((one, other), between.relation)
    return told
