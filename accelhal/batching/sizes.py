"""Which batch sizes a lane may be given, and whether to pad up to one or to round down to it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Hashable

from accelhal.batching.costs import CostTable

POLICIES = ("pad_up", "batch_down", "cheapest")
"""What to do with a number of rows that is not an allowed batch size."""


class BatchSizes:
    """Allowed batch sizes: those that are compiled or captured, and cost no padding.

    Args:
        allowed: ascending; empty where every size is allowed.
        policy: "pad_up" fills up with copies of the last row; "batch_down" takes as many rows as
            the next smaller size and leaves the rest for the next batch; "cheapest" takes what has
            cost less for each row, and pads up until both are known.
        costs: what batches have taken.
    """

    def __init__(self, allowed: tuple[int, ...], policy: str, costs: CostTable) -> None:
        self.allowed = allowed
        self._policy = policy
        self._costs = costs

    def padded(self, rows: int) -> int:
        """The rows that the model is given for a batch of so many."""
        allowed = self.allowed
        if not allowed:
            return rows
        place = bisect_left(allowed, rows)
        return allowed[place] if place < len(allowed) else rows

    def take(self, key: Hashable, rows: int) -> int:
        """The rows to form a batch of where so many wait."""
        allowed = self.allowed
        if not allowed:
            return rows
        place = bisect_right(allowed, rows)
        if not place or allowed[place - 1] == rows or self._policy == "pad_up":
            return rows
        down = allowed[place - 1]
        if self._policy == "batch_down" or place == len(allowed):
            return down
        up = self._costs.of_size(key, allowed[place])
        below = self._costs.of_size(key, down)
        if up is None or below is None:
            return rows
        return down if below / down < up / rows else rows
