"""batched: `aio.dynamically` for coroutines, `dynamically` for threads."""

from __future__ import annotations

import batched
from batched.types import PriorityStrategy

from benchmarks.batching.contenders import AsyncCall, Setting, SyncCall
from benchmarks.batching.contenders.on_loop import as_coroutine
from benchmarks.batching.work import MAX_BATCH_SIZE, Work

SETTINGS = {
    "default": Setting({"timeout_ms": 5.0}),
    "wait=0": Setting({"timeout_ms": 0.0}),
    "wait=0, on loop": Setting({"timeout_ms": 0.0}, on_loop=True),
    # Shortest first; only groups over the threshold are sorted. Long ones may never have a turn.
    "by length, wait=0": Setting(
        {
            "timeout_ms": 0.0,
            "priority_strategy": PriorityStrategy.LENGTH,
            "small_batch_threshold": 0,
        },
        only="encoder",
    ),
}


async def open_async(work: Work, setting: str) -> AsyncCall:
    dynamically = batched.aio.dynamically(batch_size=MAX_BATCH_SIZE, **SETTINGS[setting].options)
    return dynamically(as_coroutine(work, SETTINGS[setting]))


def open_sync(work: Work, setting: str) -> SyncCall:
    return batched.dynamically(batch_size=MAX_BATCH_SIZE, **SETTINGS[setting].options)(work.of_list)
