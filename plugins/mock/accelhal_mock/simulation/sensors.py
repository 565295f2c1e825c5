"""A board's sensors, which follow its load.

Load is the share of time in which work ran since the last reading; work that hangs is load too.
Utilisation shows it, power is idle + load x (limit - idle), and temperature moves towards
idle + load x (full_load - idle) as a first-order lag with the profile's time constant. Work that
hangs polls and computes nothing: it draws SPIN_POWER_SHARE of what work does. Under a power cap
power stands at its limit; a throttled board is at least at its slowdown temperature.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from accelhal_mock.simulation.faults import FaultKind

if TYPE_CHECKING:
    from accelhal_mock.simulation.board import Board

IDLE_CLOCK_SHARE = 0.15
"""Core clock without load, as a share of the clock under load."""

SPIN_POWER_SHARE = 0.1
"""Power of a kernel that waits, as a share of what work draws above idle: 44 W were seen of a board
with 25 W at rest and 250 W at work."""


@dataclass(frozen=True)
class Reading:
    """What the sensors show; degrees Celsius, watts, fractions, MHz."""

    temperature: float
    power: float
    power_limit: float
    utilization: float
    core_clock: float
    memory_clock: float
    throttle_reasons: tuple[str, ...]


class Sensors:
    """The sensors of one board, brought up to date at each reading."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._moment = 0.0
        self._worked = 0.0
        self._load = 0.0
        self._temperature = board.profile.thermals.idle
        self._lock = threading.Lock()

    def read(self) -> Reading:
        """The sensors now."""
        with self._lock:
            self._update()
            return self._reading()

    def _update(self) -> None:
        now = self._board.machine.clock.now()
        passed = now - self._moment
        if passed <= 0:
            return
        worked = self._board.worked(now)
        load = max(0.0, worked - self._worked) / passed
        self._load = 1.0 if self._board.hung else min(1.0, load)
        self._moment, self._worked = now, worked
        thermals = self._board.profile.thermals
        target = thermals.idle + self._heat() * (thermals.full_load - thermals.idle)
        kept = math.exp(-passed / thermals.time_constant)
        self._temperature = target + (self._temperature - target) * kept

    def _heat(self) -> float:
        """The part of the load that draws power."""
        return SPIN_POWER_SHARE if self._board.hung else self._load

    def _reading(self) -> Reading:
        profile, faults = self._board.profile, self._board.faults
        temperature = self._temperature
        power = profile.power_idle + self._heat() * (profile.power_limit - profile.power_idle)
        clock = profile.core_clock * (1.0 if self._load else IDLE_CLOCK_SHARE)
        reasons = []
        hot = faults.standing(FaultKind.THERMAL_THROTTLE)
        if hot is not None:
            temperature = max(temperature, profile.thermals.slowdown)
            clock /= hot.factor
            reasons.append("thermal")
        capped = faults.standing(FaultKind.POWER_CAP)
        if capped is not None:
            power = profile.power_limit
            clock /= capped.factor
            reasons.append("power")
        return Reading(
            temperature=temperature,
            power=power,
            power_limit=profile.power_limit,
            utilization=self._load,
            core_clock=clock,
            memory_clock=profile.memory_clock,
            throttle_reasons=tuple(reasons),
        )
