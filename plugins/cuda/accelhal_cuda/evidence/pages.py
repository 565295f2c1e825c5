"""A page of nested names and values: `nvidia-smi -q` prints the same in two spellings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from accelhal.drivers.printed import not_shown
from accelhal.drivers.readings import NotReportedError
from accelhal_cuda.evidence.words import NOT_SHOWN

Value = TypeVar("Value")

MAX_DEPTH = 16
"""Real pages nest seven deep."""


@dataclass
class Page:
    """A name with a value or with parts.

    Attributes:
        name: the tool's label or tag.
        value: the tool's word, empty where there are only parts.
        line: where it stands in the section.
        parts: what is nested under it, in the tool's order.
    """

    name: str
    value: str = ""
    line: int = 0
    parts: list[Page] = field(default_factory=list)

    def part(self, name: str) -> Page | None:
        """The first part of that name."""
        return next((part for part in self.parts if part.name == name), None)

    def all(self, name: str) -> list[Page]:
        """Every part of that name."""
        return [part for part in self.parts if part.name == name]

    def read(self, read: Callable[[str], Value]) -> Value:
        """Its value.

        Raises:
            NotReportedError: it has none; its name and the tool's words for it.
        """
        try:
            return read(self.value)
        except NotReportedError as reason:
            raise NotReportedError(f"{self.name}: {reason}") from None

    def walk(self) -> Iterator[Page]:
        """The page and everything under it."""
        yield self
        for part in self.parts:
            yield from part.walk()


def node(page: Page, paths: Sequence[str]) -> Page | None:
    """What stands at the first of the paths that is there."""
    for path in paths:
        place: Page | None = page
        for step in path.split("/"):
            place = place and place.part(step)
        if place is not None:
            return place
    return None


def value(page: Page, paths: Sequence[str], read: Callable[[str], Value]) -> Value:
    """What the first of the paths says that is there and has a value.

    Args:
        page: where the paths begin.
        paths: names joined by "/": releases and spellings differ in them.
        read: makes a value of the tool's word.

    Raises:
        NotReportedError: none has a value; the tool's words for it.
    """
    reasons = []
    for path in paths:
        place = page
        for step in path.split("/"):
            inner = place.part(step)
            if inner is None:
                break
            place = inner
        else:
            try:
                return place.read(read)
            except NotReportedError as reason:
                reasons.append(str(reason))
                continue
        if place is not page and place.value and not place.parts:
            # A word in the place of parts stands for each of them.
            reasons.append(f"{place.name}: {not_shown(place.value)}")
    raise NotReportedError("; ".join(dict.fromkeys(reasons)) or NOT_SHOWN)
