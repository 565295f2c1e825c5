"""How long work takes by a board's figures, and what its sensors show of it."""

from __future__ import annotations

import pytest
from accelhal_mock.profiles import load_profile
from accelhal_mock.simulation import CostModel
from accelhal_mock.simulation.faults.catalogue import make_fault
from hypothesis import given, strategies as st
from simulated_machine import make_machine

A100, H100 = load_profile("a100-80g"), load_profile("h100")


def test_small_work_costs_its_launch():
    assert CostModel(A100).kernel(0) == A100.launch_cost


def test_work_is_bound_by_memory_or_by_arithmetic():
    cost = CostModel(A100)
    assert cost.kernel(2039 * 10**6, 1e6) == pytest.approx(A100.launch_cost + 1e-3)
    assert cost.kernel(1000, 312e9, "float16") == pytest.approx(A100.launch_cost + 1e-3)
    assert cost.kernel(1000, 312e9, "float32") == pytest.approx(A100.launch_cost + 16e-3)


@given(st.integers(0, 10**12), st.floats(0, 1e18), st.sampled_from(["float32", "bfloat16"]))
def test_more_work_never_takes_less_time(nbytes, operations, dtype):
    cost = CostModel(A100)
    assert cost.kernel(nbytes, operations, dtype) <= cost.kernel(nbytes + 1, operations + 1, dtype)


@given(st.integers(0, 10**12), st.floats(0, 1e18))
def test_a_faster_board_is_never_slower(nbytes, operations):
    fast, slow = CostModel(H100), CostModel(A100)
    assert fast.kernel(nbytes, operations) <= slow.kernel(nbytes, operations)


def test_a_copy_over_the_link_is_faster_than_through_the_host():
    linked = CostModel(A100).peer_copy(10**9, A100)
    unlinked = CostModel(A100).peer_copy(10**9, load_profile("t4"))
    assert linked - A100.launch_cost == pytest.approx(1 / 300)
    assert unlinked - A100.launch_cost == pytest.approx(1e9 / load_profile("t4").pcie.bandwidth())


# ---- sensors


@pytest.fixture
def board():
    return make_machine().board(0)


def work(board, seconds):
    board.default_stream.launch("kernel", seconds)
    board.synchronize()


def test_a_board_at_rest_is_cool(board):
    reading = board.sensors.read()
    assert reading.temperature == A100.thermals.idle
    assert reading.power == A100.power_idle
    assert reading.utilization == 0.0
    assert reading.throttle_reasons == ()


def test_load_warms_the_board_and_rest_cools_it(board):
    work(board, 10.0)
    warm = board.sensors.read()
    assert warm.utilization == 1.0
    assert warm.power == A100.power_limit
    assert A100.thermals.idle < warm.temperature < A100.thermals.full_load
    work(board, 1000.0)
    assert board.sensors.read().temperature == pytest.approx(A100.thermals.full_load)
    board.machine.clock.advance(1000.0)
    rested = board.sensors.read()
    assert rested.temperature == pytest.approx(A100.thermals.idle)
    assert rested.core_clock < warm.core_clock
    assert rested.utilization == 0.0


def test_half_the_load_is_half_the_utilisation(board):
    work(board, 5.0)
    board.machine.clock.advance(5.0)
    reading = board.sensors.read()
    assert reading.utilization == pytest.approx(0.5)
    assert reading.power == pytest.approx((A100.power_idle + A100.power_limit) / 2)


def test_queued_work_is_no_load_before_its_time(board):
    board.default_stream.launch("kernel", 100.0)
    board.machine.clock.advance(10.0)
    assert board.sensors.read().utilization == pytest.approx(1.0)
    assert board.worked(board.machine.clock.now()) == pytest.approx(10.0)


def test_work_that_hangs_keeps_the_board_busy(board):
    work(board, 5.0)
    board.inject(make_fault("hang"))
    board.default_stream.launch("kernel", 1.0)
    board.machine.clock.advance(100.0)
    hung = board.sensors.read()
    assert hung.utilization == 1.0
    assert hung.power < 0.35 * hung.power_limit, "it polls, and computes nothing"
    board.clear_faults()
    board.machine.clock.advance(100.0)
    assert board.sensors.read().utilization < 0.1


def test_reading_twice_reads_the_same(board):
    work(board, 3.0)
    assert board.sensors.read() == board.sensors.read()


@given(st.lists(st.tuples(st.floats(0.001, 100), st.floats(0, 100)), max_size=20))
def test_temperature_and_power_stay_within_the_profiles(phases):
    board = make_machine().board(0)
    for busy, idle in phases:
        work(board, busy)
        board.machine.clock.advance(idle)
        reading = board.sensors.read()
        assert A100.thermals.idle <= reading.temperature <= A100.thermals.full_load
        assert A100.power_idle <= reading.power <= A100.power_limit
        assert 0.0 <= reading.utilization <= 1.0


def test_throttling_shows_its_reason_heat_and_clock(board):
    work(board, 1.0)
    before = board.sensors.read()
    board.inject(make_fault("thermal_throttle", factor=2))
    board.inject(make_fault("power_cap", factor=2))
    reading = board.sensors.read()
    assert reading.throttle_reasons == ("thermal", "power")
    assert reading.temperature >= A100.thermals.slowdown
    assert reading.core_clock == before.core_clock / 4
    assert reading.power == A100.power_limit
