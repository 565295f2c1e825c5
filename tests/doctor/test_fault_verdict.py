"""What a board's faults and memory errors add up to."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from accelhal.doctor.fault_verdict import judge_boards, judge_faults, judge_memory_errors
from accelhal.facts import FindingState, MemoryErrors
from accelhal.facts.faults import Fault, FaultAction, FaultEvent, FaultSeverity
from accelhal.facts.sources import Source, Strength

SOURCE = Source("a page", "2026-11", Strength.VENDOR_DOCUMENT)


def fault(code: str, severity: str, action: str) -> Fault:
    return Fault(
        family="alarm",
        code=code,
        meaning="it broke",
        severity=FaultSeverity(severity),
        action=FaultAction(action),
        source=SOURCE,
    )


JOB = fault("31", "error", "app")
NOTE = fault("45", "info", "none")
RATE = fault("92", "warning", "none")
HALT = fault("62", "fatal", "reset")
LOST = fault("79", "fatal", "reboot")
DEAD = fault("99", "fatal", "rma")


def event(of: Fault, restarts: int = 0, time: float | None = None, board: str = "a") -> FaultEvent:
    return FaultEvent(fault=of, board=board, time=time, restarts=restarts)


def test_without_faults_all_is_well() -> None:
    verdict = judge_faults([])
    assert (verdict.state, verdict.action, verdict.worst) == (
        FindingState.OK,
        FaultAction.NONE,
        None,
    )


@pytest.mark.parametrize(
    ("seen", "worst", "state"),
    [
        ([NOTE], NOTE, FindingState.INFO),
        ([NOTE, JOB, JOB], JOB, FindingState.INFO),
        ([JOB, RATE, NOTE], RATE, FindingState.WARN),
        ([HALT, JOB], HALT, FindingState.FAIL),
        ([HALT, LOST, RATE], LOST, FindingState.FAIL),
        ([LOST, DEAD], DEAD, FindingState.FAIL),
    ],
)
def test_the_gravest_decides(seen: list[Fault], worst: Fault, state: FindingState) -> None:
    verdict = judge_faults(map(event, seen))
    assert (verdict.worst, verdict.state, verdict.action) == (worst, state, worst.action)
    assert verdict.count == seen.count(worst)
    assert verdict.marks_board is (state is FindingState.FAIL)


@given(st.lists(st.sampled_from([JOB, NOTE]), min_size=1, max_size=50), st.integers(0, 3))
def test_faults_of_jobs_never_mark_the_board(seen: list[Fault], restarts: int) -> None:
    verdict = judge_faults(event(one, n % (restarts + 1)) for n, one in enumerate(seen))
    assert not verdict.marks_board
    assert verdict.state in (FindingState.OK, FindingState.INFO)


def test_a_restart_clears_what_was_before_it() -> None:
    assert judge_faults([event(HALT)], restarts=1).state is FindingState.OK
    assert judge_faults([event(HALT, 1)], restarts=1).state is FindingState.FAIL


@pytest.mark.parametrize(
    ("restarts", "action"), [(0, "reset"), (1, "reset"), (2, "rma"), (3, "rma")]
)
def test_what_comes_back_after_restarts_wants_another_board(restarts: int, action: str) -> None:
    verdict = judge_faults([event(HALT, n) for n in range(restarts + 1)], restarts=restarts)
    assert (verdict.returns, verdict.action.value) == (restarts, action)


def test_how_often_may_be_chosen() -> None:
    seen = [event(HALT, 0), event(HALT, 1)]
    assert judge_faults(seen, restarts=1, returns_before_rma=1).action is FaultAction.RMA


def test_what_a_job_does_again_and_again_replaces_no_board() -> None:
    verdict = judge_faults([event(JOB, n) for n in range(9)], restarts=8)
    assert verdict.action is FaultAction.APP


def test_a_fault_that_no_reset_cures_decides_over_a_new_one() -> None:
    seen = [*(event(HALT, n) for n in range(3)), event(LOST, 2)]
    verdict = judge_faults(seen, restarts=2)
    assert (verdict.worst, verdict.action) == (HALT, FaultAction.RMA)


def test_only_the_window_counts() -> None:
    seen = [event(HALT, time=100.0), event(RATE, time=900.0)]
    assert judge_faults(seen, since=500.0).worst == RATE
    assert judge_faults([event(HALT)], since=500.0).worst == HALT


def test_each_board_is_judged_by_its_own_faults() -> None:
    verdicts = judge_boards([event(HALT, board="a"), event(JOB, board="b")])
    assert {board: one.marks_board for board, one in verdicts.items()} == {"a": True, "b": False}


def test_errors_over_the_boards_life_are_history() -> None:
    healed = MemoryErrors(
        corrected=0, uncorrected=0, corrected_total=7, uncorrected_total=3, repaired=2
    )
    assert judge_memory_errors(healed).state is FindingState.OK
    assert judge_memory_errors(MemoryErrors()).state is FindingState.OK


@pytest.mark.parametrize(
    ("errors", "state", "action"),
    [
        (MemoryErrors(uncorrected=1), FindingState.FAIL, FaultAction.RESET),
        (MemoryErrors(repair_pending=True), FindingState.WARN, FaultAction.RESET),
        (MemoryErrors(uncorrected=1, repair_failed=True), FindingState.FAIL, FaultAction.RMA),
    ],
)
def test_errors_since_the_driver_loaded_and_repairs_are_the_present(
    errors: MemoryErrors, state: FindingState, action: FaultAction
) -> None:
    verdict = judge_memory_errors(errors)
    assert (verdict.state, verdict.action) == (state, action)


@pytest.mark.parametrize(
    ("before", "now", "state"),
    [(0, 10, FindingState.OK), (0, 11, FindingState.WARN), (500, 3, FindingState.OK)],
)
def test_corrected_errors_are_judged_by_growth(before: int, now: int, state: FindingState) -> None:
    verdict = judge_memory_errors(MemoryErrors(corrected=now), MemoryErrors(corrected=before))
    assert verdict.state is state
    assert judge_memory_errors(MemoryErrors(corrected=now)).state is FindingState.OK
