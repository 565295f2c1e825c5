"""The least that a thread for the model can do: no bound, no errors, no deadlines, no end.

What is missed against it is the price of what a batcher is for; what it misses itself is the
interpreter's.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from contextlib import suppress
from typing import Any

from torch import Tensor

from benchmarks.batching.contenders import AsyncCall, Setting
from benchmarks.batching.work import MAX_BATCH_SIZE, Work

SETTINGS = {"asyncio only": Setting({})}


def _answer(futures: list[asyncio.Future[Tensor]], results: list[Tensor]) -> None:
    for future, result in zip(futures, results, strict=True):
        future.set_result(result)


async def open_async(work: Work, setting: str) -> AsyncCall:
    loop = asyncio.get_running_loop()
    waiting: deque[tuple[Tensor, asyncio.Future[Tensor]]] = deque()
    parker = threading.Lock()
    parker.acquire()
    parked: list[threading.Lock] = []

    def serve() -> None:
        results: list[Any] = []
        while True:
            while not waiting:
                parked.append(parker)
                if waiting:
                    with suppress(IndexError):
                        parked.pop()
                        continue
                parker.acquire()
            batch = [waiting.popleft() for _ in range(min(MAX_BATCH_SIZE, len(waiting)))]
            # Held until the next ones: a tensor that ends gives the interpreter away.
            results = work.of_list([one[0] for one in batch])
            loop.call_soon_threadsafe(_answer, [one[1] for one in batch], results)

    def call(x: Tensor) -> asyncio.Future[Tensor]:
        future = loop.create_future()
        waiting.append((x, future))
        if parked:
            with suppress(IndexError):
                parked.pop().release()
        return future

    threading.Thread(target=serve, daemon=True).start()
    return call
