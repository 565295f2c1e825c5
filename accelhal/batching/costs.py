"""How long batches take, learned as they run: for deadlines and for the choice of batch sizes."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from contextlib import suppress

WEIGHT = 0.2
"""Share of the newest figure in the moving average."""

FORGIVENESS = 0.9
"""What a doubted figure is lowered by each time that a request is dropped on its word."""

UNLEARNED_BATCHES = 64
"""Batches that are learned from together."""

MOST_BUCKETS = 1024
"""Buckets remembered; shapes may never come again."""


class Cost:
    """Seconds of a bucket's batches.

    Attributes:
        seconds: moving average of all.
        by_rows: rows given to the model -> moving average of such batches.
    """

    __slots__ = ("by_rows", "seconds")

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.by_rows: dict[int, float] = {}


class CostTable:
    """Moving averages of service time, in seconds, by bucket and by rows given to the model."""

    def __init__(self) -> None:
        self._buckets: dict[Hashable, Cost] = {}
        self._new: deque[tuple[Hashable, int, float]] = deque()

    def add(self, key: Hashable, rows: int, seconds: float) -> None:
        """Learn from a batch that ran, by the time that somebody asks."""
        self._new.append((key, rows, seconds))
        if len(self._new) >= UNLEARNED_BATCHES:
            self._of(None)

    def _of(self, key: Hashable) -> Cost | None:
        with suppress(IndexError):  # read to the end, by this thread or another
            while True:
                self._learn(*self._new.popleft())
        return self._buckets.get(key)

    def _learn(self, key: Hashable, rows: int, seconds: float) -> None:
        cost = self._buckets.get(key)
        if cost is None:
            if len(self._buckets) >= MOST_BUCKETS:
                self._buckets.clear()
            cost = self._buckets[key] = Cost(seconds)
        else:
            cost.seconds = _averaged(cost.seconds, seconds)
        known = cost.by_rows.get(rows)
        cost.by_rows[rows] = seconds if known is None else _averaged(known, seconds)

    def of_size(self, key: Hashable, rows: int) -> float | None:
        """Seconds of a batch of so many rows; None where none has run."""
        cost = self._of(key)
        return None if cost is None else cost.by_rows.get(rows)

    def estimate(self, key: Hashable) -> float:
        """Seconds of a batch of the bucket; 0 where none has run."""
        cost = self._of(key)
        return 0.0 if cost is None else cost.seconds

    def doubt(self, key: Hashable) -> None:
        """Lower the estimate on which a request was dropped, so that it cannot shut the door.

        No batch runs that could correct it while all requests are dropped.
        """
        cost = self._of(key)
        if cost is not None:
            cost.seconds *= FORGIVENESS


def _averaged(known: float, seconds: float) -> float:
    # The first figure may hold a warm-up, so that a smaller one is believed at once.
    return seconds if seconds < known else known + WEIGHT * (seconds - known)
