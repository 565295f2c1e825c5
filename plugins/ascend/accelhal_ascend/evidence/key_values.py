"""The lines "key : value" that npu-smi's pages are made of, cut into blocks of one chip each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from accelhal.drivers.printed import count
from accelhal.drivers.readings import or_none
from accelhal.facts import ProcessMemory
from accelhal.spi import EvidenceError
from accelhal_ascend.evidence.chips import MCUS, number_of
from accelhal_ascend.evidence.processes import memory_of

NPU, COUNT, CHIP, NAME = "NPU ID", "Chip Count", "Chip ID", "Chip Name"
TOTALS = frozenset({"Total Count", "Card Count"})
"""Keys that say whose values a block holds, and of what a list begins."""

ERROR_TEXTS = "Error Information"

_SEPARATOR = " :"
_LONGEST_KEY = 60

_NO_PROCESS = "No process in device."
_PROCESS = re.compile(r"Process id:(\d{1,10}) +Process name:.*Process memory\(MB\):(\d{1,19})")
_TALK = ("Failed to ", "Get pid name failed")
"""What npu-smi says among the values."""


@dataclass
class Block:
    """The values of one chip, of a card's controller, or of the card.

    Attributes:
        line: its first.
        last: its last.
        values: key -> value.
        texts: the values of ERROR_TEXTS, which stand on a line each.
        processes: None where the page does not tell of any.
        talk: what npu-smi says of its own failures.
    """

    line: int
    last: int = 0
    values: dict[str, str] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    processes: list[ProcessMemory] | None = None
    talk: list[str] = field(default_factory=list)

    @property
    def is_controller(self) -> bool:
        """Whether it is of the card's controller or CPU, which is no chip."""
        return self.values.get(NAME, "").upper() in MCUS

    def number(self, key: str) -> int | None:
        """The number under a key; None where the block has no such key.

        Raises:
            EvidenceError: it is no number.
        """
        if key not in self.values:
            return None
        found = number_of(self.values[key])
        if found is None:
            raise EvidenceError(self.line, f"{key} is {self.values[key][:40]!r}")
        return found


def key_of(line: str) -> str | None:
    """The key of a line "key : value"; None where it is none."""
    key, separator, _ = line.partition(_SEPARATOR)
    key = key.strip()
    return key if separator and len(key) <= _LONGEST_KEY else None


def value_of(line: str) -> str:
    """Its value."""
    return line.partition(_SEPARATOR)[2].strip()


def read_blocks(lines: Sequence[str]) -> tuple[list[Block], int]:
    """The blocks of a page, and the line after it.

    A blank line ends a block, unless a list of texts goes on after it.

    Raises:
        EvidenceError: a key stands twice in a block.
    """
    blocks = [Block(0)]
    blank = False
    end = 0
    for place, line in enumerate(lines):
        if not line.strip():
            blank = True
            continue
        key = key_of(line)
        if place and (key == NPU or key in TOTALS):
            break
        if blank and key != "" and _is_filled(blocks[-1]):
            blocks.append(Block(place))
        if not _take(blocks[-1], key, line, place):
            break
        blank = False
        blocks[-1].last = place
        end = place + 1
    return _of_one_page([block for block in blocks if _is_filled(block)], end)


def _of_one_page(blocks: list[Block], end: int) -> tuple[list[Block], int]:
    """The blocks without those after the last chip's that name no chip: another page's.

    A card's label is one block, which ends with the number of its chips.
    """
    label = blocks[0] if blocks else None
    if label and COUNT in label.values and CHIP not in label.values and _tells(label):
        return blocks[:1], blocks[1].line if len(blocks) > 1 else end
    total = next((number_of(block.values.get(COUNT, "")) for block in blocks), None)
    chips = 0
    for place, block in enumerate(blocks):
        if place and chips == total and CHIP not in block.values and not block.is_controller:
            return blocks[:place], block.line
        chips += CHIP in block.values
    return blocks, end


def _is_filled(block: Block) -> bool:
    return bool(block.values or block.talk) or block.processes is not None


def _take(block: Block, key: str | None, line: str, place: int) -> bool:
    """Adds a line to a block; False where it is none of the page."""
    text = line.strip()
    if text == _NO_PROCESS:
        block.processes = block.processes or []
    elif text.startswith("Process id:"):
        block.processes = block.processes or []
        block.processes.append(_process(text, place))
    elif text.startswith(_TALK):
        block.talk.append(text)
    elif key is None or (key == "" and not block.texts):
        return False
    elif key == "":
        block.texts.append(value_of(line))
    else:
        if key in block.values:
            raise EvidenceError(place, f"{key} stands twice in one block")
        block.values[key] = value_of(line)
        if key == ERROR_TEXTS:
            block.texts.append(value_of(line))
    return True


def _process(text: str, place: int) -> ProcessMemory:
    found = _PROCESS.fullmatch(text)
    pid = None if found is None else or_none(partial(count, found[1]))
    if found is None or pid is None or not 0 < pid < 1 << 31:
        raise EvidenceError(place, "a process that cannot be read")
    return ProcessMemory(pid, memory_of(found[2]))


def chips_of(blocks: Sequence[Block], card: int) -> Iterator[tuple[int, Block]]:
    """The blocks of a card's chips, each with the chip's number.

    Raises:
        EvidenceError: a block does not say of which chip it is, or two are of one.
    """
    numbered = any(COUNT in block.values or CHIP in block.values for block in blocks)
    seen: set[int] = set()
    for block in blocks:
        if block.is_controller or not _tells(block):
            continue
        number = block.number(CHIP)
        if number is None and numbered:
            raise EvidenceError(
                block.last, f"NPU {card}: values of no chip: the page is cut off, or damaged"
            )
        number = number or 0  # the 950 has no cards: it does not print the chip's number
        if number in seen:
            raise EvidenceError(block.line, f"NPU {card}: chip {number} stands twice")
        seen.add(number)
        yield number, block


def _tells(block: Block) -> bool:
    """Whether a block holds more than whose it is."""
    return bool(block.values.keys() - {NPU, COUNT, CHIP, NAME}) or block.processes is not None
