"""Plans: what their names match, torch's styles, and layers that cannot be split."""

from __future__ import annotations

import pytest
import torch
from parallel.one_device import assert_gradients_are_parts, batch, device_of, run, whole_pair
from rank_pool import RankPool
from torch import nn
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    SequenceParallel,
)

from accelhal.distributed import Ranks, mesh
from accelhal.errors import UnsupportedError, UsageError
from accelhal.parallel import (
    ColumnParallelLinear,
    Colwise,
    RowParallelLinear,
    Rowwise,
    parallelize_module,
)
from accelhal.parallel.plan import match


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(8, 12), nn.Linear(12, 8)
        self.norm = nn.LayerNorm(8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down(torch.relu(self.up(self.norm(x))))


def blocks() -> nn.Sequential:
    return nn.Sequential(*(Block() for _ in range(2)))


PLAN = {"*.up": "colwise", "*.down": "rowwise"}


def plans_are_exact(ranks: Ranks) -> None:
    torch.manual_seed(ranks.rank)  # of different values: rank 0's count
    plans = (
        PLAN,
        {"*.up": ColwiseParallel(), "*.down": RowwiseParallel()},
        {
            "*.up": ColwiseParallel(output_layouts=Replicate()),
            "*.down": RowwiseParallel(input_layouts=Replicate()),
        },
        {"*.up": Colwise(multiple_of=4), "1.down": Rowwise(multiple_of=4), "0.down": "rowwise"},
    )
    x = batch("even", (2, 3))
    for plan in plans:
        model = parallelize_module(blocks(), ranks, plan)
        assert isinstance(model[0].up, ColumnParallelLinear)
        assert isinstance(model[1].down, RowParallelLinear)
        whole = blocks()
        whole.load_state_dict(
            {
                name: value.full_tensor() if hasattr(value, "full_tensor") else value
                for name, value in model.state_dict().items()
            }
        )
        for mine, theirs in zip(run(model, x), run(whole, x), strict=True):
            torch.testing.assert_close(mine, theirs)
        torch.testing.assert_close(model[0].norm.weight.grad, whole[0].norm.weight.grad)
        assert_gradients_are_parts(model[0].up, whole[0].up)


def test_plans_by_name_style_and_torchs_styles(ranks: RankPool) -> None:
    ranks.run(plans_are_exact, 3)


def one_layer(ranks: Ranks) -> None:
    part = parallelize_module(nn.Linear(4, 6), ranks, "colwise")
    assert isinstance(part, ColumnParallelLinear)
    with pytest.raises(UnsupportedError, match="Conv1d, which cannot be split colwise"):
        parallelize_module(nn.Sequential(nn.Conv1d(1, 1, 1)), ranks, {"0": "colwise"})
    with pytest.raises(UsageError, match=r"0: 2 output features are too few for 4 ranks"):
        parallelize_module(nn.Sequential(nn.Linear(4, 2)), ranks, {"0": "colwise"})
    for wrong, says in (
        ({"split": 3}, "3 is no list of shares"),
        ({"source": 9}, "source=9 is none of the 4 ranks"),
    ):
        with pytest.raises(UsageError, match=says):
            parallelize_module(nn.Linear(4, 6), ranks, "colwise", **wrong)
    with pytest.raises(UsageError, match="'tp' is no group of ranks"):
        ColumnParallelLinear(4, 4, group="tp")
    two = mesh({"dp": 2, "tp": -1})
    assert Ranks.of_mesh(two["tp"]).size == 2
    with pytest.raises(UsageError, match=r"mesh has 2(.|\n)*mesh\['tp'\]"):
        parallelize_module(blocks(), two, PLAN)


def test_a_layer_alone_and_meshes(ranks: RankPool) -> None:
    ranks.run(one_layer, 4)


def test_names_that_match_nothing_are_all_listed() -> None:
    plan = {"*.up": "colwise", "*.upp": "colwise", "*.mlp.down": "rowwise"}
    with pytest.raises(UsageError, match=r"2 of 3 names .*: \*\.upp, \*\.mlp\.down"):
        match(blocks(), plan)
    assert list(match(blocks(), PLAN)) == ["0.up", "1.up", "0.down", "1.down"]
    assert match(blocks(), {"*": "colwise"}).keys() == {"0", "1"}  # a star is one part


def test_a_module_named_twice_is_refused_unless_alike() -> None:
    with pytest.raises(UsageError, match=r"names 0\.up twice"):
        match(blocks(), {"*.up": "colwise", "0.up": "rowwise"})
    match(blocks(), {"*.up": "colwise", "0.up": "colwise"})


@pytest.mark.parametrize(
    "style",
    [
        SequenceParallel(),
        ColwiseParallel(use_local_output=False),
        ColwiseParallel(input_layouts=Shard(1)),
        RowwiseParallel(output_layouts=Shard(1)),
    ],
    ids=lambda style: type(style).__name__,
)
def test_torchs_styles_with_other_layouts_are_refused(style) -> None:
    with pytest.raises(UnsupportedError, match=r"\*\.up: .*Parallel as it is set up here"):
        match(blocks(), {"*.up": style})


def test_a_style_that_does_not_exist_names_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"did you mean 'colwise'"):
        match(blocks(), {"*.up": "colwize"})


