"""Reads `nvidia-smi -q -x`: XML of the schemas nvsmi_device_v10 to v13."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from xml.parsers import expat

from accelhal.drivers.printed import pci_address
from accelhal.drivers.readings import NotReportedError
from accelhal.spi import EvidenceError, EvidenceReader, Section
from accelhal_cuda.evidence.pages import MAX_DEPTH, Page
from accelhal_cuda.evidence.query_boards import BoardPage, evidence

_TOOL = "nvidia-smi -q -x"
_ROOT = "nvidia_smi_log"
_BOARD = "gpu"

_SCHEMA = re.compile(r"nvsmi_device_v(\d{1,3})\.dtd", re.ASCII)
_SCHEMAS = range(10, 14)
"""v10 is release 418's, v13 that of 560 to 610."""

_FIRST_LINES = 8
"""Lines given to the parser at once; each time twice as many. A name or a comment that goes on for
long is scanned anew with every piece, which in small pieces would take quadratic time."""


class _Finished(Exception):
    """The root element is closed."""


class _PrologError(EvidenceError):
    """What stands before the root element is refused, and the document with it."""


class _Document:
    """Takes the parser's events and keeps the tree."""

    def __init__(self) -> None:
        self.root: Page | None = None
        self.addresses: list[str] = []
        self._open: list[Page] = []
        self._text: list[list[str]] = []
        # The encoding is that of the text, whatever the declaration says.
        self._parser = expat.ParserCreate("utf-8")
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.EntityDeclHandler = self._entity
        self._parser.SkippedEntityHandler = self._entity

    @property
    def line(self) -> int:
        """Counted from 0."""
        return self._parser.CurrentLineNumber - 1

    def parse(self, lines: Sequence[str]) -> int:
        """The number of lines up to the end of the root element."""
        place, size = 0, _FIRST_LINES
        try:
            while place < len(lines):
                piece = "".join(f"{line}\n" for line in lines[place : place + size])
                if place == 0:
                    piece = piece.lstrip("\ufeff \t")
                self._parser.Parse(piece.encode("utf-8", "replace"), False)
                place, size = place + size, 2 * size
            self._parser.Parse(b"", True)
        except _Finished:
            return self.line + 1
        except expat.ExpatError as error:
            line = min(error.lineno - 1, len(lines) - 1)
            if place >= len(lines):
                raise EvidenceError(len(lines) - 1, f"cut off before </{_ROOT}>") from None
            raise EvidenceError(line, f"no XML: {expat.ErrorString(error.code)}") from None
        raise EvidenceError(len(lines) - 1, f"cut off before </{_ROOT}>")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        page = Page(name, line=self.line)
        if not self._open:
            if name != _ROOT:
                raise EvidenceError(self.line, f"an XML document of another kind: <{name[:40]}>")
            self.root = page
        elif len(self._open) >= MAX_DEPTH:
            raise EvidenceError(self.line, f"elements nested deeper than {MAX_DEPTH}")
        elif "".join(self._text[-1]).strip():
            raise EvidenceError(self.line, f"<{name[:40]}> follows text in its element")
        else:
            self._open[-1].parts.append(page)
        if name == _BOARD and len(self._open) == 1:
            self.addresses.append(attributes.get("id", ""))
        if self._text:
            self._text[-1].clear()  # white space
        self._open.append(page)
        self._text.append([])

    def _end(self, name: str) -> None:
        page = self._open.pop()
        page.value = "".join(self._text.pop()).strip()
        if not self._open:
            raise _Finished

    def _characters(self, data: str) -> None:
        if not data.isspace() and self._open and self._open[-1].parts:
            # A document that is cut off goes on with whatever follows it in the file.
            name = self._open[-1].name
            raise EvidenceError(self.line, f"text between the elements of <{name}>: {data[:40]!r}")
        if self._text:
            self._text[-1].append(data)

    def _doctype(self, name: str, system: str | None, public: str | None, subset: int) -> None:
        if subset:
            raise _PrologError(self.line, "its DOCTYPE brings declarations, which are not read")
        found = _SCHEMA.fullmatch(system or "")
        if found is None or int(found[1]) not in _SCHEMAS:
            known = f"v{_SCHEMAS[0]} to v{_SCHEMAS[-1]}"
            shown = (system or "")[:40]
            raise _PrologError(self.line, f"the schema {shown!r} is not known ({known} are)")

    def _entity(self, name: str, *_declared: Any) -> None:
        raise EvidenceError(self.line, f"the entity {name[:40]!r} is not expanded")


def _begins(line: str) -> bool:
    return line.lstrip("\ufeff \t").startswith(("<?xml", "<!DOCTYPE nvidia", "<nvidia_smi_log"))


def _read(lines: Sequence[str]) -> Section:
    document = _Document()
    try:
        length = document.parse(lines)
    except _PrologError as error:
        raise EvidenceError(_end(lines, error.line), error.reason) from None
    root = document.root
    assert root is not None
    boards = []
    for page, identifier in zip(root.all(_BOARD), document.addresses, strict=True):
        try:
            boards.append(BoardPage(pci_address(identifier), page))
        except NotReportedError as reason:
            raise EvidenceError(
                page.line, f"a <{_BOARD}> of which the id is no: {reason}"
            ) from None
    return Section(evidence(_TOOL, root, boards), length)


def _end(lines: Sequence[str], line: int) -> int:
    """Where a document that is refused ends, lest its root be taken for another's beginning."""
    for place in range(line, len(lines)):
        if f"</{_ROOT}>" in lines[place]:
            return place
        if place > line and _begins(lines[place]) and f"<{_ROOT}" not in lines[place]:
            break
    return line


QUERY_XML = EvidenceReader(_TOOL, _begins, _read)
