"""Who is told of each batch: metrics, logs. An observer that fails fails alone."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Protocol, runtime_checkable

from accelhal.batching.statistics import BatchRecord
from accelhal.errors import AccelhalWarning, described, warn


@runtime_checkable
class Observer(Protocol):
    """Told of each batch after its requests were answered, in the lane's thread."""

    def on_batch(self, record: BatchRecord) -> None:
        """Take note of a batch; what this raises is warned of once and goes no further."""


def warn_in_lane(text: str) -> None:
    """Warn; where warnings are made errors, the lane goes on all the same."""
    with suppress(AccelhalWarning):
        warn(text)


class Observers:
    """Several observers as one that never raises."""

    def __init__(self, observers: Iterable[Observer]) -> None:
        self._observers = tuple(observers)
        self._warned: set[int] = set()

    def tell(self, record: BatchRecord) -> None:
        """Tell all of a batch."""
        for observer in self._observers:
            try:
                observer.on_batch(record)
            except Exception as error:
                if id(observer) not in self._warned:
                    self._warned.add(id(observer))
                    name = type(observer).__name__
                    warn_in_lane(f"batching: {name}.on_batch raised {described(error)}")


class VainWaits:
    """Warns where lingering never fills a batch: fewer callers are in flight than it could hold.

    Args:
        max_batch_size: rows that a batch may have.
        max_queue_delay: seconds that a batch lingers for.
    """

    LIMIT = 50
    """Batches in a row that waited in vain."""

    def __init__(self, max_batch_size: int, max_queue_delay: float) -> None:
        self._max_batch_size = max_batch_size
        self._max_queue_delay = max_queue_delay
        self._in_a_row = 0
        self._most_rows = 0
        self._told = False

    def on_batch(self, record: BatchRecord) -> None:
        """See Observer."""
        if self._told:
            return
        if record.reason != "delay":
            self._in_a_row = self._most_rows = 0
            return
        self._in_a_row += 1
        self._most_rows = max(self._most_rows, record.rows)
        if self._in_a_row >= self.LIMIT:
            self._told = True
            warn_in_lane(
                f"batching: each of the last {self.LIMIT} batches waited max_queue_delay="
                f"{self._max_queue_delay:g} s and got at most {self._most_rows} of "
                f"{self._max_batch_size} rows: fewer callers are in flight than a batch could "
                "hold; lower max_queue_delay"
            )
