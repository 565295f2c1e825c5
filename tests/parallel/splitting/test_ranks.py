"""Unequal shares over ranks: gradients of DDP and FSDP are those of one device."""

from __future__ import annotations

import copy

import pytest
import torch
from rank_pool import RankPool
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

from accelhal.distributed import Ranks
from accelhal.errors import UsageError
from accelhal.parallel.splitting import BatchSplitter, observe_ranks

TOLERANCE = {torch.float32: 1e-6, torch.float64: 1e-14}


def model_of(dtype: torch.dtype) -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4)).to(dtype)


def batch_of(rows: int, dtype: torch.dtype) -> torch.Tensor:
    torch.manual_seed(1)
    return torch.randn(rows, 8, dtype=dtype)


def error_of(
    ranks: Ranks, wrap: str, dtype: torch.dtype, *, reduction: str, scaled: bool, rows: int = 96
) -> float:
    """The largest gap to the gradients of one device, relative to the largest of them."""
    model, x = model_of(dtype), batch_of(rows, dtype)
    alone = copy.deepcopy(model)
    alone(x).square().sum(1).mean().backward()
    splitter = BatchSplitter(range(ranks.size), speeds=[2, 1, 1][: ranks.size])
    part = splitter.split(x)[ranks.rank]
    if wrap == "ddp":
        wrapped = DistributedDataParallel(model, process_group=ranks.group)
    else:
        wrapped = fully_shard(model, mesh=ranks.mesh("cpu"))
    losses = wrapped(part.value).square().sum(1)
    loss = losses.mean() if reduction == "mean" else losses.sum()
    (loss * splitter.grad_scale(ranks.rank, reduction) if scaled else loss).backward()
    gap = largest = 0.0
    for mine, theirs in zip(model.parameters(), alone.parameters(), strict=True):
        gradient = mine.grad if wrap == "ddp" else mine.grad.full_tensor()
        gap = max(gap, (gradient - theirs.grad).abs().max().item())
        largest = max(largest, theirs.grad.abs().max().item())
    return gap / largest


def scaled_is_exact(ranks: Ranks, wrap: str) -> None:
    for dtype, most in TOLERANCE.items():
        for reduction in ("mean", "sum"):
            assert error_of(ranks, wrap, dtype, reduction=reduction, scaled=True) < most
        assert error_of(ranks, wrap, dtype, reduction="sum", scaled=True, rows=1) < most


def plain_is_wrong(ranks: Ranks) -> None:
    assert error_of(ranks, "ddp", torch.float64, reduction="mean", scaled=False) > 0.02


def shares_agree(ranks: Ranks) -> list[int]:
    splitter = BatchSplitter(range(ranks.size), "ewma")
    for _ in range(5):
        part = splitter.split(120)[ranks.rank]
        observe_ranks(splitter, part.rows, part.rows * (1.0 + ranks.rank), ranks)
    return [part.rows for part in splitter.split(120)]


def wrong_devices_are_named(ranks: Ranks) -> None:
    with pytest.raises(UsageError, match="ranks 0 to 1"):
        observe_ranks(BatchSplitter(["a", "b"]), 1, 1.0, ranks)


@pytest.mark.parametrize("wrap", ["ddp", "fsdp"])
@pytest.mark.parametrize("world", [2, 3])
def test_scaled_gradients_are_those_of_one_device(ranks: RankPool, world, wrap):
    ranks.run(scaled_is_exact, world, wrap)


def test_the_plain_mean_is_wrong(ranks: RankPool):
    ranks.run(plain_is_wrong, 2)


@pytest.mark.parametrize(("world", "expected"), [(2, [80, 40]), (3, [65, 33, 22])])
def test_all_ranks_divide_alike_by_what_each_observed(ranks: RankPool, world, expected):
    assert ranks.run(shares_agree, world) == [expected] * world


def test_a_splitter_over_something_else_is_refused(ranks: RankPool):
    ranks.run(wrong_devices_are_named, 2)
