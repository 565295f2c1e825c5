"""Two ways to time work on a device: its own events, or the host's clock around a synchronise."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal, Protocol

from accelhal.facade import Device
from accelhal.spi import Support

ClockName = Literal["device_events", "host"]

Step = Callable[[], object]
"""Submits one batch of work to the device's current stream."""


class Clock(Protocol):
    """Times work on a device that is current and idle; the work is done when a method returns."""

    name: ClockName

    def time(self, step: Step, repeats: int = 1) -> float:
        """Milliseconds that `repeats` calls of `step` take, submitted without waiting between."""


class EventClock:
    """The device's own events: exact on the device, blind to the host's part after submission."""

    name: ClockName = "device_events"

    def __init__(self, device: Device) -> None:
        self._start = device.Event(enable_timing=True)
        self._end = device.Event(enable_timing=True)

    def time(self, step: Step, repeats: int = 1) -> float:
        """Milliseconds between an event before and an event after the work."""
        self._start.record()
        for _ in range(repeats):
            step()
        self._end.record()
        self._end.synchronize()
        return float(self._start.elapsed_time(self._end))


class HostClock:
    """The host's monotonic clock, stopped when the device has no work left."""

    name: ClockName = "host"

    def __init__(self, device: Device) -> None:
        self._device = device

    def time(self, step: Step, repeats: int = 1) -> float:
        """Milliseconds from the first call until the device is idle again."""
        start = time.perf_counter()
        for _ in range(repeats):
            step()
        self._device.synchronize()
        return (time.perf_counter() - start) * 1e3


def clock_for(device: Device) -> Clock:
    """Device events where the device has native ones, else the host's clock."""
    if device.supports("events") is Support.NATIVE:
        return EventClock(device)
    return HostClock(device)
