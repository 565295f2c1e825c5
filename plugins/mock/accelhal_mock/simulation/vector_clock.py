"""Vector clocks: which work is known to be done before which.

A clock maps a stream's id to the last of its operations (counted from 1) that is ordered before.
C. Fidge 1988 and F. Mattern 1989 describe the construction.
"""

from __future__ import annotations

from collections.abc import Mapping

VectorClock = dict[int, int]


def merge(into: VectorClock, other: Mapping[int, int]) -> None:
    """Order everything that `other` knows before the owner of `into`."""
    for stream, epoch in other.items():
        if into.get(stream, 0) < epoch:
            into[stream] = epoch


def covers(clock: Mapping[int, int], stream: int, epoch: int) -> bool:
    """Whether operation `epoch` of `stream` is ordered before the owner of `clock`."""
    return clock.get(stream, 0) >= epoch
