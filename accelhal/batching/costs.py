"""How long batches take, learned as they run: for deadlines and for the choice of batch sizes."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeVar

WEIGHT = 0.2
"""Share of the newest figure in the moving average."""

FORGIVENESS = 0.9
"""What a doubted figure is lowered by each time that a request is dropped on its word."""

Key = TypeVar("Key", bound=Hashable)

MOST_ENTRIES = 1024
"""Entries kept; shapes may never come again."""


class CostTable:
    """Moving averages of service time, in seconds, by bucket and by rows given to the model."""

    def __init__(self) -> None:
        self._by_size: dict[tuple[Hashable, int], float] = {}
        self._by_key: dict[Hashable, float] = {}

    def add(self, key: Hashable, rows: int, seconds: float) -> None:
        """Learn from a batch that ran."""
        _learn(self._by_size, (key, rows), seconds)
        _learn(self._by_key, key, seconds)

    def of_size(self, key: Hashable, rows: int) -> float | None:
        """Seconds of a batch of so many rows; None where none has run."""
        return self._by_size.get((key, rows))

    def estimate(self, key: Hashable) -> float:
        """Seconds of a batch of the bucket; 0 where none has run."""
        return self._by_key.get(key, 0.0)

    def doubt(self, key: Hashable) -> None:
        """Lower the estimate on which a request was dropped, so that it cannot shut the door.

        No batch runs that could correct it while all requests are dropped.
        """
        if key in self._by_key:
            self._by_key[key] *= FORGIVENESS


def _learn(table: dict[Key, float], key: Key, seconds: float) -> None:
    known = table.get(key)
    if known is None and len(table) >= MOST_ENTRIES:
        table.clear()
    # The first figure may hold a warm-up, so that a smaller one is believed at once.
    if known is None or seconds < known:
        table[key] = seconds
    else:
        table[key] = known + WEIGHT * (seconds - known)
