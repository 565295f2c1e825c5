"""Arbitrary interleavings of asking, cancelling, expiring, running and closing."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import Any

import pytest
from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from accelhal.batching import DynamicBatcher, ReleaseReason
from accelhal.batching.costs import CostTable
from accelhal.batching.dispatcher import Dispatcher
from accelhal.batching.replies import FutureReply, settle_all
from accelhal.batching.request import PLAIN, Batch, Request, Terms
from accelhal.batching.settings import Settings
from accelhal.batching.sizes import BatchSizes
from accelhal.errors import (
    BatcherClosedError,
    DeadlineExceededError,
    DeviceLostError,
    QueueFullError,
)

from .conftest import LIMIT
from .test_failures import DyingLane


class CountingReply(FutureReply):
    """A future that knows how often it was answered."""

    def __init__(self) -> None:
        super().__init__()
        self.answers = 0
        self.add_done_callback(self._count)

    def _count(self, _: Any) -> None:
        self.answers += 1


class Scheduling(RuleBasedStateMachine):
    """A dispatcher under a clock that the test moves, without threads."""

    @initialize(
        batch=st.integers(1, 5),
        queue=st.integers(1, 12),
        delay=st.sampled_from([0.0, 5.0]),
        overflow=st.sampled_from(["reject", "shed_low_priority", "block"]),
        sizes=st.sampled_from([(), (1, 3, 5)]),
        policy=st.sampled_from(["pad_up", "batch_down"]),
    )
    def begin(
        self, batch: int, queue: int, delay: float, overflow: str, sizes: Any, policy: str
    ) -> None:
        self.now = 100.0
        self.settings = Settings(
            max_batch_size=batch,
            max_queue_size=queue,
            max_queue_delay=delay,
            overflow=overflow,
            priority_levels=3,
            priority_aging=10.0,
        )
        costs = CostTable()
        self.dispatcher = Dispatcher(
            self.settings, BatchSizes(sizes, policy, costs), costs, lambda: self.now
        )
        # No thread: the deadlines of this test ring when it says so.
        self.dispatcher._timer._thread = threading.current_thread()
        self.asked: list[Request] = []
        self.flying: list[Batch] = []
        self.ran: list[Request] = []
        self.closed = False

    @rule(
        key=st.sampled_from("ab"),
        priority=st.integers(0, 2),
        rows=st.integers(1, 3),
        timeout=st.sampled_from([None, 1.0, 20.0]),
    )
    def ask(self, key: str, priority: int, rows: int, timeout: float | None) -> None:
        rows = min(rows, self.settings.max_batch_size, self.settings.max_queue_size)
        deadline = None if timeout is None else self.now + timeout
        terms = Terms(rows, False, 1, priority, deadline)
        request = Request(object(), CountingReply(), None, self.now, terms, None, key)
        dispatcher = self.dispatcher
        try:
            if self.settings.overflow == "block":
                dispatcher.put_when_there_is_room(request, True, None)
            else:
                dispatcher.put_all([request], True)
        except QueueFullError:
            assert dispatcher.backlog.rows + rows > self.settings.max_queue_size
            return
        except BatcherClosedError:
            assert self.closed
            return
        self.asked.append(request)

    @rule(key=st.sampled_from("ab"), count=st.integers(1, 4))
    def ask_for_no_more_than_the_answer(self, key: str, count: int) -> None:
        dispatcher = self.dispatcher
        for _ in range(count):
            request = Request(object(), CountingReply(), None, self.now, PLAIN, None, key)
            try:
                dispatcher.put_plain(request)
            except QueueFullError:
                assert dispatcher.backlog.rows == self.settings.max_queue_size
                return
            except BatcherClosedError:
                assert self.closed
                return
            self.asked.append(request)

    @rule(data=st.data())
    @precondition(lambda self: self.asked)
    def cancel(self, data: st.DataObject) -> None:
        data.draw(st.sampled_from(self.asked)).reply.cancel()  # type: ignore[union-attr]

    @rule(seconds=st.sampled_from([0.1, 3.0, 30.0]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule()
    def ring(self) -> None:
        with self.dispatcher.lock:
            due = self.dispatcher._timer.due(self.now)
        self.dispatcher._expire(due)

    @rule()
    def take(self) -> None:
        dispatcher = self.dispatcher
        dispatcher.backlog.sort()
        full = any(
            sum(r.terms.rows for level in bucket.levels for r in level if not r.reply.done())
            >= self.settings.max_batch_size
            for bucket in dispatcher.backlog._waiting
        )
        oldest = min((r.arrival for r in dispatcher.backlog if not r.reply.done()), default=None)
        waiting = list(dispatcher.backlog)  # what a batch makes room for joins after it is formed
        with dispatcher.lock:
            batch, late, until = dispatcher._releases.next(self.now, True, dispatcher.ending)
            if batch is not None:
                dispatcher.in_flight.add(batch)
        for request in late:
            assert request.terms.deadline is not None
            assert request.terms.deadline < self.now
            request.reply.settle(None, DeadlineExceededError("late"))  # type: ignore[union-attr]
        if until is not None:
            assert not full
            assert oldest is None or until <= oldest + self.settings.max_queue_delay
        if batch is None:
            return
        self.flying.append(batch)
        assert batch.rows == sum(request.terms.rows for request in batch.requests)
        assert batch.rows <= self.settings.max_batch_size
        for request in batch.requests:
            assert not request.reply.done()
            assert request not in self.ran
            assert request.terms.deadline is None or request.terms.deadline >= self.now
        self.ran += batch.requests
        if batch.reason is ReleaseReason.IDLE:
            left = dispatcher.backlog._buckets[batch.key].levels
            assert not [r for level in left for r in level if r in waiting]

    @rule(data=st.data())
    @precondition(lambda self: self.flying)
    def answer(self, data: st.DataObject) -> None:
        batch = data.draw(st.sampled_from(self.flying))
        self.flying.remove(batch)
        settle_all(batch.requests, [r.value for r in batch.requests], batch.loop, batch.mixed)
        self.dispatcher.finished(batch)

    @rule(data=st.data())
    @precondition(lambda self: self.flying)
    def lose_the_lane(self, data: st.DataObject) -> None:
        batch = data.draw(st.sampled_from(self.flying))
        self.flying.remove(batch)
        for request in batch.requests:
            self.ran.remove(request)
        self.dispatcher.finished(batch)
        batch.requests = [r for r in batch.requests if not r.reply.done()]
        if batch.requests:
            batch = batch.part(batch.requests)
            self.dispatcher.retry(batch)

    @rule(drain=st.booleans())
    def close(self, drain: bool) -> None:
        self.closed = True
        self.dispatcher.end(lambda: BatcherClosedError("closed"))
        if not drain:
            self.dispatcher.clear(in_flight=False)

    @invariant()
    def the_count_of_rows_is_that_of_the_queue(self) -> None:
        backlog = self.dispatcher.backlog
        rows = sum(request.terms.rows for request in backlog)
        assert backlog.rows + len(backlog.arrivals) == rows <= self.settings.max_queue_size
        assert bool(backlog) == bool(list(backlog))

    @invariant()
    def nobody_is_answered_twice_or_with_anothers(self) -> None:
        for request in self.asked:
            reply: Any = request.reply
            assert reply.answers == reply.done()
            if reply.done() and not reply.cancelled() and reply.exception() is None:
                assert reply.result() is request.value

    def teardown(self) -> None:
        if not hasattr(self, "asked"):
            return
        self.now += 1e6
        self.dispatcher.end(lambda: BatcherClosedError("closed"))
        self.ring()
        for batch in self.flying:
            settle_all(batch.requests, [r.value for r in batch.requests], None, False)
            self.dispatcher.finished(batch)
        self.dispatcher.clear(in_flight=True)
        assert self.dispatcher._quiet()
        for request in self.asked:
            assert request.reply.done()
        self.nobody_is_answered_twice_or_with_anothers()


TestScheduling = Scheduling.TestCase
TestScheduling.settings = settings(
    max_examples=60, stateful_step_count=40, suppress_health_check=[HealthCheck.too_slow]
)


def test_a_deadline_found_due_while_the_batcher_closes_is_answered_once() -> None:
    costs = CostTable()
    limits = Settings(max_batch_size=1, max_queue_size=1, overflow="block")
    dispatcher = Dispatcher(limits, BatchSizes((), "pad_up", costs), costs)
    for reply in (FutureReply(), waiting := FutureReply()):
        request = Request("x", reply, None, 0.0, Terms(deadline=0.0), None, "key")
        dispatcher.put_when_there_is_room(request, False, None)
    dispatcher.end(lambda: BatcherClosedError("closed"))
    dispatcher.clear(in_flight=False)
    dispatcher._expire([request])  # what the timer's thread does with what it took out before
    with pytest.raises(BatcherClosedError):
        waiting.result(0)


class Item:
    """A value that only its own caller may get back."""

    def __init__(self, poison: bool) -> None:
        self.poison = poison


def model(items: list[Item]) -> list[Item]:
    if any(item.poison for item in items):
        raise ValueError("poison")
    return list(items)


class IdentityLane(DyingLane):
    """A lane that gives items back, and is lost at its n-th batch."""

    def launch(self, work: Any) -> Any:
        launched = super().launch(work)
        items = launched.arguments.args[0]
        return type(launched)(launched.arguments, lambda: model(items))


EXPECTED = (CancelledError, DeadlineExceededError, QueueFullError, ValueError)


def ask_in_a_thread(batcher: DynamicBatcher, rng: random.Random, wrong: list[Any]) -> None:
    asked = []
    for _ in range(60):
        item = Item(rng.random() < 0.05)
        timeout = rng.choice([None, None, None, 1e-5, LIMIT])
        try:
            future = batcher.submit(item, priority=rng.randrange(2), timeout=timeout)
        except (QueueFullError, BatcherClosedError, DeviceLostError):
            continue
        if rng.random() < 0.1:
            future.cancel()
        asked.append((item, future))
    for item, future in asked:
        try:
            if future.result(LIMIT) is not item:
                wrong.append("another's")
        except (*EXPECTED, BatcherClosedError, DeviceLostError):
            pass
        except BaseException as error:
            wrong.append(error)


async def ask_in_a_loop(batcher: DynamicBatcher, rng: random.Random, wrong: list[Any]) -> None:
    async def one() -> None:
        item = Item(rng.random() < 0.05)
        try:
            answer = await asyncio.wait_for(
                batcher.asubmit(item, timeout=rng.choice([None, 1e-5])),
                rng.choice([1e-4, LIMIT, LIMIT]),
            )
        except (*EXPECTED, BatcherClosedError, DeviceLostError, asyncio.TimeoutError) as error:
            if isinstance(error, asyncio.TimeoutError) and "limit" in str(error):
                return
        else:
            if answer is not item:
                wrong.append("another's")

    await asyncio.wait_for(asyncio.gather(*(one() for _ in range(120))), 2 * LIMIT)


@pytest.mark.usefixtures("quick_switches")
@pytest.mark.filterwarnings("ignore::accelhal.errors.AccelhalWarning")
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("ending", ["drain", "close", "close at once", "lost"])
def test_whatever_happens_everyone_is_answered(
    make: Callable[..., DynamicBatcher], seed: int, ending: str
) -> None:
    rng = random.Random(seed)
    first = IdentityLane("a", dies_at=rng.randrange(3, 30), depth=rng.randrange(1, 4))
    second = IdentityLane("b", dies_at=rng.randrange(3, 30) if ending == "lost" else None)
    batcher = make(
        lanes=[first],
        standby=[second],
        collate="list",
        max_batch_size=rng.choice([1, 4, 16]),
        max_queue_size=rng.choice([8, 500]),
        max_queue_delay=rng.choice([0.0, 0.001]),
        overflow=rng.choice(["reject", "block", "shed_low_priority"]),
    )
    wrong: list[Any] = []
    threads = [
        threading.Thread(target=ask_in_a_thread, args=(batcher, random.Random(n), wrong))
        for n in range(3)
    ]
    threads.append(
        threading.Thread(
            target=lambda: asyncio.run(ask_in_a_loop(batcher, random.Random(9), wrong))
        )
    )
    for thread in threads:
        thread.start()
    if ending == "close at once":
        batcher.close(drain=False, timeout=LIMIT)
    elif ending == "close":
        batcher.close(timeout=LIMIT)
    for thread in threads:
        thread.join(3 * LIMIT)
        assert not thread.is_alive()
    assert wrong == []
    assert batcher.drain(LIMIT)
    stats = batcher.stats()
    assert (stats.queued, stats.in_flight, stats.waiting_for_space, stats.restarts) == (0, 0, 0, 0)
