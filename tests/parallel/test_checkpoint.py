"""Checkpoints of split models: saved on two ranks, loaded on three, on one, and split otherwise."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
import torch
import torch.distributed.checkpoint as checkpoint
from parallel.one_device import LAYOUTS, batch, part_of, shares, whole_pair
from rank_pool import RankPool
from torch import nn

from accelhal.distributed import Ranks
from accelhal.errors import UsageError
from accelhal.parallel import (
    CheckpointShard,
    load_optimizer_state,
    optimizer_state,
    parallelize_module,
)
from accelhal.parallel.shards import local_part

PLAN = {"0": "colwise", "2": "rowwise"}


def split(ranks: Ranks, layout: str, *, seed: int = 0) -> nn.Module:
    model = whole_pair(layout)
    torch.manual_seed(seed)
    for parameter in model.parameters():
        nn.init.normal_(parameter)
    return parallelize_module(model, ranks, PLAN, split=shares(layout, ranks.size))


def trained(model: nn.Module, layout: str) -> torch.optim.Optimizer:
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        model(batch(layout, (4,))).square().sum().backward()
        optimizer.step()
    return optimizer


def state_of(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, object]:
    return {"model": model.state_dict(), "optimizer": optimizer_state(model, optimizer)}


def save(ranks: Ranks, layout: str, folder: Path) -> None:
    model = split(ranks, layout)
    optimizer = trained(model, layout)
    checkpoint.save(state_of(model, optimizer), checkpoint_id=folder, process_group=ranks.group)


def load(ranks: Ranks, layout: str, folder: Path) -> None:
    """The split model that was trained is what the whole one, trained alike, is."""
    whole = split_whole(layout)
    reference = trained(whole, layout)
    model = split(ranks, layout, seed=1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    state = state_of(model, optimizer)
    checkpoint.load(state, checkpoint_id=folder, process_group=ranks.group)
    model.load_state_dict(state["model"])
    load_optimizer_state(model, optimizer, state["optimizer"])
    for index in ("0", "2"):
        layer, theirs = model.get_submodule(index), whole.get_submodule(index)
        for name, parameter in theirs.named_parameters():
            mine = getattr(layer, name)
            torch.testing.assert_close(
                local_part(mine), part_of(layer, name, parameter), rtol=1e-4, atol=1e-5
            )
            for key in ("exp_avg", "exp_avg_sq"):
                torch.testing.assert_close(
                    local_part(optimizer.state[mine][key]),
                    part_of(layer, name, reference.state[parameter][key]),
                    rtol=1e-3,
                    atol=1e-5,
                )


def split_whole(layout: str) -> nn.Module:
    model = whole_pair(layout)
    torch.manual_seed(0)
    for parameter in model.parameters():
        nn.init.normal_(parameter)
    return model


def load_whole(ranks: Ranks, layout: str, folder: Path) -> None:
    """One device, plain layers of torch."""
    expected = split_whole(layout)
    trained(expected, layout)
    model = whole_pair(layout)
    state = {"model": model.state_dict()}
    checkpoint.load(state, checkpoint_id=folder, process_group=ranks.group)
    model.load_state_dict(state["model"])
    for mine, theirs in zip(model.parameters(), expected.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_two_ranks_save_and_three_and_one_load(
    ranks: RankPool, tmp_path: Path, layout: str
) -> None:
    ranks.run(save, 2, layout, tmp_path)
    ranks.run(load, 3, layout, tmp_path)
    ranks.run(load, 2, layout, tmp_path)
    ranks.run(load_whole, 1, layout, tmp_path)


def whole_state(ranks: Ranks, layout: str) -> None:
    whole = split_whole(layout)
    model = split(ranks, layout, seed=1)
    model.load_state_dict(whole.state_dict())
    x = batch(layout, (3,))
    torch.testing.assert_close(model(x), whole(x))


@pytest.mark.parametrize("layout", ["even", "uneven"])
def test_a_split_model_loads_the_state_of_a_whole_one(ranks: RankPool, layout: str) -> None:
    ranks.run(whole_state, 3, layout)


def shard_in_state(ranks: Ranks, folder: Path) -> None:
    model = split(ranks, "uneven")
    state = model.state_dict()
    shard = state["0.weight"]
    assert isinstance(shard, CheckpointShard)
    assert tuple(shard.shape) == (9, 7)
    assert shard.part.data_ptr() == model[0].weight.data_ptr()
    assert list(shard.offsets) == [(0, 6)[ranks.rank], 0]
    assert not isinstance(state["2.bias"], CheckpointShard)
    for moved in (shard.clone(), shard.cpu(), copy.deepcopy(shard), shard.to(torch.bfloat16)):
        assert isinstance(moved, CheckpointShard)
        assert moved.offsets == shard.offsets
    with pytest.raises(UsageError, match="cannot be computed"):
        shard + 1
    file = folder / f"{ranks.rank}.pt"
    torch.save(state, file)
    other = split(ranks, "uneven", seed=1)
    other.load_state_dict(torch.load(file, weights_only=False))
    torch.testing.assert_close(other[0].weight, model[0].weight)


def test_an_uneven_part_knows_its_place(ranks: RankPool, tmp_path: Path) -> None:
    ranks.run(shard_in_state, 2, tmp_path)


def into_a_model_without_memory(ranks: Ranks, layout: str) -> None:
    whole = split_whole(layout)
    with torch.device("meta"):
        empty = split_whole(layout)
    model = parallelize_module(empty.to("meta"), ranks, PLAN, split=shares(layout, ranks.size))
    model.load_state_dict(whole.state_dict(), assign=True)
    x = batch(layout, (3,))
    torch.testing.assert_close(model(x), whole(x))


@pytest.mark.parametrize("layout", ["even", "uneven"])
def test_a_model_without_memory_is_given_a_whole_state(ranks: RankPool, layout: str) -> None:
    ranks.run(into_a_model_without_memory, 2, layout)


def of_another_rank(ranks: Ranks) -> None:
    model = split(ranks, "uneven")
    state = model.state_dict()
    shard = state["0.weight"]
    state["0.weight"] = CheckpointShard(shard.part, shard.shape, torch.Size([1, 0]))
    with pytest.raises(RuntimeError, match=r"size mismatch for 0\.weight"):
        model.load_state_dict(state)


def test_a_part_of_another_place_is_not_loaded(ranks: RankPool) -> None:
    ranks.run(of_another_rank, 2)