def on_boards(ranks: Ranks) -> None:
    whole = whole_pair("even")
    pair = parallelize_module(whole_pair("even"), ranks, {"0": "colwise", "2": "rowwise"})
    x = batch("even", (5,))
    assert pair[0].weight.device.type == "mock"  # the parts went to the mesh's device
    for mine, theirs in zip(run(pair, x.to(device_of(ranks))), run(whole, x), strict=False):
        torch.testing.assert_close(mine.cpu(), theirs)


def test_parts_go_to_the_boards(board_ranks: RankPool) -> None:
    board_ranks.run(on_boards, 3)


class ScaledEmbedding(nn.Embedding):
    def forward(self, entries: torch.Tensor) -> torch.Tensor:
        return super().forward(entries) * 3


def layers_that_compute_something_else(ranks: Ranks) -> None:
    wrapped = nn.Linear(8, 8)
    wrapped.forward = lambda x: 2 * x
    normed = nn.utils.parametrizations.weight_norm(nn.Linear(8, 8))
    for layer in (ScaledEmbedding(8, 4), wrapped, normed):
        with pytest.raises(UnsupportedError, match=r"0: (.|\n)*does not compute what"):
            parallelize_module(nn.Sequential(layer), ranks, {"0": "rowwise"})


def test_layers_that_compute_something_else_are_refused(ranks: RankPool) -> None:
    ranks.run(layers_that_compute_something_else, 2)


def hooks_are_kept(ranks: Ranks) -> None:
    whole = whole_pair("even")
    whole[0].register_forward_hook(lambda layer, given, output: output * 2)
    whole[2].register_forward_pre_hook(lambda layer, given: (given[0] * 2,))
    x = batch("even", (3,))
    expected = run(whole, x)
    model = parallelize_module(whole, ranks, {"0": "colwise", "2": "rowwise"})
    torch.testing.assert_close(run(model, x), expected)


def test_hooks_of_a_layer_are_kept(ranks: RankPool) -> None:
    ranks.run(hooks_are_kept, 2)


def one_module_by_two_names(ranks: Ranks) -> None:
    layer = nn.Linear(8, 8)
    with pytest.raises(UsageError, match="by another name too, with another style"):
        parallelize_module(nn.Sequential(layer, layer), ranks, {"0": "colwise", "1": "rowwise"})


def test_one_module_has_one_style_by_all_its_names(ranks: RankPool) -> None:
    ranks.run(one_module_by_two_names, 2)


def layers_that_are_not_called(ranks: Ranks) -> None:
    """Of uneven parts, their sum would be left out silently."""
    attention = nn.MultiheadAttention(8, 2)
    block = nn.TransformerEncoderLayer(8, 2, 12)
    for model, plan in (
        (attention, {"out_proj": "rowwise"}),
        (block, {"linear1": "colwise", "linear2": "rowwise"}),
    ):
        with pytest.raises(UnsupportedError, match="without calling the layer"):
            parallelize_module(model, ranks, plan, split=[2, 1])


def test_layers_whose_weights_are_used_past_them_are_refused(ranks: RankPool) -> None:
    ranks.run(layers_that_are_not_called, 2)
