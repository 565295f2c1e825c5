"""What holds boards with a job back: low clocks, and errors of memory that come meanwhile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from accelhal.doctor.checks.links import AT_REST
from accelhal.doctor.checks.performance_jobs import job_check, judged, not_read
from accelhal.doctor.facts import Facts
from accelhal.doctor.fault_verdict import GROWTH_OF_CORRECTED
from accelhal.doctor.thresholds import AT_LIMIT_SHARE, THROTTLED_SHARE, WORKING_POWER_SHARE
from accelhal.doctor.watching.window import BoardWindow
from accelhal.facts import Finding, FindingState, MemoryErrors
from accelhal.spi.doctor import Check, Cost

_THROTTLE, _ERRORS = "perf.throttle", "perf.memory_errors"

_CHOSEN = frozenset({"application_clocks", "display_clock", "sync_boost"})
"""Reasons that somebody set."""


def _throttling(facts: Facts, window: BoardWindow) -> Iterator[Finding]:
    known = [t for t in window.telemetry if t.throttle_reasons is not None]
    if not known:
        yield not_read(_THROTTLE, window, "reasons for low clocks", "throttle_reasons")
        return
    held = [set(t.throttle_reasons or ()) - AT_REST for t in known]
    counts = Counter(reason for reasons in held for reason in reasons)
    params: dict[str, str | int | float] = {
        "reasons": ", ".join(reason for reason, _ in counts.most_common()),
        "share": f"{sum(map(bool, held)) / len(held):.0%}",
    }
    if sum(map(bool, held)) <= THROTTLED_SHARE * len(held):
        yield judged(_THROTTLE, "throttle.none", FindingState.OK, window, params)
        return
    by_itself = [_is_by_design(window, reason) for reason in counts]
    if all(by_itself):
        yield judged(_THROTTLE, "throttle.by_design", FindingState.INFO, window, params)
        return
    half = len(held) // 2
    params["trend"] = (
        "and more towards the end"
        if sum(map(bool, held[half:])) > sum(map(bool, held[:half]))
        else "and no more towards the end"
    )
    commands = ("accelhal doctor thermal.throttle thermal.air power.limit clock.reasons",)
    yield judged(_THROTTLE, "throttle.held_back", FindingState.WARN, window, params, commands)


def _is_by_design(window: BoardWindow, reason: str) -> bool:
    """Whether somebody set it, or the board works at the power limit it was delivered with."""
    if reason in _CHOSEN:
        return True
    details = window.reading.details
    default = details.default_power_limit if details else None
    limits = window.values("power_limit")
    share = window.power_share
    at_default = not default or not limits or min(limits) >= AT_LIMIT_SHARE * default
    return (
        reason.startswith("power")
        and "brake" not in reason
        and at_default
        and (share is not None and share >= WORKING_POWER_SHARE)
    )


def _memory_errors(facts: Facts) -> Iterator[Finding]:
    """Errors that came while the boards were watched; a job need not run."""
    for window in facts.watched:
        seen = window.memory_errors
        if len(seen) < 2:
            continue
        fatal, mended = _grown(seen, "uncorrected"), _grown(seen, "corrected")
        if fatal:
            code, state, count = "errors.uncorrected", FindingState.FAIL, fatal
        elif mended > GROWTH_OF_CORRECTED:
            code, state, count = "errors.corrected", FindingState.WARN, mended
        else:
            code, state, count = "errors.none", FindingState.OK, mended
        yield judged(
            _ERRORS,
            code,
            state,
            window,
            {"count": count, "seconds": round(window.covered_s)},
            () if state is FindingState.OK else ("accelhal doctor hw.ecc hw.remap",),
        )


def _grown(seen: Sequence[MemoryErrors], field: str) -> int:
    values: list[int] = [v for v in (getattr(errors, field) for errors in seen) if v is not None]
    return sum(max(0, after - before) for before, after in pairwise(values))


THROTTLE = job_check(
    _THROTTLE,
    "whether boards with a job are held back",
    "reasons for low clocks",
    _throttling,
    f"A reason in more than {THROTTLED_SHARE:.0%} of the samples is a warning. Clocks that "
    "somebody set, and work at the power limit the board was delivered with, are information.",
)

MEMORY_ERRORS = Check(
    _ERRORS,
    "Performance",
    "whether errors of the boards' memory grow while they are watched",
    ("counters of memory errors",),
    _memory_errors,
    Cost.WATCH,
    depends_on=("driver.nodes", "device.lost"),
    explanation=(
        "One uncorrected error more is a failure; more than "
        f"{GROWTH_OF_CORRECTED} corrected ones more are a warning (the limit of DCGM). What the "
        "counters showed before is judged by hw.ecc."
    ),
)
