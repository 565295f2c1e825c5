"""A pair of split layers is the pair on one device: forward, gradients, and torch's modes."""

from __future__ import annotations

import copy

import pytest
import torch
import torch.distributed as dist
from parallel.one_device import (
    LAYOUTS,
    TOLERANCE,
    assert_gradients_are_parts,
    batch,
    device_of,
    run,
    shares,
    whole_pair,
)
from rank_pool import RankPool
from torch import nn
from torch.distributed.tensor import DTensor

from accelhal.distributed import Ranks
from accelhal.errors import UsageError
from accelhal.parallel import ColumnParallelLinear, RowParallelLinear

WORLDS = (2, 3, 4)
ROWS = {"2-D": (5,), "3-D": (2, 3)}


def split_pair(whole, ranks, layout):
    split = shares(layout, ranks.size)
    device = device_of(ranks)
    return nn.Sequential(
        ColumnParallelLinear.from_linear(whole[0], ranks, split=split, device=device),
        whole[1],
        RowParallelLinear.from_linear(whole[2], ranks, split=split, device=device),
    )


def pair_is_exact(ranks: Ranks, layout: str, bias: bool) -> None:
    for dtype, tolerance in TOLERANCE.items():
        for rows in ROWS.values():
            whole = whole_pair(layout, bias=bias, dtype=dtype)
            pair = split_pair(whole, ranks, layout)
            x = batch(layout, rows, dtype)
            expected, expected_gradient = run(whole, x)
            output, gradient = run(pair, x.to(device_of(ranks)))
            torch.testing.assert_close(output.cpu(), expected, **tolerance)
            torch.testing.assert_close(gradient.cpu(), expected_gradient, **tolerance)
            for mine, theirs in ((pair[0], whole[0]), (pair[2], whole[2])):
                assert_gradients_are_parts(mine, theirs, **tolerance)
            for mode in (torch.no_grad, torch.inference_mode):
                with mode():
                    alone = pair(x.to(device_of(ranks)))
                torch.testing.assert_close(alone.cpu(), expected, **tolerance)


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no-bias"])
def test_a_pair_is_what_it_is_on_one_device(
    ranks: RankPool, world: int, layout: str, bias: bool
) -> None:
    ranks.run(pair_is_exact, world, layout, bias)


@pytest.mark.parametrize("world", [2, 3])
@pytest.mark.parametrize("layout", ["even", "uneven"])
def test_a_pair_is_exact_on_simulated_boards(
    board_ranks: RankPool, world: int, layout: str
) -> None:
    board_ranks.run(pair_is_exact, world, layout, True)


def whole_at_both_ends(ranks: Ranks, layout: str) -> None:
    """gather_output, input_is_parallel=False: whole features between the layers."""
    whole = whole_pair(layout)
    split = shares(layout, ranks.size)
    pair = nn.Sequential(
        ColumnParallelLinear.from_linear(whole[0], ranks, split=split, gather_output=True),
        nn.LayerNorm(LAYOUTS[layout][1], elementwise_affine=False),
        RowParallelLinear.from_linear(whole[2], ranks, split=split, input_is_parallel=False),
    )
    whole[1] = pair[1]
    x = batch(layout, (2, 3))
    for model in (pair, torch.compile(pair, backend="aot_eager", fullgraph=True)):
        whole.zero_grad()
        pair.zero_grad()
        for mine, theirs in zip(run(model, x), run(whole, x), strict=True):
            torch.testing.assert_close(mine, theirs)
        assert_gradients_are_parts(pair[0], whole[0])
        assert_gradients_are_parts(pair[2], whole[2])


@pytest.mark.parametrize("layout", ["even", "uneven"])
def test_features_can_be_whole_between_the_layers(ranks: RankPool, layout: str) -> None:
    ranks.run(whole_at_both_ends, 3, layout)


