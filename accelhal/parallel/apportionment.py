"""Whole numbers from relative shares, the same in every process."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction


def largest_remainders(units: int, shares: Sequence[Fraction]) -> list[int]:
    """Divide units in proportion to shares (Hamilton's method), exactly.

    What does not divide goes to the largest remainders, the first among equals.

    Args:
        units: 0 or more.
        shares: above 0, at least one.
    """
    whole = sum(shares)
    exact = [units * share / whole for share in shares]
    counts = [math.floor(part) for part in exact]
    order = sorted(range(len(shares)), key=lambda place: (counts[place] - exact[place], place))
    for place in order[: units - sum(counts)]:
        counts[place] += 1
    return counts
