"""Whole rows from relative weights, the same in every process."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction


def apportion(rows: int, weights: Sequence[float]) -> list[int]:
    """Divide rows in proportion to weights.

    What does not divide goes to the largest remainders (Hamilton's method), the first among equals.
    Where there are as many rows as weights nobody goes without: a device that gets nothing is not
    observed, and would never get anything again. The largest give.

    Args:
        rows: 0 or more.
        weights: above 0, at least one. They are taken exactly: ranks must come to the same rows.
    """
    shares = [Fraction(weight) for weight in weights]
    whole = sum(shares)
    exact = [rows * share / whole for share in shares]
    counts = [math.floor(part) for part in exact]
    order = sorted(range(len(shares)), key=lambda place: (counts[place] - exact[place], place))
    for place in order[: rows - sum(counts)]:
        counts[place] += 1
    if rows >= len(counts):
        for place, count in enumerate(counts):
            if count == 0:
                counts[counts.index(max(counts))] -= 1
                counts[place] = 1
    return counts
