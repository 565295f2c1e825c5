"""async-batcher: its abstract class with the model as `process_batch`."""

from __future__ import annotations

from async_batcher.batcher import AsyncBatcher
from torch import Tensor

from benchmarks.batching.contenders import AsyncCall, Setting
from benchmarks.batching.contenders.on_loop import as_coroutine
from benchmarks.batching.work import MAX_BATCH_SIZE, Work

SETTINGS = {
    "default": Setting({"max_queue_time": 0.01}),
    "wait=0": Setting({"max_queue_time": 0.0}),
    "wait=0, on loop": Setting({"max_queue_time": 0.0}, on_loop=True),
}


async def open_async(work: Work, setting: str) -> AsyncCall:
    model = as_coroutine(work, SETTINGS[setting])

    class Batcher(AsyncBatcher[Tensor, Tensor]):
        async def process_batch(self, batch: list[Tensor]) -> list[Tensor]:
            return await model(batch)

    return Batcher(max_batch_size=MAX_BATCH_SIZE, **SETTINGS[setting].options).process
