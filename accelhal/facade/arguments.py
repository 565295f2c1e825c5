"""What callers may pass: each check gives the value as runtimes take it, or None."""

from __future__ import annotations

import operator
from numbers import Real

SEEDS = range(-(2**63), 2**64)
"""Seeds that torch's generators take."""

CAPTURE_ERROR_MODES = ("global", "thread_local", "relaxed")
"""torch's modes of graph capture."""


def as_integer(value: object) -> int | None:
    """The value as torch takes it where it wants an integer (numpy's too, but no bool), or None."""
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def as_fraction(value: object) -> float | None:
    """A number from 0 to 1, or None."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    number = float(value)
    return number if 0 <= number <= 1 else None
