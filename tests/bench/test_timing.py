"""Percentiles of known timings, and how long a measurement goes on; all on a simulated clock."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given, strategies as st

from accelhal.bench import timing as timing_module
from accelhal.bench.clock import ClockName
from accelhal.bench.timing import MIN_ITERATIONS, WARM_UP_ITERATIONS, summarize, time_steps
from accelhal.errors import AccelhalError


class SteadyClock:
    """A clock on which every step takes the same time; the host's time goes along."""

    name: ClockName = "host"

    def __init__(self, step_ms: float, monkeypatch: pytest.MonkeyPatch) -> None:
        self.step_ms = step_ms
        self.now = 0.0
        self.bursts: list[int] = []
        monkeypatch.setattr(timing_module, "time", SimpleNamespace(perf_counter=lambda: self.now))

    def time(self, step, repeats: int = 1) -> float:
        for _ in range(repeats):
            step()
        self.bursts.append(repeats)
        self.now += self.step_ms * repeats / 1e3
        return self.step_ms * repeats


def test_percentiles_of_one_to_a_hundred() -> None:
    latency = summarize([float(n) for n in range(100, 0, -1)])
    assert latency.min == 1
    assert latency.p50 == pytest.approx(50.5)
    assert latency.p95 == pytest.approx(95.05)
    assert latency.p99 == pytest.approx(99.01)


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=50), st.randoms())
def test_percentiles_are_ordered_and_do_not_depend_on_order(timings, random) -> None:
    latency = summarize(timings)
    slack = 1 + 1e-12  # interpolation rounds
    assert latency.min == min(timings)
    assert latency.min <= latency.p50 * slack
    assert latency.p50 <= latency.p95 * slack
    assert latency.p95 <= latency.p99 * slack
    assert latency.p99 <= max(timings) * slack
    assert summarize(random.sample(timings, len(timings))) == latency


def test_throughput_is_the_reciprocal_of_a_steady_step(monkeypatch: pytest.MonkeyPatch) -> None:
    timing = time_steps(lambda: None, SteadyClock(4.0, monkeypatch), seconds=1.0)
    assert timing.batches_per_s == pytest.approx(250)
    assert timing.latency.p50 == timing.latency.p99 == pytest.approx(4.0)


def test_the_time_is_shared_between_latencies_and_throughput(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = SteadyClock(10.0, monkeypatch)
    timing = time_steps(lambda: None, clock, seconds=2.0)
    assert timing.iterations == pytest.approx(100, abs=1)
    assert clock.bursts[-1] == pytest.approx(100, abs=1)
    assert clock.now == pytest.approx(2.0 + 0.4, abs=0.05)  # and a fifth for the warm-up


def test_a_short_run_still_takes_the_least_number_of_latencies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = SteadyClock(100.0, monkeypatch)
    timing = time_steps(lambda: None, clock, seconds=0.5)
    assert timing.iterations == MIN_ITERATIONS
    assert len(clock.bursts) == WARM_UP_ITERATIONS + MIN_ITERATIONS + 1


def test_a_slow_model_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SteadyClock(60_000.0, monkeypatch)
    timing = time_steps(lambda: None, clock, seconds=1.0)
    assert timing.iterations == 1
    assert clock.bursts == [1, 1, 1]


def test_a_clock_that_stands_still_is_an_error_not_an_infinite_rate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = SteadyClock(1.0, monkeypatch)
    clock.time = lambda step, repeats=1: setattr(clock, "now", clock.now + 1) or 0.0
    with pytest.raises(AccelhalError, match="measured no time"):
        time_steps(lambda: None, clock, seconds=1.0)
