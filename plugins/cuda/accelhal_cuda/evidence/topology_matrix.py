"""Reads `nvidia-smi topo -m`: how near the boards are to each other, and to CPUs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from accelhal.drivers.printed import not_shown
from accelhal.drivers.readings import NotReportedError
from accelhal.facts import (
    BoardDetails,
    BoardInfo,
    BoardReading,
    BoardRelation,
    Evidence,
    Link,
    Relation,
)
from accelhal.host.cpu_list import parse_cpu_list
from accelhal.spi import EvidenceError, EvidenceReader, Section
from accelhal_cuda.evidence import words
from accelhal_cuda.evidence.board_names import board

_TOOL = "nvidia-smi topo -m"
_CPUS = "CPU Affinity"
_NODES = "NUMA Affinity"
_AFFINITIES = (_CPUS, _NODES, "GPU NUMA ID")
"""The last columns, in their order; releases before 450 have the first alone."""

_BOARD = re.compile(r"GPU(\d{1,4})", re.ASCII)
_LINKS = re.compile(r"NV(\d{1,2})", re.ASCII)
_NODE = re.compile(r"\d{1,4}", re.ASCII)
_LEGEND = re.compile(r"\s+\S+\s+= \S.*")
_NIC_LEGEND = re.compile(r"\s+NIC\d+: \S.*")

_SELF = "X"
_UNKNOWN = "N/A"
_RELATIONS: Mapping[str, Relation] = {
    "PSB": Relation.BOARD,
    "PIX": Relation.PIX,
    "PXB": Relation.PXB,
    "PHB": Relation.PHB,
    "NODE": Relation.NODE,
    "SOC": Relation.SYS,
    "SYS": Relation.SYS,
}
"""The tool's legend; PSB is a switch on the board of two chips, SOC was the name of SYS."""


@dataclass(frozen=True)
class _Header:
    """Columns of the matrix: boards and network cards, then affinities."""

    columns: tuple[str, ...]
    boards: Mapping[str, int]
    affinities: tuple[str, ...]


@dataclass(frozen=True)
class _Row:
    """A board's row.

    Attributes:
        line: where it stands.
        cells: what it says of the boards, in the header's order.
        affinities: column -> its word, as far as it can be told which is which.
    """

    line: int
    cells: tuple[str, ...]
    affinities: Mapping[str, str]


def _begins(line: str) -> bool:
    return _CPUS in line and line.lstrip().startswith("GPU")


def _read(lines: Sequence[str]) -> Section:
    header = _header(lines[0])
    rows: dict[str, _Row] = {}
    place = 1
    while place < len(lines):
        name, *cells = lines[place].split() or [""]
        if name not in header.columns or _begins(lines[place]):
            break
        if name in rows:
            raise EvidenceError(place, f"a second row of {name}")
        rows[name] = _row(header, cells, place)
        place += 1
    missing = [name for name in header.boards if name not in rows]
    if missing:
        raise EvidenceError(place - 1, f"cut off: no row of {missing[0]}")
    names = list(header.boards)
    infos = [_info(number, rows[name]) for name, number in header.boards.items()]
    relations, links = _relations(names, rows, infos)
    readings = [
        BoardReading(info, details=_details(rows[name]), links=tuple(links.get(at, ())) or None)
        for at, (name, info) in enumerate(zip(names, infos, strict=True))
    ]
    return Section(
        Evidence("cuda", _TOOL, tuple(readings), tuple(relations)), _after_legend(lines, place)
    )


def _header(line: str) -> _Header:
    matrix, _, _ = line.partition(_CPUS)
    rest = " ".join(line[len(matrix) :].split())
    affinities = next(
        (_AFFINITIES[:n] for n in range(1, 4) if " ".join(_AFFINITIES[:n]) == rest), None
    )
    columns = tuple(matrix.split())
    boards = {name: int(found[1]) for name in columns if (found := _BOARD.fullmatch(name))}
    if affinities is None or tuple(boards) != columns[: len(boards)]:
        raise EvidenceError(0, "columns that are not known here")
    if len(set(columns)) != len(columns):
        raise EvidenceError(0, "two columns of one name")
    return _Header(columns, boards, affinities)


def _row(header: _Header, cells: Sequence[str], line: int) -> _Row:
    width = len(header.columns)
    if len(cells) < width or len(cells) > width + len(header.affinities):
        raise EvidenceError(line, f"a row of {len(cells)} cells under {width} columns")
    strange = [word for word in cells[:width] if not _is_known(word)]
    if strange:
        raise EvidenceError(line, f"{strange[0][:20]!r} is no relation that is known here")
    told = cells[width:]
    complete = len(told) == len(header.affinities)  # an empty cell could be any of them
    affinities = dict(zip(header.affinities, told, strict=True)) if complete else {}
    return _Row(line, tuple(cells[: len(header.boards)]), affinities)


def _is_known(word: str) -> bool:
    return word in (_SELF, _UNKNOWN) or word in _RELATIONS or _LINKS.fullmatch(word) is not None


def _info(number: int, row: _Row) -> BoardInfo:
    node = row.affinities.get(_NODES, "")
    return board(index=number, numa_node=int(node) if _NODE.fullmatch(node) else None)


def _details(row: _Row) -> BoardDetails | None:
    def cpus() -> tuple[int, ...]:
        if _CPUS not in row.affinities:
            raise NotReportedError(words.NOT_SHOWN)
        text = row.affinities[_CPUS]
        found = parse_cpu_list(text)
        if not found:
            reason = not_shown(text)
            raise NotReportedError(f"{_CPUS}: {reason}")
        return found

    return words.gathered(BoardDetails, {"cpu_affinity": cpus})


def _relations(
    names: Sequence[str], rows: Mapping[str, _Row], infos: Sequence[BoardInfo]
) -> tuple[list[BoardRelation], dict[int, list[Link]]]:
    relations: list[BoardRelation] = []
    links: dict[int, list[Link]] = {}
    for one, name in enumerate(names):
        row = rows[name]
        if row.cells[one] != _SELF:
            raise EvidenceError(row.line, f"{row.cells[one]!r} where {name} meets itself")
        for other in range(one + 1, len(names)):
            word, back = row.cells[other], rows[names[other]].cells[one]
            if word != back:
                between = f"{name} and {names[other]}"
                raise EvidenceError(
                    rows[names[other]].line, f"both {word!r} and {back!r} between {between}"
                )
            bonded = _LINKS.fullmatch(word)
            relation = Relation.LINK if bonded else _RELATIONS.get(word)
            if relation is not None:
                relations.append(BoardRelation(one, other, relation))
            if bonded:
                lanes = int(bonded[1])
                for at, peer in ((one, other), (other, one)):
                    links.setdefault(at, []).append(
                        Link(kind="NVLink", peer=infos[peer].key, lanes=lanes)
                    )
    return relations, links


def _after_legend(lines: Sequence[str], place: int) -> int:
    """The line after the legends, or the same where there are none."""
    end = place
    for title, form in (("Legend:", _LEGEND), ("NIC Legend:", _NIC_LEGEND)):
        place = _after_blank(lines, end)
        if place == len(lines) or lines[place].strip() != title:
            continue
        end = place + 1
        place = _after_blank(lines, end)
        while place < len(lines) and form.fullmatch(lines[place]):
            place += 1
            end = place
    return end


def _after_blank(lines: Sequence[str], place: int) -> int:
    while place < len(lines) and not lines[place].strip():
        place += 1
    return place


TOPOLOGY_MATRIX = EvidenceReader(_TOOL, _begins, _read)
