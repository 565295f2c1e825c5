"""Captured output of vendors' tools: each section read by the plugin that knows the tool."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import overload

from accelhal.errors import described
from accelhal.evidence.host_pages.page import HostPage, Shown
from accelhal.evidence.messages import MOST_CHARACTERS
from accelhal.evidence.snapshot import Snapshot
from accelhal.facts import Evidence
from accelhal.spi import EvidenceError, EvidenceReader

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
"""Control sequences of terminals (ECMA-48), which some tools print into files too."""

_REMARK = re.compile(r"\s*(?:#|(?:\S+ )?\S*(?:[$#>]|(?<!\d)%)\s)")
"""What people put between the tools' output: remarks, and the prompt with the command.

A figure in percent is no prompt.
"""

_SHOWN = 60
"""Characters of a line that are quoted."""


@dataclass(frozen=True)
class ReadSection:
    """A section that a reader took.

    Attributes:
        file: where it stands.
        line: its first line there, counted from 1.
        count: how many lines it has.
        evidence: what it shows.
    """

    file: str
    line: int
    count: int
    evidence: Evidence


@dataclass(frozen=True)
class ReadPage:
    """A page of the host that was read.

    Attributes:
        line: its first line, counted from 1.
        count: how many lines it has.
        snapshot: what it shows.
    """

    line: int
    count: int
    snapshot: Snapshot


@dataclass(frozen=True)
class Unread:
    """Lines that were not read, and why.

    Attributes:
        file: where they stand.
        line: the first of them, counted from 1.
        count: how many.
        reason: one sentence.
    """

    file: str
    line: int
    count: int
    reason: str

    def __str__(self) -> str:
        lines = "line" if self.count == 1 else "lines"
        last = "" if self.count == 1 else f" to {self.line + self.count - 1}"
        return f"{self.file}, {lines} {self.line}{last}: {self.reason}"


@dataclass(frozen=True)
class Capture:
    """What was found in a text, in its order.

    Attributes:
        sections: what vendors' tools show of boards.
        unread: what was not read.
        pages: what else is shown of the host.
        messages: lines that say what failed, wherever they stand.
    """

    sections: tuple[ReadSection, ...]
    unread: tuple[Unread, ...]
    pages: tuple[ReadPage, ...] = ()
    messages: tuple[str, ...] = ()


class _Rest(Sequence[str]):
    """The lines from a place on; a copy for every section would take quadratic time."""

    def __init__(self, lines: Sequence[str], start: int) -> None:
        self._lines = lines
        self._start = start

    def __len__(self) -> int:
        return len(self._lines) - self._start

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...
    def __getitem__(self, place: int | slice) -> str | Sequence[str]:
        if isinstance(place, slice):
            return [self._lines[self._start + at] for at in range(*place.indices(len(self)))]
        at = range(len(self))[place]
        return self._lines[self._start + at]


def read_capture(
    file: str,
    text: str,
    readers: Sequence[EvidenceReader],
    pages: Sequence[HostPage] = (),
    is_message: Callable[[str], bool] = lambda line: False,
) -> Capture:
    """Every section of the text that a reader knows; the rest is named, never dropped in silence.

    Args:
        file: the text's name, for messages.
        text: output of any tools, one after the other, with anything between.
        readers: the plugins'; on each line the first that begins there reads.
        pages: of the host, tried where no reader begins.
        is_message: whether a line is to be kept on its own.
    """
    lines = _ESCAPES.sub("", text).splitlines()
    sections: list[ReadSection] = []
    unread: list[Unread] = []
    skipped: list[int] = []
    shown_pages: list[ReadPage] = []
    messages = [line.strip()[:MOST_CHARACTERS] for line in lines if is_message(line)]

    def close_gap() -> None:
        shown = [
            place
            for place in skipped
            if any(map(str.isalnum, lines[place])) and not is_message(lines[place])
        ]
        said = [place for place in shown if not _REMARK.match(lines[place])]
        if said:
            first = lines[said[0]].strip()
            quoted = first if len(first) <= _SHOWN else first[:_SHOWN] + "…"
            count = shown[-1] - shown[0] + 1
            unread.append(Unread(file, shown[0] + 1, count, f"of no tool known here: {quoted!r}"))
        skipped.clear()

    def page_at(place: int) -> Shown | None:
        of_line = [page for page in pages if page.begins(lines[place])]
        return next(filter(None, (page.read(_Rest(lines, place)) for page in of_line)), None)

    def reader_of(line: str) -> EvidenceReader | None:
        return next((reader for reader in readers if reader.begins(line)), None)

    place = 0
    while place < len(lines):
        reader = reader_of(lines[place])
        if reader is None:
            page = page_at(place)
            if page is None:
                skipped.append(place)
                place += 1
                continue
            close_gap()
            length = max(1, page.length)
            shown_pages.append(ReadPage(place + 1, length, page.snapshot))
            place += length
            continue
        close_gap()
        try:
            section = reader.read(_Rest(lines, place))
        except EvidenceError as error:
            fault = min(place + max(0, error.line), len(lines) - 1)
            unread.append(Unread(file, fault + 1, 1, f"{reader.tool}: {error.reason}"))
            # A section that is cut off ends where the next begins.
            place = fault if fault > place and reader_of(lines[fault]) else fault + 1
        except Exception as error:  # a plugin's reader raises what it likes
            reason = f"{reader.tool}: its reader failed: {described(error)}"
            unread.append(Unread(file, place + 1, 1, reason))
            place += 1
        else:
            length = max(1, section.length)
            sections.append(ReadSection(file, place + 1, length, section.evidence))
            place += length
    close_gap()
    return Capture(
        tuple(sections), tuple(unread), tuple(shown_pages), tuple(dict.fromkeys(messages))
    )
