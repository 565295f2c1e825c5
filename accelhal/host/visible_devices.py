"""Reading a visible-devices variable the way its vendor's runtime reads it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
    UNKNOWN = "unknown"
    AMBIGUOUS = "ambiguous"


_EXPLANATION: Mapping[MaskProblem, str] = {
    MaskProblem.NOT_A_DEVICE: "{entry!r} is no device id, and ends the list",
    MaskProblem.EMPTY_ENTRY: "an empty entry ends the list",
    MaskProblem.NEGATIVE: "{entry!r} is negative, and ends the list",
    MaskProblem.OUT_OF_RANGE: "there is no device {entry!r}, and the list ends before it",
    MaskProblem.DUPLICATE: "{entry!r} is named twice, which hides every device",
    MaskProblem.NOT_ASCENDING: "{entry!r} is out of order, which hides every device",
    MaskProblem.MIXED: "{entry!r} mixes integers and ids, and ends the list",
    MaskProblem.UNKNOWN: "no board is called {entry!r}, and the list ends before it",
    MaskProblem.AMBIGUOUS: "several boards' ids begin with {entry!r}, and the list ends before it",
}


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


def explain(mask: Mask) -> str:
    """What the variable does, in one sentence; it starts with NAME='value'."""
    if mask.problem is not None:
        what = _EXPLANATION[mask.problem.problem].format(entry=mask.problem.entry)
    elif mask.entries:
        what = f"shows {', '.join(mask.entries)}"
    else:
        what = "hides every device"
    return f"{mask.variable}={mask.value!r}: {what}"


class Remainder(str, Enum):
    """What a runtime makes of text that follows an integer in its entry ("1x")."""

    REFUSED = "refused"  # the entry is no device, and ends the list
    IGNORED = "ignored"  # the integer counts, the list goes on
    ENDS = "ends"  # the integer counts, and the list ends with it


@dataclass(frozen=True)
class IdentifierList:
    """A list of ids in the place of integers; both patterns are matched at the start.

    Attributes:
        value: regular expression of a value that is such a list.
        entry: regular expression of an entry that belongs to it.
    """

    value: str
    entry: str


@dataclass(frozen=True)
class VisibleDevices:
    """The grammar of one variable: a comma-separated list.

    In every vendor's runtime the first entry it does not understand ends the list, and a repeated
    one makes it show no device at all.

    Attributes:
        variable: its name.
        identifiers: the lists of ids it accepts in the place of integers.
        blanks: whether blanks around an integer are skipped.
        signs: whether an integer may carry a sign ("+3", and "-0" for 0).
        remainder: what is made of text after an integer.
        ascending: whether integers out of order make the runtime show no device.
    """

    variable: str
    identifiers: tuple[IdentifierList, ...] = ()
    blanks: bool = True
    signs: bool = False
    remainder: Remainder = Remainder.REFUSED
    ascending: bool = False

    def parse(self, value: str, count: int | None = None) -> Mask:
        """Read `value`; `count` boards of the host, where known, bounds the integers."""
        if not value.strip():
            return Mask(self.variable, value, ())
        form = next((form for form in self.identifiers if _starts(form.value, value)), None)
        if form is not None:
            entries, problem = _read_identifiers(value, form)
        else:
            numbers, problem = self._read_integers(value)
            if problem is None or problem.problem is not MaskProblem.DUPLICATE:
                numbers, bound = self._visible(numbers, count)
                problem = bound or problem
            entries = [str(number) for number in numbers]
        return Mask(self.variable, value, tuple(entries), problem)

    def _read_integers(self, value: str) -> tuple[list[int], MaskEntryProblem | None]:
        numbers: list[int] = []
        for raw in value.split(","):
            entry = raw.strip() if self.blanks else raw
            found = re.match(r"[+-]?[0-9]+" if self.signs else r"[0-9]+", entry)
            rest = entry[found.end() :] if found else ""
            if found is None or (rest and self.remainder is Remainder.REFUSED):
                return numbers, MaskEntryProblem(raw, self._not_an_integer(entry))
            number = _clamped(found[0])
            if number < 0:
                return numbers, MaskEntryProblem(raw, MaskProblem.NEGATIVE)
            if number in numbers and not self.ascending:
                return [], MaskEntryProblem(raw, MaskProblem.DUPLICATE)
            numbers.append(number)
            if rest and self.remainder is Remainder.ENDS:
                return numbers, MaskEntryProblem(raw, MaskProblem.NOT_A_DEVICE)
        return numbers, None

    def _not_an_integer(self, entry: str) -> MaskProblem:
        if not entry:
            return MaskProblem.EMPTY_ENTRY
        if re.fullmatch(r"-[0-9]+", entry):
            return MaskProblem.NEGATIVE
        if any(_starts(form.entry, entry) for form in self.identifiers):
            return MaskProblem.MIXED
        return MaskProblem.NOT_A_DEVICE

    def _visible(
        self, numbers: list[int], count: int | None
    ) -> tuple[list[int], MaskEntryProblem | None]:
        """The integers up to the first that no board has; a wrong order before it empties all."""
        for position, number in enumerate(numbers):
            if self.ascending and position and number <= numbers[position - 1]:
                same = number == numbers[position - 1]
                problem = MaskProblem.DUPLICATE if same else MaskProblem.NOT_ASCENDING
                return [], MaskEntryProblem(str(number), problem)
            if count is not None and number >= count:
                return numbers[:position], MaskEntryProblem(str(number), MaskProblem.OUT_OF_RANGE)
        return numbers, None


def active_mask(
    variables: tuple[VisibleDevices, ...], environ: Mapping[str, str], count: int | None = None
) -> Mask | None:
    """The mask in force: the first variable of `variables` that is set, or None when none is."""
    for variable in variables:
        if variable.variable in environ:
            return variable.parse(environ[variable.variable], count)
    return None


def matched(mask: Mask, identifiers: Sequence[str], *, abbreviated: bool = False) -> Mask:
    """The mask with its ids looked up among those that the driver lists, each in full.

    As with integers, the first entry that is none of them ends the list, and one that is named
    twice hides every device.

    Args:
        mask: of ids.
        identifiers: of the boards that are there.
        abbreviated: whether the beginning of an id stands for it where no other begins so.
    """
    found: list[str] = []
    for entry in mask.entries:
        called = [known for known in identifiers if known == entry]
        if abbreviated and not called:
            called = [known for known in identifiers if known.startswith(entry)]
        if len(called) != 1:
            problem = MaskProblem.AMBIGUOUS if called else MaskProblem.UNKNOWN
            return replace(mask, entries=tuple(found), problem=MaskEntryProblem(entry, problem))
        if called[0] in found:
            problem = MaskProblem.DUPLICATE
            return replace(mask, entries=(), problem=MaskEntryProblem(entry, problem))
        found += called
    return replace(mask, entries=tuple(found))


def _read_identifiers(
    value: str, form: IdentifierList
) -> tuple[list[str], MaskEntryProblem | None]:
    entries: list[str] = []
    for entry in value.split(","):
        if entry in entries:
            return [], MaskEntryProblem(entry, MaskProblem.DUPLICATE)
        if not _starts(form.entry, entry):
            mixed = entry.strip().isdecimal()
            problem = MaskProblem.MIXED if mixed else MaskProblem.NOT_A_DEVICE
            return entries, MaskEntryProblem(entry, problem if entry else MaskProblem.EMPTY_ENTRY)
        entries.append(entry)
    return entries, None


def _clamped(digits: str) -> int:
    """The integer, cut at 20 digits (strtoul's range); Python itself refuses thousands of them."""
    sign = "-" if digits.startswith("-") else ""
    return int(sign + (digits.lstrip("+-0")[:20] or "0"))


def _starts(pattern: str, text: str) -> bool:
    return re.match(pattern, text, re.DOTALL) is not None
