"""accelhal: `DynamicBatcher`, collating for itself where there is something to collate."""

from __future__ import annotations

from accelhal.batching import DynamicBatcher
from benchmarks.batching.contenders import AsyncCall, Setting, SyncCall
from benchmarks.batching.work import MAX_BATCH_SIZE, Work

SETTINGS = {"default": Setting({})}


def _opened(work: Work) -> DynamicBatcher:
    if work.of_padded is not None:
        return DynamicBatcher(
            work.of_padded,
            max_batch_size=MAX_BATCH_SIZE,
            collate="pad",
            pad_value=0,
            lengths="lengths",
        )
    if work.of_batch is not None:
        return DynamicBatcher(work.of_batch, max_batch_size=MAX_BATCH_SIZE)
    return DynamicBatcher(work.of_list, max_batch_size=MAX_BATCH_SIZE, collate="list")


async def open_async(work: Work, setting: str) -> AsyncCall:
    return _opened(work).asubmit


def open_sync(work: Work, setting: str) -> SyncCall:
    return _opened(work)
