"""Ray Serve: `@serve.batch` in this process, told that it is in a replica, without a cluster."""

from __future__ import annotations

from types import SimpleNamespace

from ray import serve
from torch import Tensor

from benchmarks.batching.contenders import AsyncCall, Setting
from benchmarks.batching.contenders.on_loop import as_coroutine
from benchmarks.batching.work import MAX_BATCH_SIZE, Work

SETTINGS = {
    "default": Setting({"batch_wait_timeout_s": 0.01}),
    "wait=0": Setting({"batch_wait_timeout_s": 0.0}),
    "wait=0, on loop": Setting({"batch_wait_timeout_s": 0.0}, on_loop=True),
}
_MANY = 1_000_000


async def open_async(work: Work, setting: str) -> AsyncCall:
    # All that the decorator asks of its replica is how many requests it may hold.
    config = SimpleNamespace(max_ongoing_requests=_MANY)
    serve.get_replica_context = lambda: SimpleNamespace(_deployment_config=config)
    model = as_coroutine(work, SETTINGS[setting])

    @serve.batch(max_batch_size=MAX_BATCH_SIZE, **SETTINGS[setting].options)
    async def batched(xs: list[Tensor]) -> list[Tensor]:
        return await model(xs)

    return batched
