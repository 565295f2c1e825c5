"""The frame of the `nvidia-smi` table: borders, rows and cells."""

from __future__ import annotations

from collections.abc import Sequence

from accelhal.drivers.printed import is_frame
from accelhal.spi import EvidenceError

_ELISIONS = frozenset({"...", "[...]", "…", "[…]"})
"""What people put where they cut a table off."""

_WIDTH = 300
"""Characters of a row; the widest layout has 91."""

_GAP = 3
"""Blank lines between the tables of one output: one, and some in the oldest releases."""


class Rows:
    """A place in the table's lines.

    Attributes:
        place: the next line.
    """

    def __init__(self, lines: Sequence[str], place: int = 0) -> None:
        self._lines = lines
        self.place = place

    def is_border(self) -> bool:
        """Whether the next line is a border."""
        return is_frame(self._next())

    def is_row(self) -> bool:
        """Whether the next line is a row."""
        line = self._next()
        return line.startswith("|") and line.endswith("|") and len(line) > 1

    def row(self) -> str:
        """What stands between the outermost bars of the next line.

        Raises:
            EvidenceError: it is no row.
        """
        if not self.is_row() or self.is_border():
            raise self.error("the table is cut off or damaged: no row here")
        line = self._next()
        if len(line) > _WIDTH:
            raise self.error(f"a row of {len(line)} characters")
        self.place += 1
        return line[1:-1]

    def cells(self, count: int) -> list[str]:
        """The cells of the next row.

        Raises:
            EvidenceError: it is no row, or one of another number of cells.
        """
        cells = [cell.strip() for cell in self.row().split("|")]
        if len(cells) != count:
            self.place -= 1
            raise self.error(f"a row of {len(cells)} cells where {count} were expected")
        return cells

    def row_says(self, message: str) -> bool:
        """Go past the next row if that is all it says."""
        says = self._next().strip("| ") == message
        self.place += says
        return says

    def border(self) -> None:
        """Go past a border.

        Raises:
            EvidenceError: there is none.
        """
        if not self.is_border():
            raise self.error("the table is cut off or damaged: no border here")
        self.place += 1

    def refuse_elision(self) -> None:
        """Refuse a table that somebody shortened.

        Raises:
            EvidenceError: dots stand in the place of its rest.
        """
        if self._next() in _ELISIONS:
            raise self.error("the table is cut off")

    def find_table(self, title: str) -> bool:
        """Go into a further table of the same output, past its title, if it is the next."""
        place = self.place
        while self.place - place <= _GAP and self.place < len(self._lines) and not self._next():
            self.place += 1
        if self.is_border():
            self.place += 1
            if self.place == len(self._lines):
                raise self.error("the output is cut off")
            if self.is_row() and self._next()[1:].strip().startswith(title):
                self.place += 1
                return True
        self.place = place
        return False

    def error(self, reason: str) -> EvidenceError:
        """An error at the next line, or at the last where there is none."""
        return EvidenceError(min(self.place, len(self._lines) - 1), reason)

    def _next(self) -> str:
        return self._lines[self.place].strip() if self.place < len(self._lines) else ""
