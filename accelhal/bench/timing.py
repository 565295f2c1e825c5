"""Timing a step: warm up, then single steps for the latencies, then a burst for throughput."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from accelhal.bench.clock import Clock, Step
from accelhal.errors import AccelhalError

WARM_UP_ITERATIONS = 3
"""First calls choose kernels, fill caches and grow the allocator's pool."""

WARM_UP_SHARE = 0.2
"""Share of the row's time given to the warm-up."""

MIN_ITERATIONS = 10
"""Latencies to take even where the time is up, so that a percentile means something."""

PATIENCE = 5.0
"""A slow model may take this many times the asked time to reach MIN_ITERATIONS, then stops."""


@dataclass(frozen=True)
class Latency:
    """Percentiles of the time of one batch, in milliseconds."""

    min: float
    p50: float
    p95: float
    p99: float


@dataclass(frozen=True)
class Timing:
    """What a row's clock said.

    Attributes:
        iterations: latencies taken.
        latency: their percentiles.
        batches_per_s: batches a second, submitted back to back.
    """

    iterations: int
    latency: Latency
    batches_per_s: float


def summarize(latencies_ms: Sequence[float]) -> Latency:
    """Percentiles by linear interpolation between the closest ranks (numpy's default)."""
    p50, p95, p99 = np.percentile(latencies_ms, (50, 95, 99))
    return Latency(float(min(latencies_ms)), float(p50), float(p95), float(p99))


def time_steps(step: Step, clock: Clock, seconds: float) -> Timing:
    """Time a step on the current, idle device.

    Half of the time goes to single steps, each waited for: what a request to an idle device sees.
    The other half goes to steps submitted back to back: what a saturated device delivers.

    Raises:
        AccelhalError: the clock stood still.
    """
    _repeat(lambda: clock.time(step), seconds * WARM_UP_SHARE, WARM_UP_ITERATIONS)
    started = time.perf_counter()
    latencies = _repeat(lambda: clock.time(step), seconds / 2, MIN_ITERATIONS)
    wall_per_step = (time.perf_counter() - started) / len(latencies)
    repeats = max(1, math.ceil(seconds / 2 / wall_per_step))
    total_ms = clock.time(step, repeats)
    if total_ms <= 0:
        raise AccelhalError(
            f"the clock ({clock.name}) measured no time over {repeats} batches", operation="bench"
        )
    return Timing(len(latencies), summarize(latencies), repeats / total_ms * 1e3)


def _repeat(action: Callable[[], float], seconds: float, minimum: int) -> list[float]:
    """Values of an action called for `seconds` and `minimum` times, within PATIENCE."""
    values: list[float] = []
    started = time.perf_counter()
    while True:
        values.append(action())
        elapsed = time.perf_counter() - started
        if elapsed >= seconds * PATIENCE or (elapsed >= seconds and len(values) >= minimum):
            return values
