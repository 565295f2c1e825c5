"""Reading a visible-devices variable the way its vendor's runtime reads it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class MaskProblem(str, Enum):
    """What is wrong with an entry of the variable."""

    NOT_A_DEVICE = "not_a_device"
    EMPTY_ENTRY = "empty_entry"
    NEGATIVE = "negative"
    OUT_OF_RANGE = "out_of_range"
    DUPLICATE = "duplicate"
    NOT_ASCENDING = "not_ascending"
    MIXED = "mixed"


@dataclass(frozen=True)
class MaskEntryProblem:
    """An entry at fault, and how."""

    entry: str
    problem: MaskProblem


@dataclass(frozen=True)
class Mask:
    """A variable's value as its vendor's runtime understands it.

    Attributes:
        variable: the variable's name.
        value: its text.
        entries: the ids that take effect, in order; position is torch's index.
        problem: what ends or empties the list, or None.
    """

    variable: str
    value: str
    entries: tuple[str, ...]
    problem: MaskEntryProblem | None = None


@dataclass(frozen=True)
class VisibleDevices:
    """The grammar of one variable.

    All three vendors read a comma-separated list and let the first entry they do not understand
    end it; a repeated entry makes them show no device at all.

    Attributes:
        variable: its name.
        identifier: regular expression of the entries accepted beside integers; "" for none.
        ascending: True where integers out of order make the runtime show no device.
    """

    variable: str
    identifier: str = ""
    ascending: bool = False

    def parse(self, value: str, count: int | None = None) -> Mask:
        """Read `value`; `count` boards of the host, where known, bounds the integers."""
        text = value.strip()
        if not text:
            return Mask(self.variable, value, ())
        entries: list[str] = []
        for raw in text.split(","):
            entry = raw.strip()
            problem = self._problem(entry, entries, count)
            if problem is None:
                entries.append(entry)
                continue
            emptied = problem in (MaskProblem.DUPLICATE, MaskProblem.NOT_ASCENDING)
            kept = () if emptied else tuple(entries)
            return Mask(self.variable, value, kept, MaskEntryProblem(entry, problem))
        return Mask(self.variable, value, tuple(entries))

    def _problem(self, entry: str, before: list[str], count: int | None) -> MaskProblem | None:
        if not entry:
            return MaskProblem.EMPTY_ENTRY
        number = _integer(entry)
        if number is None:
            if not (self.identifier and re.fullmatch(self.identifier, entry)):
                return MaskProblem.NOT_A_DEVICE
            if before and _integer(before[0]) is not None:
                return MaskProblem.MIXED
            return MaskProblem.DUPLICATE if entry in before else None
        if number < 0:
            return MaskProblem.NEGATIVE
        if before and _integer(before[0]) is None:
            return MaskProblem.MIXED
        if count is not None and number >= count:
            return MaskProblem.OUT_OF_RANGE
        numbers = [int(other) for other in before]
        if number in numbers:
            return MaskProblem.DUPLICATE
        if self.ascending and numbers and number < numbers[-1]:
            return MaskProblem.NOT_ASCENDING
        return None


def active_mask(
    variables: tuple[VisibleDevices, ...], environ: Mapping[str, str], count: int | None = None
) -> Mask | None:
    """The mask in force: the first variable of `variables` that is set, or None when none is."""
    for variable in variables:
        if variable.variable in environ:
            return variable.parse(environ[variable.variable], count)
    return None


def _integer(entry: str) -> int | None:
    return int(entry) if re.fullmatch(r"[+-]?[0-9]+", entry) else None
