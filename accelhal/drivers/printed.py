"""Figures as vendors' tools print them: in the unit that is due, or None with the reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from accelhal.drivers.readings import Facts, NotReportedError, collect

MEBIBYTE = 1 << 20
"""What vendors' tools print as MB and as MiB alike: 2**20 bytes."""

_QUOTED = 40
"""Characters of a text that reasons quote."""

_NO_VALUE = frozenset({"", "-", "--", "/", "NA", "N/A", "[N/A]"})

_MASKED = re.compile(r"X{2}|x{2}|\*{2}")
"""What people write over names that they do not show."""

_DECIMAL = re.compile(r"-?\d{1,15}(?:\.\d{1,6})?", re.ASCII)
_COUNT = re.compile(r"\d{1,19}", re.ASCII)
_PCI_ADDRESS = re.compile(
    r"([0-9a-f]{4,8}):([0-9a-f]{2}):([01][0-9a-f])\.([0-7])", re.IGNORECASE | re.ASCII
)


def shown(kind: type[Facts], readers: Mapping[str, Callable[[], Any]], page: str) -> Facts:
    """An instance of a facts class out of the figures that a page shows.

    Args:
        kind: the class.
        readers: field -> the reader of its figure. What it raises as NotReportedError is the
            reason why the field is None.
        page: the command that prints the page.
    """
    found: Any = collect(kind, readers)
    reasons = {name: why for name, why in found.reasons.items() if name in readers}
    return replace(found, reasons={**reasons, "*": f"{page} does not show it"})  # type: ignore[no-any-return]


def not_shown(text: str) -> NotReportedError:
    """The reason why a text is no figure."""
    quoted = text if len(text) <= _QUOTED else text[:_QUOTED] + "…"
    return NotReportedError(f"the tool prints {quoted!r}")


def number(text: str, unit: str = "") -> float:
    """A figure that stands before its unit.

    Raises:
        NotReportedError: it does not.
    """
    figure = text.strip()
    if not figure.endswith(unit):
        raise not_shown(figure)
    found = _DECIMAL.fullmatch(figure.removesuffix(unit).rstrip())
    if found is None:
        raise not_shown(figure)
    return float(found[0])


def count(text: str, unit: str = "") -> int:
    """A whole number, not negative, that stands before its unit.

    Raises:
        NotReportedError: it does not.
    """
    figure = text.strip()
    found = _COUNT.fullmatch(figure.removesuffix(unit).rstrip())
    if found is None or not figure.endswith(unit):
        raise not_shown(figure)
    return int(found[0])


def word(text: str) -> str:
    """A name or version.

    Raises:
        NotReportedError: it stands for none, or is masked.
    """
    name = text.strip()
    if name in _NO_VALUE or _MASKED.search(name):
        raise not_shown(name)
    return name


def pci_address(text: str) -> str:
    """domain:bus:device.function as the kernel writes it.

    Raises:
        NotReportedError: the text is none.
    """
    found = _PCI_ADDRESS.fullmatch(text.strip())
    if found is None:
        raise not_shown(text.strip())
    return f"{int(found[1], 16):04x}:{found[2]}:{found[3]}.{found[4]}".lower()


def cells(line: str) -> list[str] | None:
    """What stands between the bars of a table's row, spaces made one; None where it is no row."""
    row = line.strip()
    if len(row) < 2 or row[0] != "|" or row[-1] != "|":
        return None
    return [" ".join(cell.split()) for cell in row[1:-1].split("|")]


def is_frame(line: str) -> bool:
    """Whether a line is one that a table is drawn with ("+----+====+", "|====+====|")."""
    row = line.strip()
    return len(row) > 2 and row[0] in "+|" and not row.strip("+-=|")
