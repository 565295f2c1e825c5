"""BentoML: the dispatcher that its services batch with, alone. It has no wait to set."""

from __future__ import annotations

from bentoml._internal.marshal.dispatcher import CorkDispatcher

from benchmarks.batching.contenders import AsyncCall, Setting
from benchmarks.batching.contenders.on_loop import as_coroutine
from benchmarks.batching.work import MAX_BATCH_SIZE, Work

SETTINGS = {
    "default": Setting({"max_latency_in_ms": 60_000}),
    "default, on loop": Setting({"max_latency_in_ms": 60_000}, on_loop=True),
}


def _refused() -> None:
    raise RuntimeError("the dispatcher refused a request")


async def open_async(work: Work, setting: str) -> AsyncCall:
    dispatcher = CorkDispatcher(
        max_batch_size=MAX_BATCH_SIZE,
        fallback=_refused,
        get_batch_size=lambda _: 1,
        **SETTINGS[setting].options,
    )
    return dispatcher(as_coroutine(work, SETTINGS[setting]))
