"""Where a row of a plugin's table was read, and how far to trust it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Strength(str, Enum):
    """How good a source is, best first."""

    VENDOR_DOCUMENT = "vendor document"
    PROJECT_DOCUMENT = "project document"
    PUBLIC_REPORT = "public report"
    UNVERIFIED = "from general knowledge, unverified"


@dataclass(frozen=True)
class Source:
    """Where a fact was read.

    Attributes:
        text: document, file or thread, so that a reader can find it.
        date: when it was read or published ("2026-11").
        strength: no check may fail on what is UNVERIFIED.
    """

    text: str
    date: str
    strength: Strength
