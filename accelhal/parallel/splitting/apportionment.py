"""Whole rows from relative weights, the same in every process."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from accelhal.parallel.apportionment import largest_remainders


def apportion(rows: int, weights: Sequence[float]) -> list[int]:
    """Divide rows in proportion to weights.

    What does not divide goes to the largest remainders (Hamilton's method), the first among equals.
    Where there are as many rows as weights nobody goes without: a device that gets nothing is not
    observed, and would never get anything again. The largest give.

    Args:
        rows: 0 or more.
        weights: above 0, at least one. They are taken exactly: ranks must come to the same rows.
    """
    counts = largest_remainders(rows, [Fraction(weight) for weight in weights])
    if rows >= len(counts):
        for place, count in enumerate(counts):
            if count == 0:
                counts[counts.index(max(counts))] -= 1
                counts[place] = 1
    return counts