def compiled_is_exact(ranks: Ranks, layout: str) -> None:
    whole = whole_pair(layout)
    pair = split_pair(whole, ranks, layout)
    x = batch(layout, (2, 3))
    compiled = torch.compile(pair, backend="aot_eager", fullgraph=True)
    for mine, theirs in zip(run(compiled, x), run(whole, x), strict=True):
        torch.testing.assert_close(mine, theirs)
    assert_gradients_are_parts(pair[0], whole[0])
    assert_gradients_are_parts(pair[2], whole[2])
    with torch.inference_mode():
        torch.testing.assert_close(compiled(x), whole(x))


@pytest.mark.parametrize("layout", ["even", "uneven"])
def test_a_compiled_pair_is_one_graph_and_exact(ranks: RankPool, layout: str) -> None:
    ranks.run(compiled_is_exact, 2, layout)


def autocast_is_alike(ranks: Ranks, layout: str) -> None:
    whole = whole_pair(layout)
    pair = split_pair(whole, ranks, layout)
    x = batch(layout, (2, 3))
    with torch.autocast("cpu", torch.bfloat16):
        expected, expected_gradient = run(whole, x)
        output, gradient = run(pair, x)
        assert pair(x).dtype is torch.bfloat16
        with torch.no_grad():
            torch.testing.assert_close(pair(x), expected, rtol=3e-2, atol=3e-2)
    torch.testing.assert_close(output, expected, rtol=3e-2, atol=3e-2)
    torch.testing.assert_close(gradient, expected_gradient, rtol=3e-2, atol=3e-2)
    assert gradient.dtype is pair[0].weight.grad.dtype is torch.float32
    assert_gradients_are_parts(pair[0], whole[0], rtol=3e-2, atol=3e-2)
    assert_gradients_are_parts(pair[2], whole[2], rtol=3e-2, atol=3e-2)


@pytest.mark.parametrize("layout", ["even", "uneven"])
def test_autocast_computes_in_its_type_and_keeps_the_parameters(
    ranks: RankPool, layout: str
) -> None:
    ranks.run(autocast_is_alike, 2, layout)


def graphs_replay(ranks: Ranks, layout: str) -> None:
    from accelhal.graphs import GraphedModule

    whole = whole_pair(layout).eval()
    pair = split_pair(whole, ranks, layout).eval()
    graphed = GraphedModule(pair, (4,))
    with torch.inference_mode():
        for seed in (1, 2):
            torch.manual_seed(seed)
            x = torch.randn(4, LAYOUTS[layout][0])
            output = graphed(x.to(device_of(ranks)))
            torch.testing.assert_close(output.cpu(), whole(x))
    assert graphed.report().captured


@pytest.mark.parametrize("layout", ["even", "uneven"])
def test_graphs_replay_the_collective(board_ranks: RankPool, layout: str) -> None:
    board_ranks.run(graphs_replay, 2, layout)


class NaiveParallelLinear(nn.Module):
    """Split by output features, then summed: the shape is right, the numbers are not."""

    def __init__(self, whole: nn.Linear, ranks: Ranks) -> None:
        super().__init__()
        self.ranks = ranks
        self.weight = nn.Parameter(whole.weight.detach().chunk(ranks.size)[ranks.rank].clone())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        output = x @ self.weight.t()
        dist.all_reduce(output, group=self.ranks.group)
        return output.repeat(*(1 for _ in x.shape[1:]), self.ranks.size)


def naive_is_wrong(ranks: Ranks) -> float:
    whole = nn.Linear(8, 16, bias=False)
    torch.nn.init.normal_(whole.weight, generator=torch.Generator().manual_seed(0))
    x = batch("even", (64,))
    with torch.no_grad():
        expected, output = whole(x), NaiveParallelLinear(whole, ranks)(x)
    with pytest.raises(AssertionError):
        torch.testing.assert_close(output, expected)
    return ((output - expected).norm() / expected.norm()).item()


