"""The callers of the soak: threads and coroutines that ask, give up and misbehave."""

from __future__ import annotations

import asyncio
import concurrent.futures
import random
import threading
import time
from collections.abc import Sequence

from accelhal import DynamicBatcher
from accelhal.errors import DeadlineExceededError, DeviceLostError, QueueFullError
from benchmarks.batching.soak_ledger import Asked, Ledger, Text
from benchmarks.batching.soak_model import PoisonError

THREADS, COROUTINES = 24, 96
SHORTEST, LONGEST = 3, 127
CROWD = 400
"""Requests at once of the coroutine that overfills the queue."""
_ANSWER_SECONDS = 60.0
# Shares of what callers do; the rest is a plain request.
_POISON, _DEADLINE, _CANCEL, _SEVERAL = 0.002, 0.08, 0.06, 0.01


def note(ledger: Ledger, asked: Asked, error: BaseException, may: Sequence[str] = ()) -> None:
    """Count a request's error.

    Args:
        ledger: where.
        asked: the request.
        error: what its caller got.
        may: outcomes that its caller brought about: "late", "cancelled".
    """
    if isinstance(error, PoisonError):
        outcome, fault = "poison refused", not asked.poisoned
    elif isinstance(error, DeadlineExceededError):
        outcome, fault = "late", "late" not in may
    elif isinstance(error, QueueFullError):
        outcome, fault = "queue full", False
    elif isinstance(error, (asyncio.CancelledError, concurrent.futures.CancelledError)):
        outcome, fault = "cancelled", "cancelled" not in may
    elif isinstance(error, DeviceLostError):
        outcome, fault = "lane lost", False
    else:
        outcome, fault = f"{type(error).__name__}: {error}", True
    ledger.ended(asked, outcome, fault)


class Callers:
    """All callers of one soak.

    Args:
        batcher: whom they ask.
        ledger: what they note.
    """

    def __init__(self, batcher: DynamicBatcher, ledger: Ledger) -> None:
        self._batcher = batcher
        self._ledger = ledger
        self._texts = [Text.random(length) for length in range(SHORTEST, LONGEST + 1)]
        self._stop = threading.Event()
        self._crowd = [
            threading.Thread(target=self._thread, args=(random.Random(seed),), daemon=True)
            for seed in range(THREADS)
        ]
        self._crowd.append(threading.Thread(target=self._loop, daemon=True))

    def start(self) -> None:
        for one in self._crowd:
            one.start()

    def stop(self, seconds: float) -> int:
        """Ask no more; how many threads have not ended after `seconds`."""
        self._stop.set()
        until = time.monotonic() + seconds
        for one in self._crowd:
            one.join(max(0.0, until - time.monotonic()))
        return sum(one.is_alive() for one in self._crowd)

    def _ask(self, pick: random.Random, poison: bool = True) -> Asked:
        poisoned = poison and pick.random() < _POISON
        return self._ledger.ask(pick.choice(self._texts), poisoned)

    # ---- threads

    def _thread(self, pick: random.Random) -> None:
        while not self._stop.is_set():
            if pick.random() < _SEVERAL:
                self._map(pick)
            else:
                self._one(pick, self._ask(pick))

    def _map(self, pick: random.Random) -> None:
        several = [self._ask(pick, poison=False) for _ in range(pick.randint(2, 40))]
        try:
            answers = self._batcher.map([asked.value for asked in several])
            for asked, answer in zip(several, answers, strict=True):
                self._ledger.answered(asked, answer)
        except Exception as error:
            for asked in several:
                note(self._ledger, asked, error)

    def _one(self, pick: random.Random, asked: Asked) -> None:
        plan = pick.random()
        may: tuple[str, ...] = ()
        try:
            if plan < _DEADLINE:
                may = ("late",)
                future = self._batcher.submit(asked.value, timeout=pick.uniform(1e-3, 0.1))
                answer = future.result(_ANSWER_SECONDS)
            elif plan < _DEADLINE + _CANCEL:
                may = ("cancelled",)
                future = self._batcher.submit(asked.value, priority=pick.randrange(2))
                time.sleep(pick.uniform(0, 0.02))
                future.cancel()
                answer = future.result(_ANSWER_SECONDS)
            else:
                answer = self._batcher(asked.value)
        except Exception as error:
            note(self._ledger, asked, error, may)
        else:
            self._ledger.answered(asked, answer)

    # ---- coroutines

    def _loop(self) -> None:
        asyncio.run(self._coroutines())

    async def _coroutines(self) -> None:
        pickers = [random.Random(1000 + number) for number in range(COROUTINES)]
        await asyncio.gather(self._overfill(random.Random(999)), *map(self._coroutine, pickers))

    async def _coroutine(self, pick: random.Random) -> None:
        while not self._stop.is_set():
            plan = pick.random()
            asked = self._ask(pick)
            if plan < _DEADLINE:
                await self._await(asked, ("late",), pick.uniform(1e-3, 0.1))
            elif plan < _DEADLINE + _CANCEL:
                task = asyncio.ensure_future(self._await(asked, ("cancelled",)))
                await asyncio.sleep(pick.uniform(0, 0.02))
                task.cancel()
                await task
            else:
                await self._await(asked, priority=pick.randrange(2))

    async def _await(
        self,
        asked: Asked,
        may: tuple[str, ...] = (),
        timeout: float | None = None,
        priority: int = 0,
    ) -> None:
        try:
            answer = await self._batcher.asubmit(asked.value, timeout=timeout, priority=priority)
        except (Exception, asyncio.CancelledError) as error:
            note(self._ledger, asked, error, may)
        else:
            self._ledger.answered(asked, answer)

    async def _overfill(self, pick: random.Random) -> None:
        """Once in a while, more at once than the queue holds."""
        while not self._stop.is_set():
            await asyncio.sleep(5)
            await asyncio.gather(
                *(self._await(self._ask(pick, poison=False)) for _ in range(CROWD))
            )
