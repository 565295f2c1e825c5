"""The pace of a device: smoothed, not upset by one slow step, and its launch told apart."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from accelhal.parallel.splitting.pace import MOST_CHANGE, Pace


def steps(pace: Pace, *observations: tuple[int, float]) -> None:
    for rows, seconds in observations:
        pace.observe(rows, seconds)
        pace.end_step()


def test_the_first_observation_pays_for_compiling():
    pace = Pace(alpha=0.3, warmup=1)
    steps(pace, (10, 99.0))
    assert pace.seconds_per_row is None
    steps(pace, (10, 1.0))
    assert pace.seconds_per_row == pytest.approx(0.1)


def test_pieces_of_a_step_count_together():
    pace = Pace(alpha=1.0, warmup=0)
    pace.observe(90, 9.0)
    pace.observe(10, 3.0)
    pace.end_step()
    assert pace.seconds_per_row == pytest.approx(0.12)


def test_first_steps_are_averaged_and_later_ones_smoothed():
    pace = Pace(alpha=0.3, warmup=0)
    steps(pace, (1, 1.0), (1, 2.0), (1, 3.0))
    assert pace.seconds_per_row == pytest.approx(2.0)
    steps(pace, (1, 2.0), (1, 3.0))
    assert pace.seconds_per_row == pytest.approx(2.3)


def test_one_step_that_hangs_is_cut():
    pace = Pace(alpha=0.3, warmup=0)
    steps(pace, *[(1, 1.0)] * 5, (1, 1000.0))
    assert pace.seconds_per_row == pytest.approx(0.7 + 0.3 * MOST_CHANGE)
    steps(pace, *[(1, 1.0)] * 8)
    assert pace.seconds_per_row < 1.05


def test_a_lasting_change_is_followed():
    pace = Pace(alpha=0.3, warmup=0)
    steps(pace, *[(1, 1.0)] * 5, *[(1, 10.0)] * 15)
    assert pace.seconds_per_row == pytest.approx(10, rel=0.1)


@given(st.floats(1e-6, 1.0), st.floats(1e-6, 1.0))
def test_the_launch_is_told_from_the_rows(fixed, each):
    pace = Pace(alpha=0.3, warmup=0)
    for rows in (100, 20, 5, 1):
        pace.observe(rows, fixed + each * rows)
    expected = pytest.approx(fixed, rel=1e-3, abs=1e-3 * each)
    assert pace.launch_seconds is None or pace.launch_seconds == expected
    assert pace.launch_seconds is not None or fixed > 100 * each


def test_sizes_that_are_alike_tell_nothing_of_the_launch():
    pace = Pace(alpha=0.3, warmup=0)
    assert pace.launch_seconds is None
    steps(pace, *[(64, 1.0), (65, 1.01)] * 10)
    assert pace.launch_seconds is None
