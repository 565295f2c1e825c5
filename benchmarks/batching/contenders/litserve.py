"""LitServe: the batching loop of its workers in a thread, without the server and its transport."""

from __future__ import annotations

import asyncio
import itertools
import queue
import threading
import time
from typing import Any

import litserve
from litserve.callbacks import CallbackRunner
from litserve.loops.simple_loops import BatchedLoop
from litserve.transport.base import MessageTransport
from torch import Tensor

from benchmarks.batching.contenders import AsyncCall, Setting
from benchmarks.batching.work import MAX_BATCH_SIZE, Work

SETTINGS = {
    # The loop spins for it. In a thread of this process that takes the interpreter from the
    # callers, which in a worker of its own it does not: only what it costs while idle is fair.
    "default, wait=0": Setting({"batch_timeout": 0.0}, only="idle"),
    "wait=2ms": Setting({"batch_timeout": 0.002}),
}


class _Api(litserve.LitAPI):
    """The model, with requests and results passed on as they are."""

    def __init__(self, work: Work, **options: Any) -> None:
        super().__init__(max_batch_size=MAX_BATCH_SIZE, **options)
        self._of_list = work.of_list

    def setup(self, device: object) -> None:
        """The model is there already."""

    def decode_request(self, request: Tensor) -> Tensor:
        return request

    def batch(self, inputs: list[Tensor]) -> list[Tensor]:
        return inputs

    def predict(self, x: list[Tensor]) -> list[Tensor]:
        return self._of_list(x)

    def unbatch(self, output: list[Tensor]) -> list[Tensor]:
        return output

    def encode_response(self, output: Tensor) -> Tensor:
        return output


class _ToLoop(MessageTransport):
    """Hands each answer to the event loop that waits for it."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.waiting: dict[int, asyncio.Future[Tensor]] = {}

    def send(self, item: Any, consumer_id: int) -> None:
        uid, (answer, *_) = item
        self.loop.call_soon_threadsafe(self.waiting.pop(uid).set_result, answer)

    async def areceive(self, timeout: int | None = None, consumer_id: int | None = None) -> Any:
        raise NotImplementedError("answers are sent straight to those who wait")


async def open_async(work: Work, setting: str) -> AsyncCall:
    api = _Api(work, **SETTINGS[setting].options)
    api.request_timeout = -1
    transport = _ToLoop()
    requests: queue.Queue[tuple[int, int, float, Tensor]] = queue.Queue()
    loop_arguments = (api, requests, transport, CallbackRunner())
    threading.Thread(
        target=BatchedLoop().run_batched_loop, args=loop_arguments, daemon=True
    ).start()
    numbers = itertools.count()
    create_future = asyncio.get_running_loop().create_future

    async def call(x: Tensor) -> Tensor:
        uid = next(numbers)
        transport.waiting[uid] = future = create_future()
        requests.put((0, uid, time.monotonic(), x))
        return await future

    return call
