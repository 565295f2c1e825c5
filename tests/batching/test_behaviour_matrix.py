"""How a batcher behaves where others hang, stall or fail: each case they were measured by."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable
from typing import Any

import pytest

from accelhal.batching import DynamicBatcher, ReleaseReason
from accelhal.errors import (
    BatcherClosedError,
    BatchSizeMismatchError,
    ModelExitError,
    QueueFullError,
)

from .conftest import LIMIT, HeldModel

Make = Callable[..., DynamicBatcher]


def echo(items: list[Any]) -> list[Any]:
    return list(items)


def test_a_lone_request_waits_for_nobody(make: Make) -> None:
    batcher = make(echo, collate="list", max_batch_size=8)
    assert batcher.submit("lone").result(LIMIT) == "lone"
    assert batcher.stats().reasons == {ReleaseReason.IDLE: 1}


def test_a_lone_request_lingers_no_longer_than_the_delay(make: Make) -> None:
    batcher = make(echo, collate="list", max_batch_size=8, max_queue_delay=0.01)
    assert batcher.submit("lone").result(LIMIT) == "lone"
    assert batcher.stats().reasons == {ReleaseReason.DELAY: 1}


def test_a_full_batch_does_not_wait_for_the_delay(make: Make) -> None:
    batcher = make(echo, collate="list", max_batch_size=8, max_queue_delay=3600)
    futures = [batcher.submit(n) for n in range(8)]
    assert [future.result(LIMIT) for future in futures] == list(range(8))
    assert batcher.stats().reasons == {ReleaseReason.FULL: 1}


def test_one_poisoned_request_of_eight_fails_alone(make: Make) -> None:
    def model(items: list[Any]) -> list[Any]:
        if "poison" in items:
            raise ValueError("poison")
        return items

    batcher = make(model, collate="list", max_batch_size=8, max_queue_delay=3600)
    futures = [batcher.submit("poison" if n == 5 else n) for n in range(8)]
    with pytest.raises(ValueError, match="poison"):
        futures[5].result(LIMIT)
    assert [f.result(LIMIT) for n, f in enumerate(futures) if n != 5] == [0, 1, 2, 3, 4, 6, 7]


def test_cancelled_requests_are_not_computed_and_others_are_served(
    busy: Make, held: HeldModel
) -> None:
    batcher = busy(max_batch_size=8)

    async def ask() -> list[Any]:
        futures = [batcher.asubmit(n) for n in range(8)]
        futures[2].cancel()
        futures[6].cancel()
        held.release()
        return await asyncio.wait_for(asyncio.gather(*futures, return_exceptions=True), LIMIT)

    answers = asyncio.run(ask())
    assert [type(a) for n, a in enumerate(answers) if n in (2, 6)] == [asyncio.CancelledError] * 2
    assert [a[0] for n, a in enumerate(answers) if n not in (2, 6)] == [0, 1, 3, 4, 5, 7]
    assert held.batches[1] == [0, 1, 3, 4, 5, 7]


def test_a_cancelled_thread_future_is_not_computed(busy: Make, held: HeldModel) -> None:
    batcher = busy(max_batch_size=8)
    futures = [batcher.submit(n) for n in range(4)]
    assert futures[1].cancel()
    held.release()
    assert [f.result(LIMIT)[0] for n, f in enumerate(futures) if n != 1] == [0, 2, 3]
    assert concurrent.futures.wait(futures, LIMIT).not_done == set()
    assert held.batches[1] == [0, 2, 3]
    assert batcher.stats().cancelled == 1


def test_a_request_cancelled_in_flight_harms_nobody(make: Make, held: HeldModel) -> None:
    batcher = make(held, collate="list", max_batch_size=8, max_queue_delay=1)

    async def ask() -> list[Any]:
        futures = [batcher.asubmit(n) for n in range(8)]
        await asyncio.to_thread(held.wait_until_entered)
        futures[3].cancel()
        held.release()
        return await asyncio.wait_for(asyncio.gather(*futures, return_exceptions=True), LIMIT)

    answers = asyncio.run(ask())
    assert isinstance(answers.pop(3), asyncio.CancelledError)
    assert [answer[0] for answer in answers] == [0, 1, 2, 4, 5, 6, 7]
    assert [answer[0] for answer in batcher.map(range(8))] == list(range(8))


def test_a_model_that_returns_one_result_too_few(make: Make) -> None:
    def model(items: list[Any]) -> list[Any]:
        return [item for item in items if item != "dropped"]

    batcher = make(model, collate="list", max_batch_size=8, max_queue_delay=3600)
    futures = [batcher.submit("dropped" if n == 0 else n) for n in range(8)]
    with pytest.raises(BatchSizeMismatchError, match="0 results for 1 requests"):
        futures[0].result(LIMIT)
    assert [future.result(LIMIT) for future in futures[1:]] == list(range(1, 8))


def test_a_model_that_always_returns_one_too_few_fails_everyone(make: Make) -> None:
    batcher = make(lambda items: items[1:], collate="list", max_batch_size=4, max_queue_delay=3600)
    futures = [batcher.submit(n) for n in range(4)]
    errors = [future.exception(LIMIT) for future in futures]
    assert [type(error) for error in errors] == [BatchSizeMismatchError] * 4
    assert len(set(map(id, errors))) == 4


@pytest.mark.parametrize("fatal", [SystemExit(3), KeyboardInterrupt(), GeneratorExit()])
def test_a_model_that_ends_its_thread_fails_the_one_at_fault(
    make: Make, fatal: BaseException
) -> None:
    def model(items: list[Any]) -> list[Any]:
        if "fatal" in items:
            raise fatal
        return items

    batcher = make(model, collate="list", max_batch_size=4, max_queue_delay=3600)

    async def ask() -> list[Any]:
        futures = [batcher.asubmit(x) for x in (0, "fatal", 2, 3)]
        return await asyncio.wait_for(asyncio.gather(*futures, return_exceptions=True), LIMIT)

    answers = asyncio.run(ask())
    assert isinstance(answers[1], ModelExitError)
    assert isinstance(answers[1].__cause__, type(fatal))
    assert [answers[0], *answers[2:]] == [0, 2, 3]
    assert batcher.healthy


def test_submits_to_a_stuck_device_are_bounded(busy: Make) -> None:
    batcher = busy(max_queue_size=100)
    accepted, refused = 0, 0
    for n in range(20_000):
        try:
            batcher.submit(n)
            accepted += 1
        except QueueFullError:
            refused += 1
    assert (accepted, refused) == (100, 19_900)
    assert batcher.stats().rejected == 19_900


@pytest.mark.parametrize("drain", [True, False])
def test_close_leaves_none_of_24_pending(busy: Make, held: HeldModel, drain: bool) -> None:
    batcher = busy(max_batch_size=4)
    futures = [batcher.submit(n) for n in range(24)]
    closer = threading.Thread(target=batcher.close, kwargs={"drain": drain})
    closer.start()
    if drain:
        held.release()
        assert [future.result(LIMIT)[0] for future in futures] == list(range(24))
    else:
        errors = [future.exception(LIMIT) for future in futures]
        assert [type(error) for error in errors] == [BatcherClosedError] * 24
        held.release()
    closer.join(LIMIT)
    assert not closer.is_alive()


def test_requests_reach_the_model_in_order(busy: Make, held: HeldModel) -> None:
    batcher = busy(max_batch_size=8)
    futures = [batcher.submit(n) for n in range(64)]
    held.release()
    for future in futures:
        future.result(LIMIT)
    assert [item for one in held.batches[1:] for item in one] == list(range(64))


def test_an_idle_batcher_is_not_woken(make: Make) -> None:
    batcher = make(echo, collate="list", max_queue_delay=0.001, default_timeout=3600)
    batcher.submit(1).result(LIMIT)
    batcher.drain(LIMIT)
    dispatcher = batcher._dispatcher
    turns = []
    clock, dispatcher.clock = dispatcher.clock, lambda: turns.append(1) or clock()
    # Whoever wakes looks at the clock or at the queue: nobody does in thirty delays.
    assert not threading.Event().wait(0.03)
    assert turns == []
