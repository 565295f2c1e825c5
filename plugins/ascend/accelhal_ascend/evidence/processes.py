"""The table of processes that `npu-smi info` prints below that of the chips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from accelhal.drivers.printed import MEBIBYTE, cells, count, is_frame
from accelhal.drivers.readings import in_range, or_none
from accelhal.facts import BoardReading, ProcessMemory
from accelhal.spi import EvidenceError, EvidenceReader, Section
from accelhal_ascend.evidence.chips import chip, evidence, number_of

_PAGE = "npu-smi info"
_HEADINGS = ["Process id", "Process name", "Process memory(MB)"]
_INNER_ID = "Process id in container"
_OWNERS = {"NPU Chip": 2, "NPU ID": 1}
"""First heading -> the numbers below it: card and chip, or of the 950 the card alone."""

_NONE_FOUND = "No running processes found in NPU "

_MAX_PID = (1 << 31) - 1


@dataclass(frozen=True)
class Processes:
    """Which processes there are.

    Attributes:
        held: (card, chip) -> the processes on it.
        cards: the cards that the table tells of.
        end: the line after it.
        notes: what it shows and is not read.
    """

    held: Mapping[tuple[int, int], Sequence[ProcessMemory]]
    cards: Sequence[int]
    end: int
    notes: Sequence[str] = ()

    def of(self, card: int, number: int) -> tuple[ProcessMemory, ...] | None:
        """Those on a chip; None where the table does not tell of its card."""
        return tuple(self.held.get((card, number), ())) if card in self.cards else None


def _begins(line: str) -> bool:
    return "|" in line and "Process id" in line and "Process memory(MB)" in line


def _read(lines: Sequence[str]) -> Section:
    found = read_processes(lines, 0)
    # Chips are numbered from 0: every card has that one.
    chips = dict.fromkeys((*((card, 0) for card in found.cards), *found.held))
    boards = [
        BoardReading(chip(card, number), processes=found.of(card, number))
        for card, number in sorted(chips)
    ]
    return Section(evidence(_PAGE, boards, notes=found.notes), found.end)


def read_processes(lines: Sequence[str], start: int) -> Processes:
    """The table that begins on a line.

    Raises:
        EvidenceError: there is none, or it is damaged.
    """
    head = cells(lines[start]) if start < len(lines) else None
    if head is None or head[0] not in _OWNERS or head[1:4] != _HEADINGS:
        raise EvidenceError(start, "headings that are not known")
    if head[4:] not in ([], [_INNER_ID]):
        raise EvidenceError(start, f"a heading that is not known: {head[4][:60]!r}")
    held: dict[tuple[int, int], list[ProcessMemory]] = {}
    cards: dict[int, None] = {}
    open_rows = False
    place = start + 1
    while place < len(lines):
        if is_frame(lines[place]):
            open_rows = False
        else:
            row = cells(lines[place])
            if row is None and lines[place].lstrip().startswith("|"):
                raise EvidenceError(place, "a row that is cut off")
            if row is None:
                break
            if row[0].startswith(_NONE_FOUND):
                card = number_of(row[0].removeprefix(_NONE_FOUND))
                if card is None or len(row) != 1:
                    raise EvidenceError(place, "the NPU's number cannot be read")
                cards[card] = None
            else:
                owner, process = _process(row, head, place)
                held.setdefault(owner, []).append(process)
                cards[owner[0]] = None
                open_rows = True
        place += 1
    if not cards:
        raise EvidenceError(place - 1, "the table of processes has no rows")
    if open_rows:
        raise EvidenceError(place - 1, "the table of processes is cut off")
    notes = [f"{_PAGE} also shows {_INNER_ID}."] if head[4:] else []
    return Processes(held, list(cards), place, notes)


def _process(row: list[str], head: list[str], line: int) -> tuple[tuple[int, int], ProcessMemory]:
    if len(row) != len(head):
        raise EvidenceError(line, f"{len(row)} cells in a row where {len(head)} are due")
    owner = [number_of(text) for text in row[0].split()]
    pid = or_none(partial(count, row[1]))
    if len(owner) != _OWNERS[head[0]] or pid is None or not 0 < pid <= _MAX_PID:
        raise EvidenceError(line, "the process's numbers cannot be read")
    card, number = owner[0], owner[1] if len(owner) > 1 else 0
    if card is None or number is None:
        raise EvidenceError(line, "the chip's numbers cannot be read")
    return (card, number), ProcessMemory(pid, memory_of(row[3]))


def memory_of(text: str) -> int | None:
    """Bytes of what npu-smi prints in MB."""
    return or_none(lambda: int(in_range("memory_used", count(text) * MEBIBYTE)))


PROCESSES = EvidenceReader(_PAGE, _begins, _read)
