"""Whether a job really ran on a board for the whole window; nothing else is judged."""

from __future__ import annotations

from collections.abc import Sequence

from accelhal.doctor.thresholds import HELD_SHARE, IDLE_POWER_SHARE, WINDOW_S
from accelhal.doctor.watching.window import BoardWindow, mean

_NEARLY = 0.95
"""Of the window: the last sample may be missing."""

_ABOVE_IDLE = 1.1
"""Of the power of a board at rest: readings of boards at rest differ by less."""


def no_process(window: BoardWindow) -> str:
    """Why nothing is said of a job on the board: too short a look, or nobody on it; else empty."""
    if window.covered_s < _NEARLY * WINDOW_S:
        return f"{window.covered_s:.0f} s of samples, and {WINDOW_S:.0f} s are needed"
    if window.pids or _is_held(window):
        return ""
    if window.pids is None:
        return "the driver does not list the processes on it"
    return "no process was on it for the whole time"


def no_job(window: BoardWindow, boards: Sequence[BoardWindow]) -> str:
    """The same, and empty only where the board drew more than at rest.

    Args:
        window: the board.
        boards: all boards, among which one of its model may be at rest.
    """
    reason = no_process(window)
    if reason:
        return reason
    share = window.power_share
    if share is None:
        return "" if window.mean("utilization") else "neither its power nor its utilisation is seen"
    if share <= _idle_share(window, boards):
        return f"it drew {share:.0%} of its power limit, as at rest"
    return ""


def _is_held(window: BoardWindow) -> bool:
    """Whether somebody unseen holds much of its memory: containers hide others' processes."""
    seen = [(t.memory_used, t.memory_total) for t in window.telemetry]
    return bool(seen) and all(used and total and used > HELD_SHARE * total for used, total in seen)


def _idle_share(window: BoardWindow, boards: Sequence[BoardWindow]) -> float:
    """Share of the power limit that the board draws at rest, by its siblings at rest."""
    mine = window.reading.board
    at_rest = [
        share
        for other in boards
        if other is not window
        and (other.reading.board.backend, other.reading.board.name) == (mine.backend, mine.name)
        and not other.pids
        and other.mean("utilization") == 0
        and (share := other.power_share) is not None
    ]
    typical = mean(at_rest)
    return IDLE_POWER_SHARE if typical is None else _ABOVE_IDLE * typical
