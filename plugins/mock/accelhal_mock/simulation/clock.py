"""The time that a machine's boards live in: virtual (waiting advances it) or real (it sleeps)."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod

SHORTEST_POLL = 10e-6
"""Seconds of virtual time that one unanswered poll takes at least."""


class Clock(ABC):
    """Time in seconds since the machine was configured."""

    @abstractmethod
    def now(self) -> float:
        """The present moment."""

    @abstractmethod
    def wait_until(self, moment: float) -> None:
        """Let the caller wait for a moment; returns at once when it has passed."""

    @abstractmethod
    def wait_at_most(self, seconds: float, awake: threading.Event) -> bool:
        """Let the caller wait until `awake` is set, or `seconds` have passed; True when set."""

    @abstractmethod
    def polled(self, moment: float) -> None:
        """Note that the caller asked for work that ends at `moment` and found it unfinished."""

    @abstractmethod
    def advance(self, seconds: float) -> None:
        """Let the host be busy, or idle, for that long."""


class VirtualClock(Clock):
    """Nothing sleeps. The host's launches take no time; its waits, and polls, advance the clock."""

    def __init__(self) -> None:
        self._now = 0.0
        self._lock = threading.Lock()

    def now(self) -> float:
        """The present moment."""
        return self._now

    def wait_until(self, moment: float) -> None:
        """Move on to the moment."""
        if moment > self._now:
            with self._lock:
                self._now = max(self._now, moment)

    def wait_at_most(self, seconds: float, awake: threading.Event) -> bool:
        """Move on by `seconds`: nobody can wake the caller while nothing sleeps."""
        if awake.is_set():
            return True
        self.advance(seconds)
        return False

    def polled(self, moment: float) -> None:
        """Move half-way towards the moment, so that a loop of polls ends after a few rounds."""
        left = moment - self._now
        half_way = left / 2 if left < float("inf") else 0.0
        self.advance(max(half_way, SHORTEST_POLL))

    def advance(self, seconds: float) -> None:
        """Move on by `seconds`."""
        with self._lock:
            self._now += seconds


class RealClock(Clock):
    """The host's monotonic clock. Waits sleep, and hold no lock of the simulation meanwhile."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    def now(self) -> float:
        """The present moment."""
        return time.perf_counter() - self._start

    def wait_until(self, moment: float) -> None:
        """Sleep until the moment."""
        while (left := moment - self.now()) > 0:
            time.sleep(left)

    def wait_at_most(self, seconds: float, awake: threading.Event) -> bool:
        """Sleep until `awake` is set, or `seconds` have passed."""
        return awake.wait(seconds)

    def polled(self, moment: float) -> None:
        """Nothing to note: real time passes by itself."""

    def advance(self, seconds: float) -> None:
        """Sleep for `seconds`."""
        time.sleep(seconds)
