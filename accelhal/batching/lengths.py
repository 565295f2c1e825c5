"""Length buckets: sequences of about one length are batched, so that little is padded."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from accelhal.errors import UsageError

DEFAULT_RATIO = 1.4
"""Each boundary over the one before: at most 29 % padding, and 9 buckets from 8 to 128."""


class LengthBuckets:
    """Boundaries that lengths are rounded up to.

    Args:
        boundaries: what was asked for: "geometric" or "geometric:RATIO", ascending lengths, or
            None for no buckets, all lengths together.

    Raises:
        UsageError: neither of those.
    """

    def __init__(self, boundaries: str | Sequence[int] | None) -> None:
        self._ratio = 0.0
        self._boundaries: list[int] = []
        self._one = boundaries is None
        if isinstance(boundaries, str):
            self._ratio = _ratio(boundaries)
            self._boundaries = [1]
        elif boundaries is not None:
            self._boundaries = _ascending(boundaries)

    def boundary(self, length: int) -> int:
        """The boundary of a length: equal for those that share a bucket; 0 without buckets.

        A length above the last given boundary is its own.
        """
        if self._one:
            return 0
        known = self._boundaries
        if self._ratio:
            while known[-1] < length:
                known.append(max(known[-1] + 1, int(known[-1] * self._ratio)))
        place = bisect_left(known, length)
        return known[place] if place < len(known) else length


def _ratio(text: str) -> float:
    name, _, number = text.partition(":")
    try:
        ratio = float(number) if number else DEFAULT_RATIO
    except ValueError:
        ratio = 0.0
    if name != "geometric" or not 1.0 < ratio < float("inf"):
        raise UsageError(
            f"{text!r} are no length buckets",
            operation="DynamicBatcher",
            hint='"geometric:1.4", a list of lengths, or None',
        )
    return ratio


def _ascending(boundaries: Sequence[int]) -> list[int]:
    found = list(boundaries)
    whole = all(isinstance(one, int) and not isinstance(one, bool) and one > 0 for one in found)
    if not found or not whole or found != sorted(set(found)):
        raise UsageError(
            f"length buckets must be ascending whole numbers, 1 or more, not {boundaries!r}",
            operation="DynamicBatcher",
        )
    return found
