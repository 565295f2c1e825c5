"""The callers: coroutines, threads, one alone, or nobody, each for a time and not for a count.

Callers start before the clock and stop after it, so that neither their start nor the last partial
batch is in a figure.
"""

from __future__ import annotations

import asyncio
import threading
import time

import torch

from benchmarks.batching.contenders import AsyncCall, SyncCall
from benchmarks.batching.figures import Figures, Reading
from benchmarks.batching.work import MAX_BATCH_SIZE, Work

_CHECKED = 40
STOP_SECONDS = 5.0
"""In which callers must have been answered once they ask no more."""


async def _check(call: AsyncCall, work: Work) -> None:
    """Every contender must first give each caller its own answer."""
    xs = work.inputs[:_CHECKED]
    for x, y in zip(xs, await asyncio.gather(*map(call, xs)), strict=True):
        if not torch.allclose(y.reshape(-1), work.of_list([x])[0], atol=1e-4):
            raise AssertionError("a caller was given a wrong answer")


async def closed_loop(
    call: AsyncCall, work: Work, callers: int, warm: float, seconds: float
) -> Figures:
    """`callers` coroutines, each of which asks again once it is answered."""
    await _check(call, work)
    counts = [0] * callers
    going = True
    inputs = work.inputs

    async def caller(number: int) -> None:
        turn = number
        while going:
            await call(inputs[turn % len(inputs)])
            counts[number] += 1
            turn += callers

    tasks = [asyncio.ensure_future(caller(number)) for number in range(callers)]
    await asyncio.sleep(warm)
    before, counted = Reading.now(work.tally), sum(counts)
    await asyncio.sleep(seconds)
    after, answered = Reading.now(work.tally), sum(counts) - counted
    going = False
    _, stranded = await asyncio.wait(tasks, timeout=STOP_SECONDS)
    return before.figures(after, answered, stranded=len(stranded))


async def lone(call: AsyncCall, work: Work, warm: float, seconds: float) -> Figures:
    """One coroutine, and how long each of its requests took."""
    await _check(call, work)
    latencies: list[float] = []

    async def until(end: float) -> None:
        turn = 0
        while (start := time.perf_counter()) < end:
            await call(work.inputs[turn % len(work.inputs)])
            latencies.append(time.perf_counter() - start)
            turn += 1

    await until(time.perf_counter() + warm)
    latencies.clear()
    before = Reading.now(work.tally)
    await until(time.perf_counter() + seconds)
    return before.figures(Reading.now(work.tally), len(latencies), latencies)


async def idle(call: AsyncCall, work: Work, warm: float, seconds: float) -> Figures:
    """Nobody, once some have been answered."""
    await asyncio.gather(*(call(work.inputs[turn % len(work.inputs)]) for turn in range(100)))
    await asyncio.sleep(warm)
    before = Reading.now(work.tally)
    await asyncio.sleep(seconds)
    return before.figures(Reading.now(work.tally), None)


def threads(call: SyncCall, work: Work, callers: int, warm: float, seconds: float) -> Figures:
    """`callers` threads, each of which asks again once it is answered."""
    counts = [0] * callers
    going = True
    inputs = work.inputs

    def caller(number: int) -> None:
        turn = number
        while going:
            call(inputs[turn % len(inputs)])
            counts[number] += 1
            turn += callers

    crowd = [threading.Thread(target=caller, args=(n,), daemon=True) for n in range(callers)]
    for one in crowd:
        one.start()
    time.sleep(warm)
    before, counted = Reading.now(work.tally), sum(counts)
    time.sleep(seconds)
    after, answered = Reading.now(work.tally), sum(counts) - counted
    going = False
    last = time.monotonic() + STOP_SECONDS
    for one in crowd:
        one.join(max(0.0, last - time.monotonic()))
    return before.figures(after, answered, stranded=sum(one.is_alive() for one in crowd))


def preformed(work: Work, warm: float, seconds: float) -> Figures:
    """The limit: full batches, formed before the clock starts, straight into the model.

    Sequences are sorted by length first, which no batcher can do with requests yet to come.
    """
    inputs = sorted(work.inputs, key=len)
    batches = [
        inputs[start : start + MAX_BATCH_SIZE]
        for start in range(0, len(inputs) - MAX_BATCH_SIZE + 1, MAX_BATCH_SIZE)
    ]
    answered = 0

    def until(end: float) -> int:
        turn = 0
        while time.perf_counter() < end:
            work.of_list(batches[turn % len(batches)])
            turn += 1
        return turn * MAX_BATCH_SIZE

    until(time.perf_counter() + warm)
    before = Reading.now(work.tally)
    answered = until(time.perf_counter() + seconds)
    return before.figures(Reading.now(work.tally), answered)
