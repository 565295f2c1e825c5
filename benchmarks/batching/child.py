"""The process of one contender: reads rounds to run as JSON lines, answers each with its figures.

Each round runs in a fork of this process, which has everything imported and nothing started, so no
thread, loop or queue of one round is there in the next, and a contender that hangs ends with its
round.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import select
import signal
import sys
import traceback
from collections.abc import Callable
from dataclasses import asdict
from types import ModuleType
from typing import Any

import torch

from benchmarks.batching import drivers
from benchmarks.batching.figures import Figures
from benchmarks.batching.work import WORKS
from benchmarks.batching.workloads import BY_NAME, Workload


def measure(
    contender: ModuleType, workload: Workload, setting: str, warm: float, seconds: float
) -> Figures:
    """One round in this process."""
    torch.set_num_threads(1)
    work = WORKS[workload.model]()
    if not hasattr(contender, "open_async"):
        return drivers.preformed(work, warm, seconds)
    if workload.driver == "threads":
        call = contender.open_sync(work, setting)
        return drivers.threads(call, work, workload.callers, warm, seconds)

    async def run() -> Figures:
        call = await contender.open_async(work, setting)
        if workload.driver == "lone":
            return await drivers.lone(call, work, warm, seconds)
        if workload.driver == "idle":
            return await drivers.idle(call, work, warm, seconds)
        return await drivers.closed_loop(call, work, workload.callers, warm, seconds)

    # Not asyncio.run: it would wait at its end for tasks that some contenders never finish.
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    return loop.run_until_complete(run())


def in_a_fork(run: Callable[[], Figures], limit: float) -> dict[str, Any]:
    """The answer of a fork, or what became of it.

    Args:
        run: What the fork does.
        limit: Seconds after which it is ended.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            answer = {"figures": asdict(run())}
        except BaseException as error:
            traceback.print_exc()
            answer = {"error": f"{type(error).__name__}: {error}"}
        os.write(writing, json.dumps(answer).encode())
        os._exit(0)
    os.close(writing)
    try:
        if not select.select([reading], [], [], limit)[0]:
            return {"error": f"no figures after {limit:.0f} s"}
        answered = os.read(reading, 1 << 16)
        return json.loads(answered) if answered else {"error": "the process of the round died"}
    finally:
        os.close(reading)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a contender prints must not be read as an answer

    def answer(document: dict[str, Any]) -> None:
        print(json.dumps(document), file=answers, flush=True)

    try:
        contender = importlib.import_module(f"benchmarks.batching.contenders.{sys.argv[1]}")
    except Exception as error:
        traceback.print_exc()
        answer({"error": f"{type(error).__name__}: {error}"})
        return
    answer(
        {
            "settings": {
                name: {"only": one.only, "on_loop": one.on_loop}
                for name, one in contender.SETTINGS.items()
            },
            "threads": hasattr(contender, "open_sync"),
        }
    )
    for line in sys.stdin:
        asked = json.loads(line)
        workload = BY_NAME[asked["workload"]]
        times = asked["warm"], asked["seconds"]
        answer(
            in_a_fork(
                lambda w=workload, a=asked, t=times: measure(contender, w, a["setting"], *t),
                limit=10 + 4 * sum(times),
            )
        )


if __name__ == "__main__":
    main()
