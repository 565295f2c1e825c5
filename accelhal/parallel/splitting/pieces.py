"""A batch handed out piece by piece, to whichever device is free."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from accelhal.errors import UsageError
from accelhal.parallel.splitting.apportionment import apportion
from accelhal.parallel.splitting.parts import Part

FIRST_SHARE = 0.75
"""What guided hands out first, by weight.

Measured by `simulation` where launches are cheap, under jitter of 2 to 10 %: 0.6 and 0.85 are
within 0.006 of it.
"""

PIECE_OVER_LAUNCH = 4
"""Least time of a later piece, in launch costs: at most a fifth of it is then lost."""

PULLED_PIECES = 4
"""Pieces a device that "pull" cuts a single batch into."""

Manner = Literal["static", "guided", "pull"]


@dataclass(frozen=True)
class Worker:
    """A device among those that share a batch.

    Attributes:
        device: as the splitter was given it.
        weight: its relative speed, above 0.
        least: rows below which a piece is not worth its launch.
    """

    device: Any
    weight: float
    least: int = 1


class Pieces:
    """The rows of one batch; each is taken once.

    Args:
        rows: of the batch.
        workers: who shares it.
        manner: "static": each device gets one piece, by weight; "guided": most by weight, then
            what is left by weight again and again; "pull": equal pieces.
    """

    def __init__(self, rows: int, workers: Sequence[Worker], manner: Manner) -> None:
        self.total = rows
        self._workers = list(workers)
        self._manner = manner
        # What is not promised to anyone, first rows last.
        self._open: list[tuple[int, int]] = [(0, rows)] if rows else []
        self._promised: dict[int, tuple[int, int]] = {}
        self._pulled = max(1, math.ceil(rows / (PULLED_PIECES * len(workers))))
        share = {"static": 1.0, "guided": FIRST_SHARE, "pull": 0.0}[manner]
        if share and rows:
            self._promise(apportion(max(1, round(share * rows)), [w.weight for w in workers]))

    @property
    def left(self) -> int:
        """Rows that were not taken yet."""
        ranges = (*self._open, *self._promised.values())
        return sum(stop - start for start, stop in ranges)

    def take(self, device: Any) -> Part | None:
        """The next rows for a device that is free; None where nothing is left for it."""
        place = self._place(device)
        found = self._promised.pop(place, None)
        if found is None and self._open:
            found = self._cut(self._size(self._workers[place]))
        return None if found is None else Part(device, *found)

    def put_back(self, part: Part) -> None:
        """Give rows back that were taken, and are to be done by another device."""
        if part.rows:
            self._open.append((part.start, part.stop))

    def drop(self, device: Any) -> None:
        """Leave a device out: what it was promised is for the others."""
        place = self._place(device)
        found = self._promised.pop(place, None)
        if found is not None:
            self._open.append(found)
        self._promised = {i - (i > place): part for i, part in self._promised.items()}
        del self._workers[place]

    def _promise(self, counts: Sequence[int]) -> None:
        for place, count in enumerate(counts):
            if count:
                self._promised[place] = self._cut(count)

    def _size(self, worker: Worker) -> int:
        if self._manner == "pull":
            return self._pulled
        left = sum(stop - start for start, stop in self._open)
        share = worker.weight / sum(one.weight for one in self._workers)
        size = max(math.ceil(left * share), worker.least)
        return left if left - size < worker.least / 2 else size

    def _cut(self, rows: int) -> tuple[int, int]:
        start, stop = self._open.pop()
        end = min(stop, start + rows)
        if end < stop:
            self._open.append((end, stop))
        return start, end

    def _place(self, device: Any) -> int:
        for place, worker in enumerate(self._workers):
            if worker.device == device:
                return place
        raise UsageError(
            f"{device} is not among the devices of this batch",
            operation="pieces",
            hint=f"one of: {', '.join(str(worker.device) for worker in self._workers)}",
        )
