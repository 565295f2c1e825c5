"""What waits: requests by what can be collated, by urgency, and which of them come next."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import suppress
from typing import Any

from accelhal.batching.request import Request

EMPTY_BUCKETS_KEPT = 64
"""Empty buckets that are kept for the next request of their key; shapes may never come again."""


class Bucket:
    """Requests that one batch can hold, first come first served at each level of urgency.

    Attributes:
        key: state and key of its requests.
        levels: a queue for each priority, the most urgent first.
        urgent: the first of `levels`.
        special: requests in it whose terms are not plain.
        rows: rows in it, those of cancelled requests included until they are met.
    """

    __slots__ = ("key", "levels", "rows", "special", "urgent")

    def __init__(self, key: Hashable, priority_levels: int) -> None:
        self.key = key
        self.levels: tuple[deque[Request], ...] = tuple(deque() for _ in range(priority_levels))
        self.urgent = self.levels[0]
        self.special = 0
        self.rows = 0


class Backlog:
    """All buckets. Holds no lock: its owner does, but for `arrivals`.

    A request of priority p counts as if it had come p * `aging` seconds later: the more urgent go
    first, and none waits for ever.

    Args:
        priority_levels: number of priorities.
        aging: seconds that a level of priority is worth.
        key_of: the key of a value whose request has none yet.
        most_rows: rows that the buckets may hold.

    Attributes:
        arrivals: requests of plain terms that are not in a bucket yet. Any thread may append;
            all that looks into buckets must `sort` first. What finds no room there is for its
            caller to take back.
        rows: rows in the buckets.
    """

    def __init__(
        self,
        priority_levels: int,
        aging: float,
        key_of: Callable[[Any], Hashable],
        most_rows: int,
    ) -> None:
        self.arrivals: deque[Request] = deque()
        self.rows = 0
        self._priority_levels = priority_levels
        self._aging = aging
        self._key_of = key_of
        self._most_rows = most_rows
        self._buckets: dict[Hashable, Bucket] = {}
        self._waiting: dict[Bucket, None] = {}

    def __bool__(self) -> bool:
        return bool(self._waiting or self.arrivals)

    def __iter__(self) -> Iterator[Request]:
        for bucket in self._waiting:
            for level in bucket.levels:
                yield from level
        yield from tuple(self.arrivals)

    @property
    def unsorted(self) -> bool:
        """Whether there are arrivals, and room for them."""
        return bool(self.arrivals) and self.rows < self._most_rows

    def sort(self) -> None:
        """Put the arrivals into their buckets, as far as there is room."""
        arrivals = self.arrivals
        if not arrivals:
            return
        state = last = bucket = None
        for _ in range(min(len(arrivals), self._most_rows - self.rows)):
            request = arrivals[0]
            key = request.key
            if key is None:
                key = request.key = self._asked(request)
            if bucket is None or request.state is not state or key != last:
                state, last = request.state, key
                bucket = self.bucket_of(request)
            if not bucket.rows:
                self._waiting[bucket] = None
            # Counted before it is taken out: whoever adds both up must not find too little.
            self.rows += 1
            bucket.rows += 1
            bucket.urgent.append(request)
            arrivals.popleft()

    def add(self, request: Request) -> Bucket:
        """Put a request last in its queue; the arrivals must be sorted."""
        bucket = self.bucket_of(request)
        terms = request.terms
        if not bucket.rows:
            self._waiting[bucket] = None
        bucket.levels[terms.priority].append(request)
        bucket.special += not terms.plain
        rows = terms.rows
        bucket.rows += rows
        self.rows += rows
        return bucket

    def bucket_of(self, request: Request) -> Bucket:
        """The bucket that a request belongs in."""
        key = (request.state, request.key)
        return self._buckets.get(key) or self._new_bucket(key)

    def _asked(self, request: Request) -> Hashable:
        try:
            return self._key_of(request.value)
        except Exception:  # no batch holds it: it fails alone, with the model's error
            return object()

    def choose(self, fullness: int, oldest_first: float) -> Bucket:
        """The bucket to serve next: the oldest request's, or a full one while none is that old.

        Args:
            fullness: rows at which a bucket is full.
            oldest_first: arrival, in seconds of time.monotonic(), before which age alone decides.
        """
        waiting = self._waiting
        if len(waiting) == 1:
            return next(iter(waiting))
        oldest = min(waiting, key=self.standing)
        if oldest.rows < fullness and self.standing(oldest) > oldest_first:
            full = [bucket for bucket in waiting if bucket.rows >= fullness]
            if full:
                return min(full, key=self.standing)
        return oldest

    def standing(self, bucket: Bucket) -> float:
        """Arrival of the bucket's next request, with its priority counted as time."""
        return self._next_level(bucket)[0]

    def _next_level(self, bucket: Bucket) -> tuple[float, int]:
        return min(
            (level[0].arrival + priority * self._aging, priority)
            for priority, level in enumerate(bucket.levels)
            if level
        )

    def peek(self, bucket: Bucket) -> Request:
        """The bucket's next request."""
        return bucket.levels[self._next_level(bucket)[1]][0]

    def pop(self, bucket: Bucket) -> Request:
        """Take the bucket's next request out."""
        request = bucket.levels[self._next_level(bucket)[1]].popleft()
        bucket.special -= not request.terms.plain
        self._took(bucket, request.terms.rows)
        return request

    def pop_plain(self, bucket: Bucket, most: int) -> list[Request]:
        """Take out at most so many requests of a bucket that has none but plain ones."""
        pop = bucket.urgent.popleft
        taken = [pop() for _ in range(min(most, bucket.rows))]
        self._took(bucket, len(taken))
        return taken

    def oldest(self, bucket: Bucket) -> float:
        """Arrival of the bucket's oldest request."""
        return min(level[0].arrival for level in bucket.levels if level)

    def _took(self, bucket: Bucket, rows: int) -> None:
        """Account for rows that were taken out of a bucket's queues."""
        self.rows -= rows
        bucket.rows -= rows
        if not bucket.rows:
            self._waiting.pop(bucket, None)

    def remove(self, unwanted: Callable[[Request], bool]) -> list[Request]:
        """Take out every request that `unwanted` picks."""
        removed: list[Request] = []
        for bucket in list(self._waiting):
            for priority, level in enumerate(bucket.levels):
                gone = [request for request in level if unwanted(request)]
                if not gone:
                    continue
                dead = set(map(id, gone))
                kept = [request for request in level if id(request) not in dead]
                bucket.levels[priority].clear()
                bucket.levels[priority].extend(kept)
                bucket.special -= sum(not request.terms.plain for request in gone)
                self._took(bucket, sum(request.terms.rows for request in gone))
                removed += gone
        return removed

    def take_all(self) -> list[Request]:
        """Take out every request, arrivals too."""
        taken = self.remove(lambda _: True)
        with suppress(IndexError):
            while True:
                taken.append(self.arrivals.popleft())
        return taken

    def less_urgent(self, priority: int, rows: int) -> list[Request]:
        """Requests less urgent than `priority` of so many rows: the last and newest first.

        Empty where there are not as many rows.
        """
        found: list[Request] = []
        for level in range(self._priority_levels - 1, priority, -1):
            waiting = [request for bucket in self._waiting for request in bucket.levels[level]]
            for request in sorted(waiting, key=lambda request: -request.arrival):
                found.append(request)
                rows -= request.terms.rows
                if rows <= 0:
                    return found
        return []

    def _new_bucket(self, key: Hashable) -> Bucket:
        if len(self._buckets) > EMPTY_BUCKETS_KEPT + len(self._waiting):
            self._buckets = {bucket.key: bucket for bucket in self._waiting}
        bucket = self._buckets[key] = Bucket(key, self._priority_levels)
        return bucket
