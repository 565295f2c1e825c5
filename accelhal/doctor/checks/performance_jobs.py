"""Findings about the boards on which a job ran while they were watched; what has none, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from accelhal.doctor.board_names import board_name
from accelhal.doctor.facts import Facts
from accelhal.doctor.thresholds import WINDOW_S
from accelhal.doctor.watching.job import no_job
from accelhal.doctor.watching.window import BoardWindow
from accelhal.facts import Finding, FindingState
from accelhal.spi.doctor import Check, Cost

Judge = Callable[[Facts, BoardWindow], Iterator[Finding]]


def each_job(check: str, judge: Judge, facts: Facts) -> Iterator[Finding]:
    """What is judged of the boards on which a job ran for the whole window."""
    windows = facts.watched
    if not windows:
        yield Finding(check, "watch.no_board", FindingState.SKIP)
    for window in windows:
        reason = no_job(window, windows)
        if reason:
            yield not_judged(check, window, reason)
        else:
            yield from judge(facts, window)


def not_judged(check: str, window: BoardWindow, reason: str) -> Finding:
    """A board of which nothing is said, and why."""
    longer = (f"accelhal doctor --watch 60 {check}",) if window.covered_s < WINDOW_S else ()
    return Finding(
        check,
        "watch.no_job",
        FindingState.SKIP,
        {"reason": reason},
        board_name(window.reading),
        commands=longer,
    )


def not_read(check: str, window: BoardWindow, what: str, field: str) -> Finding:
    """A figure of Telemetry that no sample has."""
    reasons = [t.reasons.get(field) or t.reasons.get("*") for t in window.telemetry]
    return Finding(
        check,
        "watch.not_read",
        FindingState.UNKNOWN,
        {"what": what, "reason": next(filter(None, reasons), "the driver did not answer")},
        board_name(window.reading),
    )


def judged(
    check: str,
    code: str,
    state: FindingState,
    window: BoardWindow,
    params: dict[str, str | int | float],
    commands: Sequence[str] = (),
) -> Finding:
    """What the samples of a board say."""
    return Finding(
        check,
        code,
        state,
        params,
        board_name(window.reading),
        {"samples": f"{len(window.samples)} in {window.covered_s:.0f} s"},
        tuple(commands),
        confidence="certain" if state is FindingState.OK else "likely",
    )


_ONLY_JOBS = (
    "Judged only where a process was on the board for the whole window, for at least "
    f"{WINDOW_S:.0f} s, and the board drew more power than at rest."
)

_LOWER = ("driver.nodes", "device.lost", "perf.spin")


def job_check(check_id: str, title: str, reads: str, judge: Judge, explanation: str) -> Check:
    """A check of --watch that judges jobs."""
    return Check(
        check_id,
        "Performance",
        title,
        (reads, "the processes on the boards"),
        partial(each_job, check_id, judge),
        Cost.WATCH,
        depends_on=_LOWER,
        explanation=f"{explanation} {_ONLY_JOBS}",
    )
