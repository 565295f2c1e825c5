"""How a plugin reads the captured output of its vendor's tools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from accelhal.facts import Evidence


class EvidenceError(ValueError):
    """A section that begins as a known one and does not go on as one.

    Attributes:
        line: the line at fault, counted from 0 at the section's first.
        reason: what is wrong with it.
    """

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


@dataclass(frozen=True)
class Section:
    """A section that was read.

    Attributes:
        evidence: what it shows.
        length: the lines that belong to it, counted from its first.
    """

    evidence: Evidence
    length: int


@dataclass(frozen=True)
class EvidenceReader:
    """Reads one page of one tool, wherever it stands in a text.

    The extension `evidence_readers` names a tuple of these; the first that begins on a line reads.

    Attributes:
        tool: the command that prints it ("npu-smi info -t topo").
        begins: whether a section of this kind begins with a line.
        read: the section that the lines begin with; the lines after it may be anything. It takes
            only what it understands, invents no value, and raises EvidenceError where the section
            is cut off, damaged, or of a layout it does not know.
    """

    tool: str
    begins: Callable[[str], bool]
    read: Callable[[Sequence[str]], Section]
