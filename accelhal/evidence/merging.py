"""Several looks at one host made one: the same board under its several names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, get_args

from accelhal.facts import (
    BoardInfo,
    BoardKey,
    BoardReading,
    BoardRelation,
    Evidence,
    Relation,
)
from accelhal.facts.boards import KeySource

_NAMES = ("uuid", "pci", "index", "serial")
"""What tells two boards of one host apart, best first. Slices share all but the first and third."""

_SLICE_NAMES = ("uuid", "index")

_SOURCES: tuple[KeySource, ...] = get_args(KeySource)
"""Best first."""


class ContradictionError(ValueError):
    """Two looks that cannot be of one host, or of which nobody can say which board is which."""


def merged(one: Evidence, other: Evidence) -> Evidence:
    """One look out of two at the same backend's boards.

    Boards are matched by UUID, PCI address or number. What the first leaves open the second fills;
    where both speak of a reading, the first stands.

    Raises:
        ContradictionError: they are of different hosts, or share no name by which to match.
    """
    places = _matches(one.boards, other.boards)
    boards = list(one.boards)
    moved: list[int] = []
    for place, reading in zip(places, other.boards, strict=True):
        if place is None:
            moved.append(len(boards))
            boards.append(reading)
        else:
            moved.append(place)
            boards[place] = _joined(boards[place], reading)
    return Evidence(
        backend=one.backend,
        source=one.source if other.source in one.source else f"{one.source}, {other.source}",
        boards=_renamed(boards, (*one.boards, *other.boards), (*range(len(one.boards)), *moved)),
        relations=_relations(one.relations, other.relations, moved),
        versions=_versions(one.versions, other.versions),
        notes=tuple(dict.fromkeys((*one.notes, *other.notes))),
    )


def _matches(known: Sequence[BoardReading], new: Sequence[BoardReading]) -> list[int | None]:
    """For each new board the place of the same one among the known, None for one not seen yet."""
    places = [_match(reading.board, known) for reading in new]
    taken = [place for place in places if place is not None]
    if len(set(taken)) != len(taken):
        raise ContradictionError("two of its boards are the same board of the other")
    return places


def _match(board: BoardInfo, known: Sequence[BoardReading]) -> int | None:
    alike = [
        (place, reading.board)
        for place, reading in enumerate(known)
        if (reading.board.parent is None) == (board.parent is None)
    ]
    told_apart = not alike
    for place, other in alike:
        same, different = _compared(board, other)
        if same and different:
            raise ContradictionError(
                f"it gives the board of {same[0]} {getattr(board, same[0])} another {different[0]}"
            )
        if same:
            return place
        told_apart = told_apart or bool(different)
    if not told_apart:
        raise ContradictionError("it names the boards in another way: which is which is not known")
    return None


def _compared(one: BoardInfo, other: BoardInfo) -> tuple[list[str], list[str]]:
    """The names that both have: those that are equal, and those that differ."""
    names = _NAMES if one.parent is None else _SLICE_NAMES
    both = [n for n in names if getattr(one, n) is not None and getattr(other, n) is not None]
    if one.parent is not None and one.pci != other.pci:
        both = [name for name in both if name == "uuid"]  # slices are numbered within a board
    same = [name for name in both if getattr(one, name) == getattr(other, name)]
    return same, [name for name in both if name not in same]


def _joined(one: BoardReading, other: BoardReading) -> BoardReading:
    return BoardReading(
        **{
            field.name: _filled(getattr(one, field.name), getattr(other, field.name))
            for field in fields(BoardReading)
        }
    )


def _filled(one: Any, other: Any) -> Any:
    """The first fact, with what it leaves open taken from the second."""
    if one is None or other is None:
        return other if one is None else one
    if not isinstance(one, BoardInfo) and not hasattr(one, "reasons"):
        return one
    values: dict[str, Any] = {}
    for field in fields(one):
        first, second = getattr(one, field.name), getattr(other, field.name)
        if _is_open(first) and not _is_open(second):
            values[field.name] = second
    if isinstance(one, BoardInfo):
        values["key"] = _better_key(one.key, other.key)
    else:
        values["reasons"] = {n: why for n, why in one.reasons.items() if n not in values}
    return replace(one, **values)


def _is_open(value: object) -> bool:
    """Not said, or a name that a table cut off."""
    return value is None or value == "" or (isinstance(value, str) and value.endswith("..."))


def _better_key(one: BoardKey | None, other: BoardKey | None) -> BoardKey | None:
    known = [key for key in (one, other) if key is not None]
    return min(known, key=lambda key: _SOURCES.index(key.source), default=None)


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
