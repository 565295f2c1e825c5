"""A page of a host: how it begins, and what it shows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from accelhal.evidence.snapshot import Snapshot
from accelhal.facts.host_record import HostRecord

PROMPT = re.compile(r"\s*(?:\S+ )?\S*[$#>] +(?P<command>\S.*)$")
"""A shell's prompt with the command that was typed."""


@dataclass(frozen=True)
class Shown:
    """What a page shows of a host.

    Attributes:
        snapshot: the parts that it speaks of.
        length: its lines, counted from its first.
    """

    snapshot: Snapshot
    length: int


@dataclass(frozen=True)
class HostPage:
    """Reads one page, wherever it stands in a text.

    Attributes:
        tool: the command that prints it.
        begins: whether a page of this kind begins with a line.
        read: what the lines show that begin with it; None where it goes on as another.
    """

    tool: str
    begins: Callable[[str], bool]
    read: Callable[[Sequence[str]], Shown | None]


def of_record(length: int, **record: object) -> Shown:
    """A page that shows parts of the host's record."""
    return Shown(Snapshot(record=HostRecord(**record)), length)  # type: ignore[arg-type]


def run_of(lines: Sequence[str], pattern: re.Pattern[str]) -> list[re.Match[str]]:
    """The matches of the lines from the first on that match, without a gap."""
    return [found for found in takewhile(bool, map(pattern.match, _each(lines))) if found]


def output(lines: Sequence[str]) -> list[str]:
    """The lines after a prompt, up to the next."""
    return list(takewhile(lambda line: PROMPT.match(line) is None, _each(lines, 1)))


def _each(lines: Sequence[str], first: int = 0) -> Iterator[str]:
    return (lines[place] for place in range(first, len(lines)))
