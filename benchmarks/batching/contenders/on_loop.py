"""The model as a coroutine function, for peers that take one.

On the callers' event loop it spares a thread's wake-up, and the loop stands still while the model
runs; in a thread the loop goes on, as it does for ours.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from torch import Tensor

from benchmarks.batching.contenders import Setting
from benchmarks.batching.work import Work


def as_coroutine(work: Work, setting: Setting) -> Callable[[list[Tensor]], Awaitable[list[Tensor]]]:
    """The model as an async function of a list, where the setting wants it to run."""
    of_list = work.of_list

    async def on_the_loop(xs: list[Tensor]) -> list[Tensor]:
        return of_list(xs)

    async def in_a_thread(xs: list[Tensor]) -> list[Tensor]:
        return await asyncio.to_thread(of_list, xs)

    return on_the_loop if setting.on_loop else in_a_thread
