"""Bounds, room, priorities and deadlines."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from accelhal.batching import DynamicBatcher, ReleaseReason
from accelhal.errors import DeadlineExceededError, QueueFullError

from .conftest import LIMIT, HeldModel

Make = Callable[..., DynamicBatcher]


def test_a_full_queue_rejects_with_the_figures(busy: Make) -> None:
    batcher = busy(max_queue_size=2)
    batcher.submit(1), batcher.submit(2)
    with pytest.raises(QueueFullError, match="2 of 2 rows") as caught:
        batcher.submit(3)
    assert "block" in str(caught.value)


@pytest.mark.usefixtures("quick_switches")
def test_a_crowd_does_not_pass_the_bound(busy: Make) -> None:
    crowd, room = 6, 4
    batcher = busy(max_queue_size=room)
    refused: list[int] = []

    def ask() -> None:
        for _ in range(300):
            try:
                batcher.submit("one of many")
            except QueueFullError:
                refused.append(1)

    threads = [threading.Thread(target=ask) for _ in range(crowd)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT)
        assert not thread.is_alive()
    queued = batcher.stats().queued
    assert room <= queued <= room + crowd  # one each, where they meet
    assert len(refused) == 300 * crowd - queued == batcher.stats().rejected


def test_cancelled_requests_give_up_their_room(busy: Make) -> None:
    batcher = busy(max_queue_size=2)
    futures = [batcher.submit(n) for n in range(2)]
    futures[0].cancel()
    batcher.submit("fits")
    assert batcher.stats().queued == 2


def test_a_thread_waits_for_room(busy: Make, held: HeldModel) -> None:
    batcher = busy(max_queue_size=1, overflow="block")
    answers: list[Any] = []
    threads = [
        threading.Thread(target=lambda n=n: answers.append(batcher.submit(n).result(LIMIT)))
        for n in range(5)
    ]
    for thread in threads:
        thread.start()
    while batcher.stats().waiting_for_space < 4:
        threading.Event().wait(0.001)
    held.release()
    for thread in threads:
        thread.join(LIMIT)
    assert sorted(answer[0] for answer in answers) == list(range(5))


def test_an_event_loop_is_not_blocked_while_its_requests_wait_for_room(
    busy: Make, held: HeldModel
) -> None:
    batcher = busy(max_queue_size=1, overflow="block")

    async def ask() -> list[Any]:
        futures = [batcher.asubmit(n) for n in range(6)]
        assert batcher.stats().waiting_for_space == 5
        held.release()  # this line is reached: the loop goes on
        return await asyncio.wait_for(asyncio.gather(*futures), LIMIT)

    assert [answer[0] for answer in asyncio.run(ask())] == list(range(6))


def test_waiting_for_room_ends_at_the_deadline(busy: Make) -> None:
    batcher = busy(max_queue_size=1, overflow="block")
    batcher.submit("fills the queue")
    with pytest.raises(DeadlineExceededError):
        batcher.submit("late", timeout=0.01).result(LIMIT)
    with pytest.raises(DeadlineExceededError):
        batcher("late too", timeout=0.01)
    assert batcher.stats().waiting_for_space == 0


def test_the_less_urgent_gives_way(busy: Make, held: HeldModel) -> None:
    batcher = busy(max_queue_size=3, overflow="shed_low_priority", priority_levels=3)
    low = [batcher.submit(f"low{n}", priority=2) for n in range(2)]
    mid = batcher.submit("mid", priority=1)
    first = batcher.submit("urgent1")
    assert isinstance(low[1].exception(LIMIT), QueueFullError)  # the newest of the least urgent
    second = batcher.submit("urgent2")
    assert isinstance(low[0].exception(LIMIT), QueueFullError)
    with pytest.raises(QueueFullError):
        batcher.submit("low again", priority=2)
    held.release()
    assert [f.result(LIMIT)[0] for f in (mid, first, second)] == ["mid", "urgent1", "urgent2"]
    assert (batcher.stats().shed, batcher.stats().rejected) == (2, 1)


def test_nobody_gives_way_in_vain(busy: Make, held: HeldModel) -> None:
    batcher = busy(max_queue_size=4, overflow="shed_low_priority")
    low = batcher.submit("low", priority=1)
    high = batcher.submit("high", rows=3)
    with pytest.raises(QueueFullError):
        batcher.submit("would need two", rows=2)
    held.release()
    assert (low.result(LIMIT)[0], high.result(LIMIT)[0]) == ("low", "high")


def test_waiting_makes_the_less_urgent_urgent(busy: Make, held: HeldModel) -> None:
    batcher = busy(max_batch_size=1, priority_aging=0.0)
    futures = [batcher.submit(n, priority=1 - n % 2) for n in range(6)]
    held.release()
    for future in futures:
        future.result(LIMIT)
    assert [items[0] for items in held.batches[1:]] == list(range(6))


def test_the_less_urgent_fill_a_batch_of_the_urgent(busy: Make, held: HeldModel) -> None:
    batcher = busy(max_batch_size=4)
    futures = [batcher.submit(f"low{n}", priority=1) for n in range(3)]
    futures += [batcher.submit(f"high{n}") for n in range(2)]
    held.release()
    for future in futures:
        future.result(LIMIT)
    assert held.batches[1:] == [["high0", "high1", "low0", "low1"], ["low2"]]


def test_what_expires_in_the_queue_is_not_computed(busy: Make, held: HeldModel) -> None:
    batcher = busy(max_batch_size=8)
    late = batcher.submit("late", timeout=0.01)
    assert isinstance(late.exception(LIMIT), DeadlineExceededError)
    in_time = batcher.submit("in time", timeout=LIMIT)
    held.release()
    assert in_time.result(LIMIT)[0] == "in time"
    assert held.batches == [["first"], ["in time"]]


def test_the_earliest_deadline_is_told_first_whenever_it_was_set(busy: Make) -> None:
    batcher = busy()
    told: list[str] = []
    all_told = threading.Event()

    def tell(name: str) -> Callable[[Any], None]:
        return lambda _: (told.append(name), len(told) == 3 and all_told.set())

    for name, timeout in (("third", 0.3), ("second", 0.2), ("first", 0.1)):
        batcher.submit(name, timeout=timeout).add_done_callback(tell(name))
    assert all_told.wait(LIMIT)
    assert told == ["first", "second", "third"]


def test_the_default_time_limit_holds_for_all(busy: Make) -> None:
    batcher = busy(default_timeout=0.05)
    with pytest.raises(DeadlineExceededError):
        batcher("anything")
    with pytest.raises(DeadlineExceededError):
        batcher.map(range(3))
    with pytest.raises(DeadlineExceededError):
        batcher.submit("anything").result(LIMIT)


def test_a_deadline_during_the_run_is_told_and_the_result_dropped(
    make: Make, held: HeldModel
) -> None:
    batcher = make(held, collate="list")
    future = batcher.submit("slow", timeout=0.1)
    held.wait_until_entered()
    assert isinstance(future.exception(LIMIT), DeadlineExceededError)
    held.release()
    assert batcher.submit("next").result(LIMIT)[0] == "next"


def test_a_lingering_batch_leaves_in_time_for_its_deadlines(make: Make) -> None:
    batcher = make(lambda items: items, collate="list", max_queue_delay=3600)
    future = batcher.submit(1, timeout=2 * LIMIT)
    now = batcher._clock()
    batcher._dispatcher.clock = lambda: now + 1.5 * LIMIT
    with batcher._dispatcher.lock:
        batcher._dispatcher._parking.wake_all()  # as if it had slept until then
    assert future.result(LIMIT) == 1
    assert batcher.drain(LIMIT)
    assert batcher.stats().reasons == {ReleaseReason.DEADLINE: 1}
