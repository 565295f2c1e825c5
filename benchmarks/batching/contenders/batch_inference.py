"""batch-inference: `aio.ModelHost` for coroutines, `ModelHost` for threads."""

from __future__ import annotations

import batch_inference
import torch
from batch_inference.aio.model_host import ModelHost as AsyncModelHost
from batch_inference.batcher import Batcher, BucketSeqBatcher
from torch import Tensor

from benchmarks.batching.contenders import AsyncCall, Setting, SyncCall
from benchmarks.batching.work import LONGEST, MAX_BATCH_SIZE, SHORTEST, Work

SETTINGS = {
    "default": Setting({"wait_ms": 5}),
    "wait=0": Setting({"wait_ms": 0}),
    # Buckets within a batch of first come first served, one call of the model for each.
    "by length": Setting({"wait_ms": 5}, only="encoder"),
    "by length, wait=0": Setting({"wait_ms": 0}, only="encoder"),
}


class _Lists(Batcher):
    """Lists as they are: the model stacks for itself, as for every contender."""

    def batch(self, requests: list[tuple[Tensor]]) -> tuple[tuple[list[Tensor]], None]:
        return ([x for (x,) in requests],), None

    def unbatch(self, batched_response: list[Tensor], unbatch_ctx: None) -> list[Tensor]:
        return batched_response


class _Model:
    def __init__(self, work: Work) -> None:
        self.predict_batch = work.of_list


class _PaddedModel:
    def __init__(self, work: Work) -> None:
        self._of_padded = work.of_padded

    def predict_batch(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        return self._of_padded(tokens, lengths[:, 0])


def _buckets() -> list[int]:
    """Each length 1.4 times the one before, as ours by default."""
    edges = [float(SHORTEST)]
    while edges[-1] < LONGEST:
        edges.append(edges[-1] * 1.4)
    return [round(edge) for edge in edges]


async def open_async(work: Work, setting: str) -> AsyncCall:
    options = {"max_batch_size": MAX_BATCH_SIZE, **SETTINGS[setting].options}
    if SETTINGS[setting].only is None:
        host = AsyncModelHost(model_obj=_Model(work), batcher=_Lists(), **options)
        await host.start()
        return host.predict
    batcher = BucketSeqBatcher(padding_tokens=[0, 0], buckets=_buckets(), tensor="pt")
    host = AsyncModelHost(model_obj=_PaddedModel(work), batcher=batcher, **options)
    await host.start()

    async def call(x: Tensor) -> Tensor:
        # It pads every input to the first one's length: the length stands in each place.
        return await host.predict(x[None], torch.full((1, len(x)), len(x)))

    return call


def open_sync(work: Work, setting: str) -> SyncCall:
    options = {"max_batch_size": MAX_BATCH_SIZE, **SETTINGS[setting].options}
    host = batch_inference.ModelHost(model_obj=_Model(work), batcher=_Lists(), **options)
    host.start()
    return host.predict
