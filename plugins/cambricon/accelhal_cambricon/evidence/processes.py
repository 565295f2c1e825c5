"""The table of processes that `cnmon` prints below that of the cards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from accelhal.drivers.printed import MEBIBYTE, cells, count, is_frame
from accelhal.drivers.readings import in_range, or_none
from accelhal.facts import BoardReading, ProcessMemory
from accelhal.spi import EvidenceError, EvidenceReader, Section
from accelhal_cambricon.evidence.cards import card, evidence, number_of

_PAGE = "cnmon"
_TITLE = "Processes:"
_HEADINGS = frozenset(
    {
        "Card VF PID Command Line MLU Memory Usage",
        "Card MI PID Command Line MLU Memory Usage",
    }
)
_NONE_FOUND = "No running processes found"

_WORDS_BEFORE_COMMAND, _WORDS_AFTER = 3, 2
_MAX_PID = (1 << 31) - 1


@dataclass(frozen=True)
class Processes:
    """Which processes there are.

    Attributes:
        held: card -> the processes on it.
        end: the line after the table.
    """

    held: Mapping[int, Sequence[ProcessMemory]]
    end: int

    def of(self, number: int) -> tuple[ProcessMemory, ...]:
        """Those on a card: one table is of all cards."""
        return tuple(self.held.get(number, ()))


def _begins(line: str) -> bool:
    # The title above says nothing of whose processes they are: nvidia-smi prints the same.
    return "MLU Memory Usage" in line and _is_head(cells(line))


def _is_head(row: list[str] | None) -> bool:
    return row is not None and len(row) == 1 and row[0] in _HEADINGS


def _read(lines: Sequence[str]) -> Section:
    found = _read_rows(lines, 0)
    boards = [
        BoardReading(card(number), processes=found.of(number)) for number in sorted(found.held)
    ]
    return Section(evidence(_PAGE, boards), found.end)


def read_processes(lines: Sequence[str], start: int) -> Processes:
    """The table whose title stands on a line.

    Raises:
        EvidenceError: there is none, or it is damaged.
    """
    if start >= len(lines) or cells(lines[start]) != [_TITLE]:
        raise EvidenceError(start, "no table of processes")
    return _read_rows(lines, start + 1)


def _read_rows(lines: Sequence[str], start: int) -> Processes:
    if start >= len(lines) or not _is_head(cells(lines[start])):
        raise EvidenceError(start, "headings that are not known")
    held: dict[int, list[ProcessMemory]] = {}
    rows = 0
    place = start + 1
    while place < len(lines):
        if is_frame(lines[place]):
            if rows:
                return Processes(held, place + 1)
        else:
            row = cells(lines[place])
            if row is None:
                break
            rows += 1
            if row != [_NONE_FOUND]:
                number, process = _process(row, place)
                held.setdefault(number, []).append(process)
        place += 1
    raise EvidenceError(min(place, len(lines) - 1), "the table of processes is cut off")


def _process(row: list[str], line: int) -> tuple[int, ProcessMemory]:
    words = row[0].split()
    # A command line may hold a bar: what stands at either end is the row's.
    ends = row[-1].split()[-_WORDS_AFTER:]
    number = number_of(words[0]) if len(words) > _WORDS_BEFORE_COMMAND - 1 else None
    pid = or_none(partial(count, words[2])) if number is not None else None
    if number is None or pid is None or not 0 < pid <= _MAX_PID or len(ends) < _WORDS_AFTER:
        raise EvidenceError(line, "a process that cannot be read")
    return number, ProcessMemory(pid, memory_of(" ".join(ends)))


def memory_of(text: str) -> int | None:
    """Bytes of what cnmon prints in MiB."""
    return or_none(lambda: int(in_range("memory_used", count(text, "MiB") * MEBIBYTE)))


PROCESSES = EvidenceReader(_PAGE, _begins, _read)
