"""What a board's faults and memory errors add up to: one rule for every vendor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from accelhal.facts import FindingState, MemoryErrors
from accelhal.facts.faults import Fault, FaultAction, FaultEvent, FaultSeverity, FaultVerdict

RETURNS_BEFORE_RMA = 2
"""A fault that came back after so many restarts is not cured by another: what gpud takes."""

GROWTH_OF_CORRECTED = 10
"""Corrected memory errors in a window above which DCGM warns."""

_SEVERITIES = tuple(FaultSeverity)
_ACTIONS = tuple(FaultAction)

_RESTARTING = (FaultAction.RESET, FaultAction.REBOOT)


def judge_faults(
    events: Iterable[FaultEvent],
    *,
    restarts: int = 0,
    since: float | None = None,
    returns_before_rma: int = RETURNS_BEFORE_RMA,
) -> FaultVerdict:
    """What the faults of one board add up to.

    The gravest fault since the last restart decides; what a restart cleared counts only towards
    "it came back". A fault of jobs never marks the board.

    Args:
        events: of one board, from as long ago as is known.
        restarts: how many resets or restarts the record shows in all.
        since: seconds since the host's last start from which faults count; events without a time
            always do.
        returns_before_rma: after how many returns of one fault the board is to be replaced.
    """
    seen = list(events)
    now = [
        event
        for event in seen
        if event.restarts == restarts
        and (since is None or event.time is None or event.time >= since)
    ]
    if not now:
        return FaultVerdict(state=FindingState.OK, action=FaultAction.NONE)
    returns = {event.fault: _returns(event.fault, seen) for event in now}
    worst = max(returns, key=lambda fault: _gravity(fault, returns[fault] >= returns_before_rma))
    hopeless = worst.action in _RESTARTING and returns[worst] >= returns_before_rma
    state = _state(worst)
    return FaultVerdict(
        state=state,
        action=FaultAction.RMA if hopeless else worst.action,
        worst=worst,
        count=sum(event.fault == worst for event in now),
        returns=returns[worst],
        marks_board=state is FindingState.FAIL,
    )


def judge_boards(
    events: Iterable[FaultEvent],
    *,
    restarts: int = 0,
    since: float | None = None,
    returns_before_rma: int = RETURNS_BEFORE_RMA,
) -> Mapping[str | None, FaultVerdict]:
    """Every board that the events name, each judged by its own; None: lines that name none."""
    by_board: dict[str | None, list[FaultEvent]] = {}
    for event in events:
        by_board.setdefault(event.board, []).append(event)
    return {
        board: judge_faults(
            own, restarts=restarts, since=since, returns_before_rma=returns_before_rma
        )
        for board, own in by_board.items()
    }


def judge_memory_errors(errors: MemoryErrors, earlier: MemoryErrors | None = None) -> FaultVerdict:
    """What a board's memory errors ask for.

    Totals over the board's life are history: only errors since the driver was loaded, growth since
    an earlier look, and repairs that wait or failed say how the board is now.
    """
    grown = 0
    if earlier is not None and errors.corrected is not None and earlier.corrected is not None:
        grown = errors.corrected - earlier.corrected  # negative after a reload of the driver
    if errors.repair_failed:
        return _memory(FindingState.FAIL, FaultAction.RMA, errors.repaired)
    if errors.uncorrected:
        return _memory(FindingState.FAIL, FaultAction.RESET, errors.uncorrected)
    if errors.repair_pending:
        return _memory(FindingState.WARN, FaultAction.RESET, errors.repaired)
    if grown > GROWTH_OF_CORRECTED:
        return _memory(FindingState.WARN, FaultAction.COLLECT, grown)
    return _memory(FindingState.OK, FaultAction.NONE, 0)


def _memory(state: FindingState, action: FaultAction, count: int | None) -> FaultVerdict:
    return FaultVerdict(
        state=state, action=action, count=count or 0, marks_board=state is FindingState.FAIL
    )


def _returns(fault: Fault, events: Sequence[FaultEvent]) -> int:
    """After how many restarts a fault was seen again."""
    return len({event.restarts for event in events if event.fault == fault}) - 1


def _gravity(fault: Fault, hopeless: bool) -> tuple[int, int, int]:
    """Faults of jobs are below all others, whatever they did to the job."""
    of_board = fault.action not in (FaultAction.APP, FaultAction.CONFIG)
    replace = hopeless and fault.action in _RESTARTING
    return (
        of_board and fault.severity is not FaultSeverity.INFO,
        _SEVERITIES.index(fault.severity),
        len(_ACTIONS) if replace else _ACTIONS.index(fault.action),
    )


def _state(fault: Fault) -> FindingState:
    if fault.action in (FaultAction.APP, FaultAction.CONFIG):
        return FindingState.INFO
    if fault.severity is FaultSeverity.INFO:
        return FindingState.INFO
    return FindingState.WARN if fault.severity is FaultSeverity.WARNING else FindingState.FAIL
