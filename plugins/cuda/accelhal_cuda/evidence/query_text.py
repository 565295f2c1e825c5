"""Reads `nvidia-smi -q`: names and values, nested by indentation; whole or with `-d SECTION`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from accelhal.drivers.printed import pci_address
from accelhal.drivers.readings import NotReportedError
from accelhal.spi import EvidenceError, EvidenceReader, Section
from accelhal_cuda.evidence.pages import MAX_DEPTH, Page
from accelhal_cuda.evidence.query_boards import BoardPage, evidence

_TOOL = "nvidia-smi -q"
_TITLE = "=NVSMI LOG="
_BOARD = re.compile(r"GPU ([0-9A-Fa-f:.]+)", re.ASCII)
_ATTACHED = "Attached GPUs"

_WHOLE_PAGE = "Product Name"
_END_OF_WHOLE_PAGE = "Processes"
_SLICE = "MIG Device"


@dataclass(frozen=True)
class _Open:
    """A name whose parts are being read: what is indented deeper than it."""

    indent: int
    page: Page
    is_heading: bool

    def require_parts(self) -> None:
        """A heading over nothing is a line that was cut off, or none of this page."""
        if self.is_heading and not self.page.parts:
            raise EvidenceError(self.page.line, f"nothing under {self.page.name[:40]!r}")


def _begins(line: str) -> bool:
    return _TITLE in line


def _read(lines: Sequence[str]) -> Section:
    header, place = _header(lines)
    boards: list[BoardPage] = []
    start = place
    while start < len(lines) and (found := _BOARD.fullmatch(lines[start].rstrip())):
        page, place = _board(lines, start)
        boards.append(BoardPage(_address(found[1], start), page))
        start = _after_blank(lines, place)
    _require_whole(header, boards, place - 1)
    return Section(evidence(_TOOL, header, boards), place)


def _header(lines: Sequence[str]) -> tuple[Page, int]:
    """Names and values before the first board, and the line after them."""
    header = Page(_TOOL)
    place = _after_blank(lines, 1)
    while place < len(lines):
        name, value = _split(lines[place])
        if value is None or lines[place].startswith((" ", "\t")):
            break
        header.parts.append(Page(name, value, place))
        place = _after_blank(lines, place + 1)
    return header, place


def _board(lines: Sequence[str], start: int) -> tuple[Page, int]:
    """The page of a board, and the line after it: a blank one, or one that is not indented."""
    page = Page(lines[start].rstrip(), line=start)
    open_parts = [_Open(0, page, is_heading=True)]
    place = start + 1
    while place < len(lines) and lines[place].startswith(" ") and lines[place].strip():
        line = lines[place]
        indent = len(line) - len(line.lstrip(" "))
        while open_parts[-1].indent >= indent:
            open_parts.pop().require_parts()
        if len(open_parts) > MAX_DEPTH:
            raise EvidenceError(place, f"names nested deeper than {MAX_DEPTH}")
        name, value = _split(line)
        part = Page(name, value or "", place)
        open_parts[-1].page.parts.append(part)
        open_parts.append(_Open(indent, part, is_heading=value is None))
        place += 1
    while open_parts:
        open_parts.pop().require_parts()
    return page, place


def _address(text: str, line: int) -> str:
    try:
        return pci_address(text)
    except NotReportedError as reason:
        raise EvidenceError(line, f"the board's name is no address: {reason}") from None


def _require_whole(header: Page, boards: Sequence[BoardPage], last: int) -> None:
    """Refuse output that ends early: nothing marks its end, but the boards' pages are alike."""
    attached = header.part(_ATTACHED)
    if not boards and (attached is None or attached.value != "0"):
        raise EvidenceError(last, "cut off before the first board")
    alike = {part.name for part in boards[0].page.parts} - {_SLICE} if boards else set()
    for board in boards:
        names = {part.name for part in board.page.parts}
        # Only the whole page names the product; an excerpt has the same sections for each board.
        expected = {_END_OF_WHOLE_PAGE} if _WHOLE_PAGE in names else alike
        missing = expected - names
        if missing:
            line = last if board is boards[-1] else board.page.line
            raise EvidenceError(line, f"cut off: {board.page.name} lacks {sorted(missing)[0]!r}")


def _split(line: str) -> tuple[str, str | None]:
    """Name and value of a line; a heading has no value."""
    name, colon, value = line.partition(" : ")
    if colon:
        return name.strip(), value.strip()
    name = line.strip()
    return (name[:-2].rstrip(), "") if name.endswith(" :") else (name, None)


def _after_blank(lines: Sequence[str], place: int) -> int:
    """The next line that is not blank."""
    while place < len(lines) and not lines[place].strip():
        place += 1
    return place


QUERY_TEXT = EvidenceReader(_TOOL, _begins, _read)
