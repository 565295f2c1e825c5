"""How many graphs a set may hold, against its own limit and the device's."""

from __future__ import annotations

import threading
from collections import Counter

from accelhal.facade import Device

_held: Counter[Device] = Counter()
"""Graphs that all sets of this process hold, by device."""

_lock = threading.Lock()


class Places:
    """Places for the graphs of one set.

    The device's limit is its `graph_limit`, for all sets of the process together. Boards with a
    fixed number of hardware streams have one: a graph keeps its stream as long as it lives, and
    other work finds none left.

    Args:
        device: where the graphs are.
        most: the set's own limit; None for the device's alone.
    """

    def __init__(self, device: Device, most: int | None) -> None:
        self._device = device
        self._limit = device.graph_limit
        self._most = most
        self.taken = 0

    def take(self) -> bool:
        """Take one place; False where none is left."""
        with _lock:
            if self.refusal:
                return False
            self.taken += 1
            _held[self._device] += 1
            return True

    def give_back(self, places: int | None = None) -> None:
        """Give places back: all when None."""
        with _lock:
            given = self.taken if places is None else places
            self.taken -= given
            _held[self._device] -= given

    @property
    def refusal(self) -> str:
        """Why no place is left; empty where one is."""
        if self._most is not None and self.taken >= self._most:
            return f"its budget of {self._most} graphs is used up"
        if self._limit is not None and _held[self._device] >= self._limit:
            return f"this process holds the {self._limit} graphs that {self._device} can take"
        return ""
