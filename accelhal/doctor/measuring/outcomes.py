"""What became of the measurement of one board: its figures, or why there are none."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from accelhal.facts import BoardReading
from accelhal.facts.measured import BoardFigures


class Outcome(str, Enum):
    """How the measurement of a board ended."""

    MEASURED = "measured"
    IN_USE = "in_use"  # left alone
    HIDDEN = "hidden"  # this process may not use it, or torch does not tell which device it is
    NOT_OPENED = "not_opened"  # torch or the backend did not load: not the board's failure
    FAILED = "failed"
    HUNG = "hung"


@dataclass(frozen=True)
class MeasuredBoard:
    """One board under --measure.

    Attributes:
        reading: the board as it was before.
        outcome: how it ended.
        figures: what was measured.
        detail: by what it is in use, or what went wrong.
        step: the step begun last.
    """

    reading: BoardReading
    outcome: Outcome
    figures: BoardFigures | None = None
    detail: str = ""
    step: str = ""