def test_the_naive_layer_fails_the_comparison(ranks: RankPool) -> None:
    # The columns that are added are independent of those that belong there: an error of about 1.
    assert all(0.8 < error < 1.2 for error in ranks.run(naive_is_wrong, 2))


def bias_on_every_rank(ranks: Ranks) -> None:
    whole = whole_pair("even")[2]
    layer = RowParallelLinear.from_linear(whole, ranks, input_is_parallel=False)
    x = torch.randn(3, 12, generator=torch.Generator().manual_seed(3))
    layer(x).sum().backward()
    torch.testing.assert_close(layer.bias.grad, torch.full((8,), 3.0))
    partial = RowParallelLinear(12, 8, bias=False, reduce_results=False, group=ranks)
    product = partial(x[:, : partial.split.sizes[ranks.rank]])
    dist.all_reduce(product, group=ranks.group)
    with pytest.raises(UsageError, match="once a rank"):
        RowParallelLinear(12, 8, reduce_results=False, group=ranks)


def test_the_bias_counts_once_forward_and_backward(ranks: RankPool) -> None:
    ranks.run(bias_on_every_rank, 3)


def storage(ranks: Ranks) -> None:
    torch.manual_seed(ranks.rank)  # rank 0's values count
    even = ColumnParallelLinear(8, 12, group=ranks)
    uneven = ColumnParallelLinear(8, 9, split=[2, 1], group=ranks)
    row = RowParallelLinear(9, 8, split=[2, 1], group=ranks)
    assert isinstance(even.weight, DTensor)
    assert isinstance(even.weight.full_tensor(), torch.Tensor)
    assert not isinstance(uneven.weight, DTensor)
    assert uneven.split.sizes == row.split.sizes == (6, 3)
    assert uneven.weight.shape == ((6, 3)[ranks.rank], 8)
    everywhere = [torch.empty_like(row.bias) for _ in range(ranks.size)]
    dist.all_gather(everywhere, row.bias.detach(), group=ranks.group)
    torch.testing.assert_close(everywhere[0], everywhere[1])
    twin = copy.deepcopy(nn.Sequential(uneven, row))
    x = torch.ones(2, 8)
    torch.testing.assert_close(twin(x), row(uneven(x)))
    assert "6 of 9" in repr(uneven) or "3 of 9" in repr(uneven)


def test_even_parts_are_dtensors_and_uneven_ones_plain(ranks: RankPool) -> None:
    ranks.run(storage, 2)


def default_group(ranks: Ranks) -> None:
    assert ColumnParallelLinear(4, 8).ranks.size == dist.get_world_size() == 4


def test_the_default_group_is_the_world(ranks: RankPool) -> None:
    ranks.run(default_group, 4)


def wrong_inputs(ranks: Ranks) -> None:
    with pytest.raises(UsageError, match="too few for 3 ranks"):
        ColumnParallelLinear(4, 2, group=ranks)
    with pytest.raises(UsageError, match="2 shares do not divide among 3 ranks"):
        RowParallelLinear(9, 2, split=[1, 1], group=ranks)
    row = RowParallelLinear(9, 2, group=ranks)
    with pytest.raises(UsageError, match="has 9 features, not the 3 of this rank"):
        row(torch.ones(2, 9))
    column = ColumnParallelLinear(4, 9, group=ranks)
    second = column(torch.ones(2, 4, requires_grad=True)).sum()
    (first,) = torch.autograd.grad(second, column.weight, create_graph=True)
    with pytest.raises(RuntimeError, match=r"once_differentiable|does not require grad"):
        first.sum().backward()


def test_wrong_use_is_refused(ranks: RankPool) -> None:
    ranks.run(wrong_inputs, 3)


def test_without_a_group_the_next_step_is_named() -> None:
    with pytest.raises(UsageError, match=r"no group of ranks yet(.|\n)*accelhal launch"):
        ColumnParallelLinear(4, 4)
