"""Several looks at one host made one: the same board under its several names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from itertools import product
from typing import Any, get_args

from accelhal.evidence.contradictions import ContradictionError, refuse_contradictions
from accelhal.facts import (
    BoardInfo,
    BoardKey,
    BoardReading,
    BoardRelation,
    Evidence,
    HealthReport,
    Relation,
)
from accelhal.facts.boards import KeySource

_OF_ALL_CHIPS = "serial"
"""The name that tells a board from others, and not its chips from one another."""

_NAMES = ("uuid", "pci", "index", "tool_id", _OF_ALL_CHIPS)
"""What tells two boards of one host apart, best first."""

_SLICE_NAMES = ("uuid", "index")
"""The same for slices of one board, which share the others; slices are numbered within a board."""

_SOURCES: tuple[KeySource, ...] = get_args(KeySource)
"""Best first."""

_SEPARATOR = ", "


def merged(one: Evidence, other: Evidence) -> Evidence:
    """One look out of two at the same backend's boards.

    Boards are matched by UUID, PCI address or number. What the first leaves open the second fills;
    where both speak of a reading, the first stands.

    Raises:
        ContradictionError: they are of different hosts, or share no name by which to match.
    """
    keyed_by = one.keyed_by or other.keyed_by
    places = _matches(one.boards, other.boards)
    boards = list(one.boards)
    moved: list[int] = []
    refuse_contradictions(one.boards, other.boards, places)
    for place, reading in zip(places, other.boards, strict=True):
        if place is None:
            moved.append(len(boards))
            boards.append(reading)
        else:
            moved.append(place)
            boards[place] = _joined(boards[place], reading, keyed_by or _SOURCES)
    return Evidence(
        backend=one.backend,
        source=_SEPARATOR.join(dict.fromkeys(_sources(one) + _sources(other))),
        boards=_renamed(boards, (*one.boards, *other.boards), (*range(len(one.boards)), *moved)),
        relations=_relations(one.relations, other.relations, moved),
        versions=_versions(one.versions, other.versions),
        notes=tuple(dict.fromkeys((*one.notes, *other.notes))),
        keyed_by=keyed_by,
    )


def _sources(evidence: Evidence) -> list[str]:
    return evidence.source.split(_SEPARATOR)


def _matches(known: Sequence[BoardReading], new: Sequence[BoardReading]) -> list[int | None]:
    """For each new board the place of the same one among the known, None for one not seen yet."""
    boards = [reading.board for reading in new]
    places = [None if board.parent else _match(board, known) for board in boards]
    parents = {
        board.key: known[place].board.key
        for board, place in zip(boards, places, strict=True)
        if place is not None
    }
    # Slices are numbered within their board, which the first may name in another way.
    boards = [
        replace(board, parent=parents.get(board.parent, board.parent)) if board.parent else board
        for board in boards
    ]
    places = [
        _match(board, known) if board.parent else place
        for board, place in zip(boards, places, strict=True)
    ]
    taken = {place for place in places if place is not None}
    if len(taken) != len(places) - places.count(None):
        raise ContradictionError("two of its boards are the same board of the other")
    left = [reading.board for place, reading in enumerate(known) if place not in taken]
    unseen = [board for place, board in zip(places, boards, strict=True) if place is None]
    for board, other in product(unseen, left):
        if _are_alike(board, other) and not _shared_names(board, other):
            raise ContradictionError(
                "it names the boards in another way: which is which is not known"
            )
    return places


def _match(board: BoardInfo, known: Sequence[BoardReading]) -> int | None:
    shared = [
        _shared_names(board, reading.board) if _are_alike(board, reading.board) else []
        for reading in known
    ]
    equal = [
        place
        for place, names in enumerate(shared)
        if names and _same(board, known[place].board, names[0])
    ]
    places = [place for place in equal if shared[place][0] != _OF_ALL_CHIPS]
    if len(places) > 1:
        raise ContradictionError("one of its boards is two boards of the other")
    if equal and not places:
        raise ContradictionError(
            f"it tells a board by its {_OF_ALL_CHIPS} alone, which all chips of a board share: "
            "which is which is not known"
        )
    found = places[0] if places else None
    for place in places or range(len(known)):
        other = known[place].board
        names = shared[place]
        same = [name for name in names if name != _OF_ALL_CHIPS and _same(board, other, name)]
        different = [name for name in names if not _same(board, other, name)]
        if same and different:
            raise ContradictionError(
                f"it gives the board of {same[0]} {getattr(board, same[0])} another {different[0]}"
            )
    return found


def _are_alike(one: BoardInfo, other: BoardInfo) -> bool:
    """Both boards, or both slices."""
    return (one.parent is None) == (other.parent is None)


def _shared_names(one: BoardInfo, other: BoardInfo) -> list[str]:
    """The names that both have, best first."""
    names: tuple[str, ...] = _NAMES
    if one.parent is not None:
        places = one.pci, other.pci
        if None not in places and one.pci != other.pci:
            return ["pci"]  # slices of two boards
        one_board = one.parent == other.parent or (None not in places and one.pci == other.pci)
        names = _SLICE_NAMES if one_board else _SLICE_NAMES[:1]
    return [n for n in names if getattr(one, n) is not None and getattr(other, n) is not None]


def _same(one: BoardInfo, other: BoardInfo, name: str) -> bool:
    return bool(getattr(one, name) == getattr(other, name))


def _joined(one: BoardReading, other: BoardReading, keyed_by: Sequence[KeySource]) -> BoardReading:
    joined = BoardReading(
        **{
            field.name: _filled(getattr(one, field.name), getattr(other, field.name))
            for field in fields(BoardReading)
        }
    )
    key = _better_key(one.board.key, other.board.key, keyed_by)
    return replace(joined, board=replace(joined.board, key=key))


def _filled(one: Any, other: Any) -> Any:
    """The first fact, with what it leaves open taken from the second."""
    if one is None or other is None:
        return other if one is None else one
    if isinstance(one, HealthReport):
        return _judged(one, other)
    if not isinstance(one, BoardInfo) and not hasattr(one, "reasons"):
        return one
    values: dict[str, Any] = {}
    for field in fields(one):
        first, second = getattr(one, field.name), getattr(other, field.name)
        if _is_open(first) and not _is_open(second):
            values[field.name] = second
    if not isinstance(one, BoardInfo):
        values["reasons"] = {n: why for n, why in one.reasons.items() if n not in values}
    return replace(one, **values)


def _judged(one: HealthReport, other: HealthReport) -> HealthReport:
    """The worst of what either looked at; of what both looked at, the first stands."""
    checks = {check.name: check for check in (*other.checks, *one.checks)}
    return HealthReport.of(checks.values()) if checks else one


def _is_open(value: object) -> bool:
    """Not said, or a name that a table cut off."""
    return value is None or value == "" or (isinstance(value, str) and value.endswith("..."))


def _better_key(
    one: BoardKey | None, other: BoardKey | None, keyed_by: Sequence[KeySource]
) -> BoardKey | None:
    known = [key for key in (one, other) if key is not None]
    order = (*keyed_by, *_SOURCES)
    return min(known, key=lambda key: order.index(key.source), default=None)


def _renamed(
    boards: Sequence[BoardReading], before: Sequence[BoardReading], places: Iterable[int]
) -> tuple[BoardReading, ...]:
    """The boards with every mention of one under a former key put right."""
    keys: dict[BoardKey, BoardKey] = {}
    for reading, place in zip(before, places, strict=True):
        old, new = reading.board.key, boards[place].board.key
        if old is not None and new is not None and old != new:
            keys[old] = new
    if not keys:
        return tuple(boards)
    return tuple(_with_keys(reading, keys) for reading in boards)


def _with_keys(reading: BoardReading, keys: Mapping[BoardKey, BoardKey]) -> BoardReading:
    def now(key: BoardKey | None) -> BoardKey | None:
        return None if key is None else keys.get(key, key)

    links, partitions = reading.links, reading.partitions
    return replace(
        reading,
        board=replace(reading.board, parent=now(reading.board.parent)),
        links=links and tuple(replace(link, peer=now(link.peer)) for link in links),
        partitions=partitions
        and tuple(replace(part, parent=keys.get(part.parent, part.parent)) for part in partitions),
    )


def _relations(
    one: Iterable[BoardRelation], other: Iterable[BoardRelation], moved: Sequence[int]
) -> tuple[BoardRelation, ...]:
    found: dict[tuple[int, int], Relation] = {(r.one, r.other): r.relation for r in one}
    for told in other:
        pair = (moved[told.one], moved[told.other])
        pair = (min(pair), max(pair))
        if found.setdefault(pair, told.relation) is not told.relation:
            raise ContradictionError(
                f"it says {told.relation.value} of two boards of which the other says "
                f"{found[pair].value}"
            )
    return tuple(BoardRelation(*pair, relation) for pair, relation in found.items())


def _versions(one: Mapping[str, str], other: Mapping[str, str]) -> dict[str, str]:
    for name in one.keys() & other.keys():
        if one[name] != other[name]:
            raise ContradictionError(f"it says {name} {other[name]}, the other {one[name]}")
    return {**one, **other}
