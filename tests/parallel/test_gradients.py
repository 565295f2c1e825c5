"""The norm of a split model's gradients is the whole model's, on every rank."""

from __future__ import annotations

import copy

import pytest
import torch
from parallel.one_device import batch, device_of, part_of, run, shares, whole_pair
from rank_pool import RankPool
from torch import nn
from torch.distributed.tensor import DTensor

from accelhal.distributed import Ranks, mesh
from accelhal.errors import UsageError
from accelhal.parallel import clip_grad_norm_, gradient_norm, parallelize_module
from accelhal.parallel.shards import local_part

PLAN = {"0": "colwise", "2": "rowwise"}


def norms_are_the_wholes(ranks: Ranks, layout: str) -> list[float]:
    whole = whole_pair(layout)
    model = copy.deepcopy(whole).to(device_of(ranks))
    parallelize_module(model, ranks, PLAN, split=shares(layout, ranks.size))
    model = copy.deepcopy(model)  # a copy is split as the original is
    x = batch(layout, (3,))
    run(model, x.to(device_of(ranks)))
    run(whole, x)
    for kind in (1.0, 2.0, float("inf")):
        expected = torch.nn.utils.get_total_norm(
            [parameter.grad for parameter in whole.parameters()], kind
        )
        torch.testing.assert_close(gradient_norm(model, kind).cpu(), expected)
    limit = expected.item() / 2
    before = clip_grad_norm_(model, limit)
    torch.nn.utils.clip_grad_norm_(whole.parameters(), limit)
    for index in (0, 2):
        for name, parameter in whole[index].named_parameters():
            mine = local_part(getattr(model[index], name).grad)
            torch.testing.assert_close(mine.cpu(), part_of(model[index], name, parameter.grad))
    return before.item()


@pytest.mark.parametrize("layout", ["even", "chunked", "uneven"])
def test_norms_and_clipping(ranks: RankPool, layout: str) -> None:
    assert len(set(ranks.run(norms_are_the_wholes, 3, layout))) == 1


def test_norms_on_simulated_boards(board_ranks: RankPool) -> None:
    board_ranks.run(norms_are_the_wholes, 2, "uneven")


def gradients_are_autograds(ranks: Ranks) -> None:
    """However a gradient is asked for or watched, it is the one that autograd adds."""
    pair = parallelize_module(whole_pair("even"), ranks, PLAN)
    x = batch("even", (3,))
    weight = pair[0].weight

    def loss() -> torch.Tensor:
        return pair(x).square().sum()

    loss().backward()
    once = weight.grad.full_tensor().clone()
    loss().backward()
    torch.testing.assert_close(weight.grad.full_tensor(), 2 * once)
    (asked,) = torch.autograd.grad(loss(), weight)
    torch.testing.assert_close(asked.full_tensor(), once)
    torch.testing.assert_close(weight.grad.full_tensor(), 2 * once)  # asking adds nothing
    pair.zero_grad()
    loss().backward(inputs=[pair[2].weight])
    assert weight.grad is None
    assert pair[2].weight.grad is not None
    seen = []
    before = weight.register_hook(lambda gradient: seen.append(type(gradient)) or 3 * gradient)
    after = weight.register_post_accumulate_grad_hook(lambda one: seen.append(one is weight))
    loss().backward()
    before.remove()
    after.remove()
    assert seen == [DTensor, True]
    torch.testing.assert_close(weight.grad.full_tensor(), 3 * once)
    pair.zero_grad()
    (loss() + loss()).backward()  # both uses of the layer count
    torch.testing.assert_close(weight.grad.full_tensor(), 2 * once)
    weight.requires_grad_(False)
    pair.zero_grad()
    loss().backward()
    assert weight.grad is None


def test_gradients_are_what_autograd_makes_them(ranks: RankPool) -> None:
    ranks.run(gradients_are_autograds, 2)


@pytest.mark.parametrize("order", [0, -1.0, float("-inf"), float("nan")])
def test_an_order_that_is_no_norms_is_refused(order: float) -> None:
    with pytest.raises(UsageError, match="no norm of order"):
        clip_grad_norm_(nn.Linear(2, 2), 1.0, norm_type=order)


def plain_model_has_torchs_norm(ranks: Ranks) -> None:
    model = nn.Linear(3, 3)
    model(torch.ones(2, 3)).sum().backward()
    expected = torch.nn.utils.get_total_norm([p.grad for p in model.parameters()])
    torch.testing.assert_close(gradient_norm(model), expected)
    assert gradient_norm(nn.Linear(2, 2)).item() == 0


def test_a_plain_model_has_torchs_norm(ranks: RankPool) -> None:
    ranks.run(plain_model_has_torchs_norm, 1)


def with_fsdp(ranks: Ranks, layout: str) -> None:
    """Two by two: batches differ along "dp", features along "tp"."""
    from torch.distributed.fsdp import fully_shard

    grid = mesh({"dp": 2, "tp": 2})
    whole = whole_pair(layout)
    model = parallelize_module(copy.deepcopy(whole), grid["tp"], PLAN, split=shares(layout, 2))
    fully_shard(model, mesh=grid["dp"])
    replica = grid["dp"].get_local_rank()
    x = batch(layout, (4,))
    model(x.chunk(2)[replica]).square().mean().backward()
    (whole(x).square().mean()).backward()
    expected = torch.nn.utils.get_total_norm([p.grad for p in whole.parameters()])
    torch.testing.assert_close(gradient_norm(model), expected)


@pytest.mark.parametrize("layout", ["even", "uneven"])
def test_norms_beside_fully_shard(ranks: RankPool, layout: str) -> None:
    ranks.run(with_fsdp, 4, layout)


def double_precision(ranks: Ranks) -> None:
    whole = whole_pair("uneven", dtype=torch.float64)
    model = parallelize_module(
        copy.deepcopy(whole), ranks, PLAN, split=shares("uneven", ranks.size)
    )
    x = batch("uneven", (3,), torch.float64)
    run(model, x)
    run(whole, x)
    expected = torch.nn.utils.get_total_norm([p.grad for p in whole.parameters()])
    torch.testing.assert_close(gradient_norm(model), expected)


def test_norms_of_double_precision(ranks: RankPool) -> None:
    ranks.run(double_precision, 2)
