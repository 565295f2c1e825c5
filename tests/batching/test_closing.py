"""The end of a batcher: closed, drained, forgotten, forked, or ended with the interpreter."""

from __future__ import annotations

import asyncio
import concurrent.futures
import gc
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from accelhal.batching import DynamicBatcher
from accelhal.errors import BatcherClosedError

from .conftest import LIMIT, HeldModel

Make = Callable[..., DynamicBatcher]


def echo(items: list[Any]) -> list[Any]:
    return list(items)


@pytest.mark.parametrize("way", ["submit", "call", "map", "asubmit"])
def test_what_comes_after_close_is_refused(make: Make, way: str) -> None:
    batcher = make(echo, collate="list")
    assert batcher.close()
    assert batcher.close()  # again

    async def ask() -> Any:
        return await batcher.asubmit(1)

    ask_in: dict[str, Callable[[], Any]] = {
        "submit": lambda: batcher.submit(1),
        "call": lambda: batcher(1),
        "map": lambda: batcher.map([1]),
        "asubmit": lambda: asyncio.run(ask()),
    }
    with pytest.raises(BatcherClosedError, match="the batcher is closed"):
        ask_in[way]()
    assert not batcher.healthy


def test_close_on_the_event_loops_own_thread_does_not_deadlock(make: Make) -> None:
    async def ask() -> list[Any]:
        batcher = make(echo, collate="list", max_batch_size=4)
        futures = [batcher.asubmit(n) for n in range(24)]
        assert batcher.close(timeout=LIMIT)
        return await asyncio.wait_for(asyncio.gather(*futures), LIMIT)

    assert asyncio.run(ask()) == list(range(24))


def test_leaving_the_context_drains(make: Make) -> None:
    with make(echo, collate="list") as batcher:
        futures = [batcher.submit(n) for n in range(100)]
    assert [future.result(0) for future in futures] == list(range(100))


def test_leaving_the_async_context_drains(make: Make) -> None:
    async def ask() -> list[Any]:
        async with make(echo, collate="list") as batcher:
            futures = [batcher.asubmit(n) for n in range(100)]
        return await asyncio.wait_for(asyncio.gather(*futures), LIMIT)

    assert asyncio.run(ask()) == list(range(100))


def test_an_error_in_the_context_does_not_drain(busy: Make, held: HeldModel) -> None:
    batcher = busy()
    future = batcher.submit(1)

    def leave() -> None:
        with pytest.raises(RuntimeError, match="out of here"), batcher:
            raise RuntimeError("out of here")

    thread = threading.Thread(target=leave)
    thread.start()
    assert isinstance(future.exception(LIMIT), BatcherClosedError)
    held.release()
    thread.join(LIMIT)


def test_a_model_that_hangs_does_not_hold_up_close(busy: Make, held: HeldModel) -> None:
    batcher = busy()
    queued = batcher.submit("queued")
    in_flight = [r.reply for one in batcher._dispatcher.in_flight for r in one.requests]
    assert not batcher.close(timeout=0.01)
    for future in (queued, *in_flight):
        assert isinstance(future.exception(0), BatcherClosedError)  # type: ignore[union-attr]
    held.release()
    batcher._crew._runners[0]._thread.join(LIMIT)
    assert batcher.close(timeout=LIMIT)


def test_close_in_the_lanes_own_thread_does_not_wait_for_itself(make: Make) -> None:
    batcher = make(echo, collate="list")
    closed: list[bool] = []
    done = threading.Event()

    def close(_: Any) -> None:
        closed.append(batcher.close())
        done.set()

    future = batcher.submit(1)
    future.add_done_callback(close)
    assert done.wait(LIMIT)
    assert batcher.close(timeout=LIMIT)


def test_waiting_in_the_lanes_own_thread_is_refused(make: Make) -> None:
    errors = []

    def model(items: list[Any]) -> list[Any]:
        for wait in (lambda: batcher(2), lambda: batcher.map([2]), batcher.drain):
            try:
                wait()
            except Exception as error:
                errors.append(str(error))
        return items

    batcher = make(model, collate="list")
    assert batcher.submit(1).result(LIMIT) == 1
    assert len(errors) == 3
    assert all("would wait for itself" in error for error in errors)


def test_drain_waits_for_all_and_leaves_the_batcher_open(busy: Make, held: HeldModel) -> None:
    batcher = busy()
    futures = [batcher.submit(n) for n in range(100)]
    assert not batcher.drain(timeout=0.001)
    held.release()
    assert batcher.drain(LIMIT)
    assert all(future.done() for future in futures)
    assert batcher(1)[0] == 1


