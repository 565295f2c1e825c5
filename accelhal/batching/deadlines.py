"""One timer for all deadlines: who waits too long is told so on time, whatever the device does."""

from __future__ import annotations

import heapq
import math
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from itertools import count
from typing import Any

from accelhal.batching.request import Request

SWEEP_AT = 256
"""Entries below which those of answered requests are left until their time comes."""


class DeadlineTimer:
    """A heap of the requests that have a deadline, and a thread that sleeps until the first.

    The thread starts with the first deadline; while there is none it is not woken.

    Args:
        lock: the dispatcher's; `add`, `earliest` and `stop` are called under it.
        expire: told of requests whose time is over, outside the lock.
        clock: seconds, as time.monotonic.
        name: of the thread.
    """

    def __init__(
        self,
        lock: AbstractContextManager[Any],
        expire: Callable[[list[Request]], None],
        clock: Callable[[], float],
        name: str,
    ) -> None:
        self._lock = lock
        self._expire = expire
        self._clock = clock
        self._name = name
        self._heap: list[tuple[float, int, Request]] = []
        self._order = count()
        self._sweep_at = SWEEP_AT
        self._sleeps_until = math.inf
        self._alarm = threading.Lock()
        self._alarm.acquire()
        self._rung = False
        self._stopped = False
        self._thread: threading.Thread | None = None

    def add(self, request: Request, deadline: float) -> None:
        """Watch a request. Called under the lock."""
        if self._stopped:
            return
        heap = self._heap
        heapq.heappush(heap, (deadline, next(self._order), request))
        if len(heap) >= self._sweep_at:
            self._sweep()
        if self._thread is None:
            self._sleeps_until = deadline
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()
        elif deadline < self._sleeps_until:
            self._ring()

    def earliest(self) -> Request | None:
        """The request whose time is over first; None where none has a deadline."""
        heap = self._heap
        while heap and heap[0][2].reply.done():
            heapq.heappop(heap)
        return heap[0][2] if heap else None

    def due(self, now: float) -> list[Request]:
        """Take out the requests whose time is over. Called under the lock."""
        heap, found = self._heap, []
        while heap and heap[0][0] <= now:
            request = heapq.heappop(heap)[2]
            if not request.reply.done():
                found.append(request)
        return found

    def stop(self) -> None:
        """Watch nothing any more; the thread ends."""
        self._stopped = True
        self._heap.clear()
        self._ring()

    def _ring(self) -> None:
        if not self._rung:
            self._rung = True
            self._alarm.release()

    def _sweep(self) -> None:
        """Drop entries of requests that are done: a deadline may lie far behind the answer."""
        self._heap = [entry for entry in self._heap if not entry[2].reply.done()]
        heapq.heapify(self._heap)
        self._sweep_at = max(SWEEP_AT, 2 * len(self._heap))

    def _run(self) -> None:
        while True:
            with self._lock:
                if self._stopped:
                    return
                now = self._clock()
                expired = self.due(now)
                self._sleeps_until = math.inf if self.earliest() is None else self._heap[0][0]
                if self._rung:
                    self._rung = False
                    self._alarm.acquire(blocking=False)
            if expired:
                self._expire(expired)
                expired = []
                continue
            rest = self._sleeps_until - now
            self._alarm.acquire(timeout=-1 if rest == math.inf else max(0.0, min(rest, LONGEST_S)))


LONGEST_S = threading.TIMEOUT_MAX
"""The longest that a lock can be waited for."""
