"""The one lock and what it guards: requests come in from any thread, lanes take batches out."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from accelhal.batching.admission import Admission, Gate
from accelhal.batching.buckets import Backlog, Bucket
from accelhal.batching.costs import CostTable
from accelhal.batching.deadlines import DeadlineTimer
from accelhal.batching.parking import Parking, Seat
from accelhal.batching.releases import Releases
from accelhal.batching.replies import fail_all
from accelhal.batching.request import Batch, ReleaseReason, Request
from accelhal.batching.settings import Settings
from accelhal.batching.sizes import BatchSizes
from accelhal.batching.statistics import BatchRecord, Counters
from accelhal.errors import AccelhalError, DeadlineExceededError, QueueFullError


class Dispatcher:
    """Requests bound to a batch when a lane is free, and not before.

    The lock may be taken again by its holder: the garbage collector may end a batcher at any place.

    Args:
        settings: limits and policies.
        sizes: allowed batch sizes.
        costs: how long batches take.
        clock: seconds, as time.monotonic.
        name: for the timer's thread.
        key_of: the key of a value whose request has none yet.
    """

    def __init__(
        self,
        settings: Settings,
        sizes: BatchSizes,
        costs: CostTable,
        clock: Callable[[], float] = time.monotonic,
        name: str = "batcher",
        key_of: Callable[[Any], Hashable] = type,
    ) -> None:
        self.lock = threading.RLock()
        self.clock = clock
        self.counters = Counters()
        self.costs = costs
        self.in_flight: set[Batch] = set()
        self.backlog = Backlog(
            settings.priority_levels, settings.priority_aging, key_of, settings.max_queue_size
        )
        self._arrivals = self.backlog.arrivals
        self.admission = Admission(self.backlog, settings, self.counters, clock)
        self.refusal: Callable[[], AccelhalError] | None = None
        self.ending = False
        self._bound = settings.max_queue_size
        self._parking = Parking()
        self._drainers: list[threading.Lock] = []
        self._timer = DeadlineTimer(self.lock, self._expire, clock, f"{name} deadlines")
        self._releases = Releases(
            settings,
            self.backlog,
            self.admission,
            sizes,
            costs,
            self._timer,
            self.counters,
            self._admit,
        )
        self.ceilings = self._releases.ceilings

    # ---- requests come in

    def put_plain(self, request: Request) -> None:
        """Queue a request of plain terms: what nearly all are, and without the lock.

        Threads that meet here may take the queue beyond its bound, by one request each.

        Raises:
            QueueFullError: there is no room.
            AccelhalError: the batcher takes none any more; the class says why.
        """
        arrivals = self._arrivals
        arrivals.append(request)
        # Read after the append, as `end` sets the bound and lanes take a seat before they look at
        # the arrivals once more: one of the two always sees the other.
        if len(arrivals) + self.backlog.rows > self._bound:
            self._put_exactly(request)
        elif self._parking.lingering:
            with self.lock:
                if self.sort():
                    self._notify(self.backlog.bucket_of(request))
        elif self._parking.idle:
            with self.lock:
                self._parking.wake_one()

    def sort(self) -> bool:
        """Put arrivals in order, under the lock; not at the end, where only lanes still look.

        Others would leave there what has come too late, and its caller could not take it back.
        """
        if self.refusal is None:
            self.backlog.sort()
        return self.refusal is None

    def _put_exactly(self, request: Request) -> None:
        """Take an arrival back and queue it as the bound and its policy say."""
        with self.lock:
            try:
                self._arrivals.remove(request)
            except ValueError:  # sorted meanwhile: it is queued, or answered by now
                return
        self.put_all((request,), timed=False)

    def put_all(self, requests: Sequence[Request], timed: bool) -> None:
        """Queue requests, all or none.

        Args:
            requests: of one caller.
            timed: have their deadlines watched.

        Raises:
            QueueFullError: there is no room.
            AccelhalError: the batcher takes none any more; the class says why.
        """
        with self.lock:
            self._check_open()
            self.backlog.sort()
            rows = sum(request.terms.rows for request in requests)
            gave_way = self.admission.make_room(rows, requests[0].terms.priority)
            for request in requests:
                self._add(request, timed)
        fail_all(gave_way, _shed)

    def put_when_there_is_room(self, request: Request, timed: bool, gate: Gate | None) -> bool:
        """Queue a request now, or after those that wait for room; whether it is queued now.

        Args:
            request: the request.
            timed: have its deadline watched, from now on.
            gate: opened when it is queued, or will never be.

        Raises:
            AccelhalError: the batcher takes none any more; the class says why.
        """
        with self.lock:
            self._check_open()
            self.backlog.sort()
            fits = self.backlog.rows + request.terms.rows <= self._bound
            if fits and not self.admission.waiting:
                self._add(request, timed)
                return True
            if timed and request.terms.deadline is not None:
                self._timer.add(request, request.terms.deadline)
            self.admission.enter(request, gate)
            if self.admission.sweep():
                self.admission.admit(self._admit)
            return False

    def give_up_waiting(self, request: Request) -> None:
        """Take a request back that waits for room."""
        with self.lock:
            self.admission.leave(request)

    def expire_waiting(self, request: Request) -> None:
        """The same, as its time is over; the timer may have ended meanwhile."""
        with self.lock:
            self.admission.leave(request)
            if not request.reply.claim():  # type: ignore[union-attr]
                return
            self.counters.expired += 1
        fail_all((request,), _too_late)

    def _add(self, request: Request, timed: bool) -> None:
        bucket = self.backlog.add(request)
        if timed and request.terms.deadline is not None:
            self._timer.add(request, request.terms.deadline)
        self._notify(bucket)

    def _admit(self, request: Request) -> None:
        self._notify(self.backlog.add(request))

    def _check_open(self) -> None:
        if self.refusal is not None:
            raise self.refusal()

    def _notify(self, bucket: Bucket) -> None:
        """Wake a lane that waits for work, or one that lingers for what is now full."""
        parking = self._parking
        if parking.lingering:
            if bucket.rows >= self._releases.rows_limit(bucket):
                parking.lingering.pop().parker.release()
        elif parking.idle:
            parking.idle.pop().parker.release()

    # ---- lanes take batches out

    def take(self, seat: Seat, wait: bool) -> Batch | None:
        """The next batch for a lane that is free.

        Args:
            seat: where its thread waits.
            wait: wait for one, as long as the batcher is not ending; else only a full one is given,
                for a lane that has another in flight.

        Returns:
            A batch; None where there is no full one, or where there will be none any more.
        """
        while True:
            with self.lock:
                ending = self.ending
                batch, late, until = self._releases.next(self.clock(), wait, ending)
                if batch is not None:
                    self.in_flight.add(batch)
                parked = batch is None and not late and wait
                if parked:
                    if ending and self._quiet():
                        self._parking.wake_all()
                        return None
                    seats = self._parking.idle if until is None else self._parking.lingering
                    seats.append(seat)
                    if self.backlog.unsorted:  # their callers saw no seat taken
                        self._parking.stand_up(seat)
                        continue
                if not self.backlog:
                    self._tell_if_quiet()
            if late:
                fail_all(late, _cannot_be_in_time)
            if not parked:
                if batch is not None or not (late or wait):
                    return batch
                continue
            if self.ending is not ending:  # ended inside the lock, by the garbage collector
                self._stand_up(seat)
                continue
            timeout = -1.0 if until is None else max(0.0, until - self.clock())
            if not seat.parker.acquire(timeout=timeout):
                self._stand_up(seat)

    def _stand_up(self, seat: Seat) -> None:
        with self.lock:
            self._parking.stand_up(seat)

    # ---- batches end

    def count(self, record: BatchRecord, model_calls: int, out_of_memory: bool) -> None:
        """A batch has run."""
        if self.counters.note(record, model_calls, out_of_memory):
            with self.lock:
                self.counters.read()

    def finished(self, batch: Batch) -> None:
        """A batch is answered."""
        with self.lock:
            self.in_flight.discard(batch)
            self._tell_if_quiet()

    def replace(self, batch: Batch, left: Batch) -> None:
        """Of a batch in flight, only some requests are left to answer."""
        with self.lock:
            self.in_flight.discard(batch)
            self.in_flight.add(left)

    def count_expired(self) -> None:
        """A caller has waited too long, and said so itself."""
        with self.lock:
            self.counters.expired += 1

    def restarted(self) -> None:
        """A lane's loop failed and goes on."""
        with self.lock:
            self.counters.restarts += 1

    def retry(self, batch: Batch) -> None:
        """Put a batch at the head whose lane was lost."""
        with self.lock:
            self.in_flight.discard(batch)
            batch.reason = ReleaseReason.RETRY
            self._releases.retries.append(batch)
            self.counters.failovers += 1
            self._parking.wake_one()

    def _expire(self, requests: list[Request]) -> None:
        with self.lock:
            for request in requests:
                if request.loop is None:
                    request.reply.claim()  # type: ignore[union-attr]
            self.counters.expired += len(requests)
        fail_all(requests, _too_late)

    # ---- the end

    def end(self, refusal: Callable[[], AccelhalError]) -> None:
        """Take no more requests; lanes finish what is queued and leave."""
        with self.lock:
            if self.refusal is None:
                self.refusal = refusal
            self._bound = -1
            self.ending = True
            self._parking.wake_all()

    def clear(self, in_flight: bool) -> None:
        """Answer all that is queued, and what is in flight if asked, with the refusal's error."""
        with self.lock:
            left = [r for batch in self._releases.retries for r in batch.requests]
            self._releases.retries.clear()
            # Claimed under the lock, so that the timer's thread does not claim what is answered.
            for request in (*self.admission.dismiss(), *self.backlog.take_all()):
                if request.loop is not None or request.reply.claim():  # type: ignore[union-attr]
                    left.append(request)
            if in_flight:
                left += [request for batch in self.in_flight for request in batch.requests]
            refusal = self.refusal
            self._parking.wake_all()
            self._tell_if_quiet()
        if refusal is not None:
            fail_all(left, refusal)

    def stop_timer(self) -> None:
        """Watch no deadlines any more."""
        with self.lock:
            self._timer.stop()

    def forked(self, refusal: Callable[[], AccelhalError]) -> None:
        """Make sense in a forked child, where no lane and no timer is: answer what waits there.

        Event loops are the parent's, and their wake-ups would be written to it.
        """
        self.lock = threading.RLock()
        self.refusal, self._bound, self.ending = refusal, -1, True
        self._parking = Parking()
        left = [r for batch in (*self.in_flight, *self._releases.retries) for r in batch.requests]
        left += self.backlog.take_all()
        left += self.admission.dismiss()
        self.in_flight.clear()
        self._releases.retries.clear()
        fail_all((request for request in left if request.loop is None), refusal)

    def wait_until_quiet(self, timeout: float | None) -> bool:
        """Wait until nothing is queued or in flight; False where `timeout` seconds came first."""
        with self.lock:
            if self._quiet():
                return True
            told = threading.Lock()
            told.acquire()
            self._drainers.append(told)
        if told.acquire(timeout=-1 if timeout is None else timeout):
            return True
        with self.lock:
            if told in self._drainers:
                self._drainers.remove(told)
                return False
        return True

    def _quiet(self) -> bool:
        return not (
            self.backlog or self.in_flight or self._releases.retries or self.admission.waiting
        )

    def _tell_if_quiet(self) -> None:
        if (self._drainers or self.ending) and self._quiet():
            for told in self._drainers:
                told.release()
            self._drainers.clear()
            if self.ending:
                self._parking.wake_all()


def _shed() -> QueueFullError:
    return QueueFullError(
        "the request gave way to more urgent ones: the queue was full", operation="submit"
    )


def _too_late() -> DeadlineExceededError:
    return DeadlineExceededError("the request's time limit has passed", operation="submit")


def _cannot_be_in_time() -> DeadlineExceededError:
    return DeadlineExceededError(
        "the request was dropped: a batch takes longer than the time it has left",
        operation="submit",
    )
