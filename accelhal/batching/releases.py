"""Deciding on the next batch: which bucket, how many rows, now or a little later."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence

from accelhal.batching.admission import Admission
from accelhal.batching.buckets import Backlog, Bucket
from accelhal.batching.costs import CostTable
from accelhal.batching.deadlines import DeadlineTimer
from accelhal.batching.forming import Filling, fill, fill_plain
from accelhal.batching.request import Batch, ReleaseReason, Request
from accelhal.batching.settings import Settings
from accelhal.batching.sizes import BatchSizes
from accelhal.batching.statistics import Counters

_NOTHING: tuple[None, tuple[()], None] = (None, (), None)


class Releases:
    """Takes batches out of the backlog. Called under the dispatcher's lock.

    Args:
        settings: limits and the delay.
        backlog: what waits.
        admission: what waits for room.
        sizes: allowed batch sizes.
        costs: how long batches take.
        timer: who has a deadline.
        counters: where the cancelled and the late are counted.
        admit: queues a request that has waited for room.
    """

    def __init__(
        self,
        settings: Settings,
        backlog: Backlog,
        admission: Admission,
        sizes: BatchSizes,
        costs: CostTable,
        timer: DeadlineTimer,
        counters: Counters,
        admit: Callable[[Request], None],
    ) -> None:
        self.ceilings: dict[Hashable, int] = {}
        self.retries: deque[Batch] = deque()
        self.counters = counters
        self.costs = costs
        self.admission = admission
        self.backlog = backlog
        self._settings = settings
        self._sizes = sizes
        self._timer = timer
        self._admit = admit

    def next(
        self, now: float, wait: bool, ending: bool
    ) -> tuple[Batch | None, Sequence[Request], float | None]:
        """The next batch.

        Args:
            now: seconds of time.monotonic().
            wait: the lane has nothing else to do; else only a full batch is given.
            ending: nothing more will come: linger for nothing.

        Returns:
            A batch or None; requests that would be late; until when to linger, or None.
        """
        backlog = self.backlog
        backlog.sort()
        if not backlog.rows and not self.retries:
            return _NOTHING
        late: list[Request] = []
        while self.retries:
            batch = self._still_wanted(self.retries.popleft(), now, late)
            if batch is not None:
                return batch, late, None
        settings = self._settings
        while backlog.rows:
            bucket = backlog.choose(settings.max_batch_size, now - settings.max_queue_delay)
            limit = self.rows_limit(bucket)
            reason = ReleaseReason.CLOSING if ending else ReleaseReason.IDLE
            if bucket.rows < limit:
                if not wait:
                    return None, late, None
                if settings.max_queue_delay and not ending:
                    until, reason = self._linger_until(bucket)
                    if now < until:
                        return None, late, until
            available = min(bucket.rows, limit)
            rows = self._sizes.take(bucket.key, available)
            tokens = settings.max_batch_tokens
            if bucket.special or tokens is not None:
                in_time = now + self.costs.estimate(bucket.key)
                found = fill(backlog, bucket, rows, tokens, in_time)
            else:
                found = fill_plain(backlog, bucket, rows)
            self._account(bucket, found, late)
            if found.requests:
                if found.stopped is ReleaseReason.TOKENS:
                    reason = found.stopped
                elif found.rows < limit and rows < available:
                    reason = ReleaseReason.SIZE
                elif found.rows >= limit or found.stopped is not None:
                    reason = ReleaseReason.FULL
                return _batch(bucket, found, reason, now), late, None
        return None, late, None

    def _still_wanted(self, batch: Batch, now: float, late: list[Request]) -> Batch | None:
        """What is left of a batch that goes to another lane."""
        left = [request for request in batch.requests if not request.reply.done()]
        past = [r for r in left if r.terms.deadline is not None and r.terms.deadline < now]
        self.counters.expired += len(past)
        late += past
        if past:
            left = [request for request in left if request not in past]
        return batch.part(left) if left else None

    def _account(self, bucket: Bucket, found: Filling, late: list[Request]) -> None:
        self.counters.cancelled += found.cancelled
        if found.late:
            late += found.late
            self.counters.expired += len(found.late)
            self.costs.doubt(bucket.key)
        if self.admission.waiting:
            self.admission.admit(self._admit)

    def _linger_until(self, bucket: Bucket) -> tuple[float, ReleaseReason]:
        until = self.backlog.oldest(bucket) + self._settings.max_queue_delay
        urgent = self._timer.earliest()
        if urgent is None or urgent.terms.deadline is None:
            return until, ReleaseReason.DELAY
        # Half of its time, less if batches take long: the other half is for its run.
        half = (urgent.arrival + urgent.terms.deadline) / 2
        latest = min(half, urgent.terms.deadline - 2 * self.costs.estimate(bucket.key))
        return (latest, ReleaseReason.DEADLINE) if latest < until else (until, ReleaseReason.DELAY)

    def rows_limit(self, bucket: Bucket) -> int:
        """The most rows of a batch from the bucket: by size, memory found out, and tokens."""
        limit = self._settings.max_batch_size
        if self.ceilings:
            limit = min(limit, self.ceilings.get(bucket.key, limit))
        tokens = self._settings.max_batch_tokens
        if tokens is not None and bucket.rows:
            length = self.backlog.peek(bucket).terms.length
            limit = max(1, min(limit, tokens // max(1, length)))
        return limit


def _batch(bucket: Bucket, found: Filling, reason: ReleaseReason, now: float) -> Batch:
    requests = found.requests
    loop = requests[0].loop
    mixed = len({request.loop for request in requests}) > 1
    return Batch(bucket.key, requests, found.rows, reason, now, loop, mixed, found.plain)
