"""`npu-smi info -t topo`: how near the chips are to one another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from accelhal.facts import BoardDetails, BoardReading, BoardRelation
from accelhal.host.cpu_list import parse_cpu_list
from accelhal.spi import EvidenceError, EvidenceReader, Section
from accelhal_ascend.dcmi_links import RELATIONS
from accelhal_ascend.evidence.chips import chip, evidence, indices

_PAGE = "npu-smi info -t topo"

_CHIPS_OF_A3 = 2

_SELF, _UNKNOWN = "X", "NA"
_NUMBERED = {"SYS": 1, "PHB": 2, "HCCS": 3, "PXB": 4, "PIX": 5, "SIO": 6, "HCCS_SW": 7, "UB": 8}
_WORDS = {**_NUMBERED, "XLink": 3, "XLink_SW": 7}
"""What the matrix prints for each DCMI_TOPO_TYPE_*; some builds call HCCS XLink."""

_NAME = re.compile(r"(NPU|Phy-ID)(\d{1,5})", re.ASCII)
_AFFINITY = ["CPU", "Affinity"]
_LEGEND = re.compile(r"\s*\w{1,10}\s{0,8}=\s.*")


@dataclass(frozen=True)
class _Head:
    """The names of the chips in their order, and the columns after them."""

    names: Sequence[str]
    others: Sequence[str]
    affinity: bool


def _begins(line: str) -> bool:
    if "NPU" not in line and "Phy-ID" not in line:
        return False
    words = line.split()
    if _NAME.fullmatch(words[0]) is None:
        return False
    return len(words) == 1 or words[-2:] == _AFFINITY or _NAME.fullmatch(words[1]) is not None


def _read(lines: Sequence[str]) -> Section:
    head = _head(lines[0])
    names, wide = head.names, len(head.names)
    rows: list[list[str]] = []
    cpus: list[tuple[int, ...]] = []
    for place, name in enumerate(names, 1):
        words = lines[place].split() if place < len(lines) else []
        if words[:1] != [name]:
            raise EvidenceError(min(place, len(lines) - 1), f"the row of {name} is missing")
        cells, rest = words[1 : wide + 1], words[wide + 1 + len(head.others) :]
        _check(cells, place, wide)
        if len(rest) > int(head.affinity):
            raise EvidenceError(place, "a row of more columns than the head has")
        rows.append(cells)
        cpus.append(parse_cpu_list(rest[0]) if rest else ())
    boards = [
        _reading(name, index, near)
        for name, index, near in zip(names, _indices(names), cpus, strict=True)
    ]
    notes = [f"{_PAGE} also shows {', '.join(head.others)}."] if head.others else []
    found = evidence(_PAGE, boards, relations=_relations(names, rows), notes=notes)
    end = wide + 1
    while end < len(lines) and (lines[end].split() or [""])[0] in head.others:
        end += 1
    return Section(found, _after_legend(lines, end))


def _head(line: str) -> _Head:
    words = line.split()
    affinity = words[-2:] == _AFFINITY
    columns = words[:-2] if affinity else words
    named = [word for word in columns if _NAME.fullmatch(word)]
    if not named or named != columns[: len(named)] or len(set(named)) != len(named):
        raise EvidenceError(0, "the names of the chips cannot be read")
    if len({word.startswith("NPU") for word in named}) > 1:
        raise EvidenceError(0, "chips are named in two ways")
    return _Head(named, columns[len(named) :], affinity)


def _check(cells: Sequence[str], line: int, wide: int) -> None:
    if len(cells) != wide:
        raise EvidenceError(line, "the row is cut off")
    for place, cell in enumerate(cells):
        if cell not in _WORDS and cell not in (_SELF, _UNKNOWN):
            raise EvidenceError(line, f"a relation that is not known: {cell[:40]!r}")
        if (cell == _SELF) != (place == line - 1):
            raise EvidenceError(line, f"the chip itself ({_SELF}) stands in the wrong column")


def _indices(names: Sequence[str]) -> list[int | None]:
    """Certain where cards are named; A3's physical numbers are not those of the driver."""
    if not names[0].startswith("NPU"):
        return [None] * len(names)
    return indices([(_number(name), 0) for name in names])


def _number(name: str) -> int:
    return int(name.removeprefix("NPU").removeprefix("Phy-ID"))


def _reading(name: str, index: int | None, cpus: tuple[int, ...]) -> BoardReading:
    """NPU is the number of a card with one chip, Phy-ID the number of a chip's file under /dev.

    A3 alone prints Phy-ID, and npu-smi itself takes it for twice the card's number plus the chip's.
    """
    number = _number(name)
    is_card = name.startswith("NPU")
    card, place = (number, 0) if is_card else divmod(number, _CHIPS_OF_A3)
    return BoardReading(
        chip(card, place, index=index),
        details=BoardDetails(
            node=None if is_card else number,
            cpu_affinity=cpus or None,
            reasons={"*": f"{_PAGE} does not show it"},
        ),
    )


def _relations(names: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[BoardRelation]:
    for one, other in combinations(range(len(rows)), 2):
        there, back = rows[one][other], rows[other][one]
        if there != back:
            raise EvidenceError(
                other + 1, f"{back} from {names[other]} to {names[one]}, and {there} back"
            )
        if there in _WORDS:
            yield BoardRelation(one, other, RELATIONS[_WORDS[there]])


def _after_legend(lines: Sequence[str], end: int) -> int:
    """The line after the explanation of the words, or after the matrix where there is none."""
    place = end
    while place < len(lines) and not lines[place].strip():
        place += 1
    if place == len(lines) or lines[place].strip() != "Legend:":
        return end
    place += 1
    while place < len(lines) and (
        not lines[place].strip() or _LEGEND.fullmatch(lines[place]) is not None
    ):
        place += 1
    return place


TOPOLOGY = EvidenceReader(_PAGE, _begins, _read)
