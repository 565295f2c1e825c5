"""What a policy makes of devices of given speeds, in simulated time: nothing runs, nothing sleeps.

The model: a launch of n rows on a device of speed v takes

    (launch + (n + half) / v) * J_step * J_launch

sample-times: the time of one row on a device of speed 1. `launch` is what a launch costs whatever
its size, `half` the batch at which a device is half as efficient as with large ones. Both jitters
are log-normal with the same sigma: one of the device for a whole step (clocks, other programs), one
of each launch.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from accelhal.parallel.splitting.splitter import BatchSplitter, Policy


@dataclass(frozen=True)
class Scenario:
    """Devices, and how they behave.

    Attributes:
        speeds: relative speed of each device.
        launch: sample-times that a launch takes beside its rows.
        half: rows at which a device is half as efficient.
        sigma: standard deviation of each jitter's logarithm.
        profile: speeds that the splitter is told; the true ones when None.
        slowdown: speed of the last device in the middle third of the steps, as a fraction.
        rows: of a batch.
        steps: how many.
        seed: of the jitter.
    """

    speeds: Sequence[float] = (1.0, 0.5)
    launch: float = 0.25
    half: float = 0.0
    sigma: float = 0.02
    profile: Sequence[float] | None = None
    slowdown: float = 1.0
    rows: int = 256
    steps: int = 200
    seed: int = 0

    def speeds_at(self, step: int) -> list[float]:
        """The true speeds in a step."""
        speeds = list(self.speeds)
        if self.steps // 3 <= step < 2 * self.steps // 3:
            speeds[-1] *= self.slowdown
        return speeds

    def ideal(self, step: int) -> float:
        """Sample-times of a step at the sum of what each device gives alone, without jitter."""
        alone = [self.launch + (self.rows + self.half) / speed for speed in self.speeds_at(step)]
        return 1 / sum(1 / time for time in alone)


def efficiency(scenario: Scenario, policy: Policy) -> float:
    """Ideal time over the time of all steps, each of which ends when its last device does."""
    splitter = BatchSplitter(
        range(len(scenario.speeds)), policy, speeds=scenario.profile or scenario.speeds, warmup=0
    )
    noise = random.Random(scenario.seed)
    steps = range(scenario.steps)
    spent = sum(step_time(splitter, scenario, step, noise) for step in steps)
    return sum(scenario.ideal(step) for step in steps) / spent


def step_time(
    splitter: BatchSplitter, scenario: Scenario, step: int, noise: random.Random
) -> float:
    """Sample-times of one batch; the splitter observes each launch."""
    speeds = scenario.speeds_at(step)
    slow = [math.exp(noise.gauss(0, scenario.sigma)) for _ in speeds]
    pieces = splitter.pieces(scenario.rows)
    free = [(0.0, device) for device in range(len(speeds))]
    ended = 0.0
    while free:
        now, device = heapq.heappop(free)
        part = pieces.take(device)
        if part is None:
            continue
        jitter = slow[device] * math.exp(noise.gauss(0, scenario.sigma))
        took = (scenario.launch + (part.rows + scenario.half) / speeds[device]) * jitter
        splitter.observe(device, part.rows, took)
        ended = max(ended, now + took)
        heapq.heappush(free, (now + took, device))
    return ended


def pull_efficiency(scenario: Scenario) -> float:
    """The same for a stream of batches without a barrier: each device takes whole ones."""
    noise = random.Random(scenario.seed)
    free = [(0.0, device) for device in range(len(scenario.speeds))]
    ended = 0.0
    for batch in range(scenario.steps):
        now, device = heapq.heappop(free)
        speed = scenario.speeds_at(batch)[device]
        jitter = math.exp(noise.gauss(0, scenario.sigma) + noise.gauss(0, scenario.sigma))
        took = (scenario.launch + (scenario.rows + scenario.half) / speed) * jitter
        ended = max(ended, now + took)
        heapq.heappush(free, (now + took, device))
    return sum(scenario.ideal(batch) for batch in range(scenario.steps)) / ended
