"""Why two looks cannot be of one host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accelhal.facts import BoardKey, BoardReading

_MEMORY_SPREAD = 8
"""Two tools may count one board's memory apart by what the driver keeps of it, far below an 8th."""


class ContradictionError(ValueError):
    """Two looks that cannot be of one host, or of which nobody can say which board is which."""


def refuse_contradictions(
    known: Sequence[BoardReading], new: Sequence[BoardReading], places: Sequence[int | None]
) -> None:
    """Refuse looks that hold equal names and are of two hosts all the same.

    Hosts of one make give their boards equal addresses and numbers: what stays the same as long as
    nobody opens the host tells more.

    Args:
        known: the boards of one look.
        new: those of the other.
        places: for each new board its place among the known, None where it is not there.

    Raises:
        ContradictionError: a board is another product, or sits at other CPUs or links.
    """
    pairs = [
        (reading, known[place])
        for reading, place in zip(new, places, strict=True)
        if place is not None
    ]
    moved = {reading.board.key: before.board.key for reading, before in pairs}
    for reading, before in pairs:
        _refuse_another_host(reading, before)
        _refuse_other_links(reading, before, moved)


def _refuse_another_host(new: BoardReading, known: BoardReading) -> None:
    board, other = new.board, known.board
    if board.parent is not None:
        return
    if "pci" not in (board.source, other.source) and not _may_be_one_name(board.name, other.name):
        raise ContradictionError(f"it calls a {other.name} {board.name}")
    sizes = [told.total_memory for told in (board, other) if told.total_memory]
    if len(sizes) == 2 and (max(sizes) - min(sizes)) * _MEMORY_SPREAD > max(sizes):
        raise ContradictionError(
            f"it gives a board of {sizes[1] >> 20} MiB of memory {sizes[0] >> 20} MiB"
        )
    if board.source == other.source:  # two tools may see two sets of CPUs
        cpus = [told.details.cpu_affinity for told in (new, known) if told.details]
        if len(cpus) == 2 and None not in cpus and cpus[0] != cpus[1]:
            raise ContradictionError("it says that other CPUs are near one of the boards")


def _refuse_other_links(
    new: BoardReading, known: BoardReading, moved: Mapping[BoardKey | None, BoardKey | None]
) -> None:
    """Compare the links of a board; `moved` gives its peers' keys as the known look has them."""
    there = {moved.get(peer, peer): lanes for peer, lanes in _lanes(new).items()}
    here = _lanes(known)
    if not there or not here:
        return
    for peer, lanes in there.items():
        if here.get(peer) != lanes:
            raise ContradictionError(
                f"it says {lanes} links lead to a board to which the other says "
                f"{here.get(peer, 'none')}"
            )


def _lanes(reading: BoardReading) -> dict[BoardKey | None, int]:
    """Bonded links to each other board, where the source counts them."""
    return {
        link.peer: link.lanes
        for link in reading.links or ()
        if link.peer is not None and link.lanes is not None and link.number is None
    }


def _may_be_one_name(one: str, other: str) -> bool:
    """Whether one product may have both names: tools cut it off, or leave the maker's name out."""
    first, second = ("".join(filter(str.isalnum, name.casefold())) for name in (one, other))
    return first in second or second in first
