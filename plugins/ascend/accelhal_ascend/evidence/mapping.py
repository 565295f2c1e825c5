"""`npu-smi info -m`: which card and chip has which of the driver's numbers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from accelhal.drivers.printed import word
from accelhal.drivers.readings import or_none
from accelhal.facts import BoardDetails, BoardReading
from accelhal.spi import EvidenceError, EvidenceReader, Section
from accelhal_ascend.evidence.chips import MCUS, chip, evidence, number_of

_PAGE = "npu-smi info -m"

_CARD, _CHIP, _INDEX, _NODE, _SLOT = "card", "chip", "index", "node", "slot"
_COLUMNS = {
    "NPU ID Chip ID Chip Logic ID Chip Name": (_CARD, _CHIP, _INDEX),
    "NPU ID Chip ID Chip Logic ID Chip Phy-ID Chip Name": (_CARD, _CHIP, _INDEX, _NODE),
    "NPU ID Slot ID Chip ID Chip Phy-ID Chip Name": (_CARD, _SLOT, _CHIP, _NODE),
}
"""Headings -> the numbers below them, before the name: of 910, 910B and 310P; of A3; of the 950."""

_TYPE = "Ascend "
"""What the page prints before the chip's name; other pages do not."""

_UNNAMED = "MiniD"
"""What it prints for every 310, whatever its name."""


def _begins(line: str) -> bool:
    return "Chip Name" in line and " ".join(line.split()) in _COLUMNS


def _read(lines: Sequence[str]) -> Section:
    columns = _COLUMNS[" ".join(lines[0].split())]
    found: list[BoardReading] = []
    seen: set[tuple[str, int | None]] = set()
    place = 1
    while place < len(lines):
        fields = lines[place].split(maxsplit=len(columns))
        numbers = dict(zip(columns, (number_of(text) for text in fields), strict=False))
        if len(fields) != len(columns) + 1 or numbers.get(_CARD) is None:
            break
        name = fields[-1].strip()
        if name.upper() not in MCUS:
            board = _reading(numbers, name, place)
            names = {("chip", board.board.tool_id), ("index", board.board.index)}
            if seen & names:
                raise EvidenceError(place, "two chips have one number")
            seen |= names
            found.append(board)
        place += 1
    if not found:
        raise EvidenceError(place - 1, "it lists no chips")
    return Section(evidence(_PAGE, found), place)


def _reading(numbers: dict[str, int | None], name: str, line: int) -> BoardReading:
    card, number = numbers[_CARD], numbers[_CHIP]
    # Cards and chips are gone on the 950: its dev_id is the driver's number.
    index = numbers.get(_INDEX, card)
    if card is None or number is None or index is None:
        raise EvidenceError(line, "the chip's numbers cannot be read")
    node = numbers.get(_NODE)
    text = or_none(partial(word, name.removeprefix(_TYPE)))
    return BoardReading(
        chip(card, number, index=index, name="" if text in (None, _UNNAMED) else str(text)),
        details=None
        if node is None
        else BoardDetails(node=node, reasons={"*": f"{_PAGE} does not show it"}),
    )


MAPPING = EvidenceReader(_PAGE, _begins, _read)
