"""`npu-smi info -l`: the cards of the host."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from accelhal.drivers.printed import word
from accelhal.drivers.readings import or_none
from accelhal.facts import BoardReading
from accelhal.spi import EvidenceError, EvidenceReader, Section
from accelhal_ascend.evidence.chips import MAX_CHIPS, chip, evidence, number_of
from accelhal_ascend.evidence.key_values import COUNT, NPU, TOTALS, key_of, value_of

_PAGE = "npu-smi info -l"
_PRODUCT, _SERIAL = "Product Name", "Serial Number"


def _begins(line: str) -> bool:
    return "Count" in line and key_of(line) in TOTALS


def _read(lines: Sequence[str]) -> Section:
    total = number_of(value_of(lines[0]))
    if total is None:
        raise EvidenceError(0, "the number of cards cannot be read")
    cards: list[dict[str, str]] = []
    end = 1
    for place in range(1, len(lines)):
        line = lines[place]
        if not line.strip():
            continue
        key = key_of(line)
        if key == NPU and len(cards) < total:
            cards.append({})
        elif key not in (_PRODUCT, _SERIAL, COUNT) or not cards or key in cards[-1]:
            break
        cards[-1][key] = value_of(line)
        end = place + 1
    if len(cards) != total:
        raise EvidenceError(end - 1, f"it lists {len(cards)} of {total} cards")
    boards = [board for card in cards for board in _boards(card, end - 1)]
    products = any(_PRODUCT in card for card in cards)
    notes = [f"{_PAGE} also shows {_PRODUCT}."] if products else []
    return Section(evidence(_PAGE, boards, notes=notes), end)


def _boards(card: dict[str, str], line: int) -> list[BoardReading]:
    """The card's chips: they are numbered from 0, and share its label."""
    owner, total = number_of(card[NPU]), number_of(card.get(COUNT, "1"))
    if owner is None or total is None or total > MAX_CHIPS:
        raise EvidenceError(line, "a card's numbers cannot be read")
    serial = or_none(partial(word, card.get(_SERIAL, "")))
    return [BoardReading(chip(owner, number, serial=serial)) for number in range(total)]


LISTING = EvidenceReader(_PAGE, _begins, _read)
