"""The bound of the queue: who is refused, who waits for room, and who gives way."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from accelhal.batching.buckets import Backlog
from accelhal.batching.request import Request
from accelhal.batching.settings import Settings
from accelhal.batching.statistics import Counters
from accelhal.errors import QueueFullError

SWEEP_PERIOD_S = 0.01
"""How often a full queue is searched for requests that nobody waits for: refusing stays cheap."""


class Gate:
    """What a thread waits at until its request has room.

    Attributes:
        admitted: whether the request is in the queue.
    """

    __slots__ = ("_lock", "admitted")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()
        self.admitted = False

    def open(self, admitted: bool) -> None:
        """Let the thread go on. Called once, under the dispatcher's lock."""
        self.admitted = admitted
        self._lock.release()

    def wait(self, timeout: float | None) -> bool:
        """Wait at most `timeout` seconds; whether the gate was opened."""
        return self._lock.acquire(timeout=-1 if timeout is None else max(0.0, timeout))


@dataclass(eq=False, slots=True)
class Entry:
    """A request that waits for room."""

    request: Request
    gate: Gate | None


class Admission:
    """The policy of a full queue. Called under the dispatcher's lock, the arrivals sorted.

    Args:
        backlog: the queue.
        settings: its bound and policy.
        counters: where refusals are counted.
        clock: seconds, as time.monotonic.
    """

    def __init__(
        self,
        backlog: Backlog,
        settings: Settings,
        counters: Counters,
        clock: Callable[[], float],
    ) -> None:
        self.waiting: deque[Entry] = deque()
        self._backlog = backlog
        self._settings = settings
        self._counters = counters
        self._clock = clock
        self._swept = float("-inf")

    def make_room(self, rows: int, priority: int) -> list[Request]:
        """Find room for so many rows; the requests that gave way, taken out.

        Raises:
            QueueFullError: there is none.
        """
        if self._fits(rows) or (self.sweep() and self._fits(rows)):
            return []
        gave_way: list[Request] = []
        if self._settings.overflow == "shed_low_priority":
            gave_way = self._backlog.less_urgent(
                priority, self._backlog.rows + rows - self._settings.max_queue_size
            )
        if not gave_way:
            self._counters.rejected += 1
            raise QueueFullError(
                f"the queue is full: {self._backlog.rows} of {self._settings.max_queue_size} rows",
                operation="submit",
                hint='try again later; overflow="block" waits for room',
            )
        shed = set(map(id, gave_way))
        self._backlog.remove(lambda request: id(request) in shed)
        self._counters.shed += len(gave_way)
        # Claimed under the lock, so that the timer's thread does not claim what is answered.
        return [r for r in gave_way if r.loop is not None or r.reply.claim()]  # type: ignore[union-attr]

    def enter(self, request: Request, gate: Gate | None) -> None:
        """Let a request wait for room, after all that wait already."""
        self.waiting.append(Entry(request, gate))

    def admit(self, put: Callable[[Request], None]) -> None:
        """Queue those that wait, in order, as far as there is room."""
        waiting = self.waiting
        while waiting:
            entry = waiting[0]
            if not entry.request.reply.done():
                if not self._fits(entry.request.terms.rows):
                    return
                put(entry.request)
            waiting.popleft()
            if entry.gate is not None:
                entry.gate.open(True)

    def leave(self, request: Request) -> None:
        """Stop waiting for room."""
        kept = [entry for entry in self.waiting if entry.request is not request]
        self.waiting.clear()
        self.waiting.extend(kept)

    def dismiss(self) -> list[Request]:
        """Send all away that wait for room; threads learn so at their gates."""
        left = []
        for entry in self.waiting:
            left.append(entry.request)
            if entry.gate is not None:
                entry.gate.open(False)
        self.waiting.clear()
        return left

    def sweep(self) -> bool:
        """Take out queued requests that nobody waits for any more; False where it is too soon."""
        now = self._clock()
        if now - self._swept < SWEEP_PERIOD_S:
            return False
        self._swept = now
        for request in self._backlog.remove(lambda request: request.reply.done()):
            if request.loop is None:
                request.reply.claim()  # type: ignore[union-attr]
            deadline = request.terms.deadline
            self._counters.cancelled += deadline is None or deadline > now
        return True

    def _fits(self, rows: int) -> bool:
        return self._backlog.rows + rows <= self._settings.max_queue_size
