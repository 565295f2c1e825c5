"""`@accelhal.batch`: functions, coroutines and methods."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from typing import Any

import pytest

import accelhal
from accelhal.errors import UsageError

from .conftest import LIMIT


def test_a_function_of_a_list_becomes_one_of_an_item() -> None:
    @accelhal.batch(max_batch_size=4)
    def lengths(texts: list[str]) -> list[int]:
        """How long they are."""
        return [len(text) for text in texts]

    assert lengths("four") == 4
    assert lengths.map(["a", "bb", "ccc"]) == [1, 2, 3]
    assert lengths.submit("two").result(LIMIT) == 3
    assert lengths.stats().requests == 5
    assert (lengths.__name__, lengths.__doc__) == ("lengths", "How long they are.")
    assert lengths.close()


def test_it_may_stand_without_options() -> None:
    @accelhal.batch
    def same(items: list[Any]) -> list[Any]:
        return items

    assert same(1) == 1
    assert same.close()


def test_a_coroutine_is_awaited_and_runs_in_one_loop() -> None:
    loops = set()

    @accelhal.batch(max_batch_size=8)
    async def twice(items: list[int]) -> list[int]:
        loops.add(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return [2 * item for item in items]

    async def ask() -> list[int]:
        return await asyncio.wait_for(asyncio.gather(*(twice(n) for n in range(20))), LIMIT)

    assert asyncio.run(ask()) == [2 * n for n in range(20)]
    assert asyncio.run(ask()) == [2 * n for n in range(20)]
    assert len(loops) == 1
    assert twice.close()
    assert loops.pop().is_closed()


class Model:
    def __init__(self, factor: int) -> None:
        self.factor = factor
        self.batches = 0

    @accelhal.batch(max_batch_size=4)
    def times(self, items: list[int]) -> list[int]:
        self.batches += 1
        return [self.factor * item for item in items]

    @accelhal.batch
    async def atimes(self, items: list[int]) -> list[int]:
        return [self.factor * item for item in items]


def test_a_method_is_batched_for_each_instance_by_itself() -> None:
    two, three = Model(2), Model(3)
    futures = [(two if n % 2 else three).times.submit(n) for n in range(20)]
    assert [f.result(LIMIT) for f in futures] == [n * (2 if n % 2 else 3) for n in range(20)]
    assert two.times.batcher is not three.times.batcher
    assert two.times is two.times

    async def ask() -> int:
        return await asyncio.wait_for(two.atimes(21), LIMIT)

    assert asyncio.run(ask()) == 42
    for one in (two.times, three.times, two.atimes):
        assert one.close()


def test_an_instance_is_not_kept_by_its_batcher() -> None:
    model = Model(2)
    assert model.times(1) == 2
    assert model.times.drain(LIMIT)
    thread = model.times.batcher._crew._runners[0]._thread
    gone = weakref.ref(model)
    del model
    for _ in range(100):  # the lane may be about to let go of its last request
        gc.collect()
        if gone() is None:
            break
        threading.Event().wait(0.01)
    assert gone() is None
    thread.join(LIMIT)
    assert not thread.is_alive()


def test_an_instance_lives_as_long_as_its_requests() -> None:
    future = Model(5).times.submit(3)
    gc.collect()
    assert future.result(LIMIT) == 15


def test_an_instance_without_a_dict_is_refused() -> None:
    class Slotted:
        __slots__ = ()

        @accelhal.batch
        def same(self, items: list[Any]) -> list[Any]:
            return items

    with pytest.raises(UsageError, match="Slotted has __slots__"):
        Slotted().same(1)