def test_a_forgotten_batcher_serves_what_it_has_and_ends(held: HeldModel) -> None:
    batcher = DynamicBatcher(held, collate="list")
    thread = batcher._crew._runners[0]._thread
    futures = [batcher.submit(n) for n in range(50)]
    gone = weakref.ref(batcher)
    del batcher
    gc.collect()
    assert gone() is None
    held.release()
    assert [future.result(LIMIT)[0] for future in futures] == list(range(50))
    thread.join(LIMIT)
    assert not thread.is_alive()


def test_requests_are_not_kept_when_they_are_answered(make: Make) -> None:
    class Item:
        pass

    batcher = make(echo, collate="list")
    item = Item()
    gone = weakref.ref(item)
    assert batcher(item) is item
    assert batcher.drain(LIMIT)
    assert batcher(1) == 1  # the lane has turned to something else
    del item
    gc.collect()
    assert gone() is None


def test_threads_that_wait_for_room_are_told_of_the_close(busy: Make, held: HeldModel) -> None:
    batcher = busy(max_queue_size=1, overflow="block")
    batcher.submit("fills the queue")
    errors: list[BaseException] = []

    def ask() -> None:
        try:
            batcher.submit("waits").result(LIMIT)
        except BatcherClosedError as error:
            errors.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    while not batcher.stats().waiting_for_space:
        threading.Event().wait(0.001)
    held_closer = threading.Thread(target=batcher.close, kwargs={"drain": False})
    held_closer.start()
    thread.join(LIMIT)
    assert len(errors) == 1
    held.release()
    held_closer.join(LIMIT)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_is_refused_at_once(make: Make) -> None:
    code = """
import os, sys
import accelhal
from accelhal.errors import BatcherClosedError
batcher = accelhal.DynamicBatcher(lambda items: items, collate="list")
assert batcher(1) == 1
child = os.fork()
if not child:
    try:
        batcher(2)
    except BatcherClosedError as error:
        os._exit(0 if "parent process" in str(error) else 3)
    os._exit(4)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert batcher(3) == 3
print("served")
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert ran.stdout == "served\n", ran.stderr


def test_at_interpreter_exit_no_future_is_left_pending() -> None:
    code = """
import threading
import accelhal
started, never = threading.Event(), threading.Event()
def model(items):
    started.set()
    never.wait(60)
    return items
batcher = accelhal.DynamicBatcher(model, collate="list", max_batch_size=2)
futures = [batcher.submit(0)]
started.wait(20)
futures += [batcher.submit(n) for n in range(1, 9)]
for future in futures:
    future.add_done_callback(lambda f: print(type(f.exception()).__name__, flush=True))
import accelhal.batching.endings as endings
endings.EXIT_LIMIT_S = 0.1
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert ran.stdout.split() == ["BatcherClosedError"] * 9, ran.stderr
    assert ran.returncode == 0


def test_waiting_threads_are_answered_before_the_interpreter_exits() -> None:
    code = """
import threading, time
import accelhal
def model(items):
    time.sleep(0.05)
    return items
batcher = accelhal.DynamicBatcher(model, collate="list", max_batch_size=1)
for n in range(3):
    threading.Thread(target=lambda n=n: print(batcher(n), flush=True)).start()
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert sorted(ran.stdout.split()) == ["0", "1", "2"], ran.stderr


def test_an_event_loop_that_has_closed_harms_nobody(busy: Make, held: HeldModel) -> None:
    batcher = busy(max_batch_size=8)

    async def leave() -> None:
        batcher.asubmit("nobody waits")

    asyncio.run(leave())
    future = batcher.submit("somebody")
    held.release()
    assert future.result(LIMIT)[0] == "somebody"
    assert batcher.healthy


def test_futures_work_with_the_standard_library(make: Make) -> None:
    batcher = make(echo, collate="list")
    futures = [batcher.submit(n) for n in range(5)]
    assert {f.result() for f in concurrent.futures.as_completed(futures, LIMIT)} == set(range(5))

    async def wrapped() -> Any:
        return await asyncio.wrap_future(batcher.submit(7))

    assert asyncio.run(wrapped()) == 7


def test_a_model_that_hangs_shows_in_the_statistics(busy: Make, held: HeldModel) -> None:
    batcher = busy()
    first, second = batcher.stats().lanes[0], batcher.stats().lanes[0]
    assert first.in_flight == 1
    assert 0 <= first.busy_for < second.busy_for
    held.release()
    assert batcher.drain(LIMIT)
