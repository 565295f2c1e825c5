"""Plans made by name for transformer blocks: models of the transformers library, ties, refusals."""

from __future__ import annotations

import pytest
import torch
from parallel.one_device import assert_gradients_are_parts
from rank_pool import RankPool
from torch import nn

from accelhal.distributed import Ranks
from accelhal.errors import UsageError
from accelhal.parallel import (
    Colwise,
    Rowwise,
    VocabParallelEmbedding,
    parallelize_module,
    plan_for,
)


def llama() -> nn.Module:
    from transformers import LlamaConfig, LlamaForCausalLM

    return _made(
        LlamaForCausalLM,
        LlamaConfig(
            vocab_size=32,
            hidden_size=24,
            intermediate_size=36,
            num_hidden_layers=2,
            num_attention_heads=6,
            num_key_value_heads=3,
            tie_word_embeddings=True,
        ),
    )


def bert() -> nn.Module:
    from transformers import BertConfig, BertForSequenceClassification

    return _made(
        BertForSequenceClassification,
        BertConfig(
            vocab_size=32,
            hidden_size=24,
            intermediate_size=36,
            num_hidden_layers=2,
            num_attention_heads=6,
            hidden_dropout_prob=0,
            attention_probs_dropout_prob=0,
        ),
    )


def _made(model, config) -> nn.Module:
    torch.manual_seed(0)
    return model(config)


def transformer_is_exact(ranks: Ranks, name: str, split, vocabulary: bool) -> None:
    make = {"llama": llama, "bert": bert}[name]
    whole, model = make(), make()
    parallelize_module(model, ranks, plan_for(model, vocabulary=vocabulary), split=split)
    entries = torch.arange(10).view(2, 5)
    outputs = [one(input_ids=entries).logits for one in (whole, model)]
    torch.testing.assert_close(outputs[1], outputs[0])
    for one in outputs:
        one.square().sum().backward()
    parts, compared = dict(model.named_modules()), 0
    for module_name, module in whole.named_modules():
        part = parts[module_name]
        if hasattr(part, "sharded"):
            assert_gradients_are_parts(part, module, rtol=1e-4, atol=1e-5)
            compared += 1
        elif isinstance(module, nn.LayerNorm):
            torch.testing.assert_close(part.weight.grad, module.weight.grad, rtol=1e-4, atol=1e-5)
    assert compared == {"llama": 14, "bert": 12}[name] + 2 * vocabulary
    if vocabulary:
        assert isinstance(model.model.embed_tokens, VocabParallelEmbedding)
        assert model.lm_head.weight is model.model.embed_tokens.weight


@pytest.mark.parametrize(
    ("name", "world", "split", "vocabulary"),
    [
        ("llama", 3, None, False),
        ("llama", 2, (2, 1), True),
        ("llama", 2, None, True),
        ("bert", 3, None, False),
        ("bert", 4, (2, 1, 2, 1), False),
    ],
)
def test_transformers_are_what_they_are_on_one_device(
    ranks: RankPool, name: str, world: int, split, vocabulary: bool
) -> None:
    ranks.run(transformer_is_exact, world, name, split, vocabulary)


def block_alone(ranks: Ranks) -> None:
    model = llama()
    whole = model.model.layers[0]
    position = model.model.rotary_emb(torch.zeros(1), torch.arange(5).unsqueeze(0))
    x = torch.randn(2, 5, 24, generator=torch.Generator().manual_seed(1))
    expected = whole(x, position_embeddings=position)
    split = parallelize_module(whole, ranks)
    torch.testing.assert_close(
        split(x, position_embeddings=position), expected, rtol=1e-4, atol=1e-5
    )


def test_a_block_alone_is_what_it_is_on_one_device(ranks: RankPool) -> None:
    ranks.run(block_alone, 3)


def test_a_block_alone_has_the_plan_that_it_has_in_its_model() -> None:
    model = llama()
    prefix = "model.layers.0."
    assert {prefix + name: style for name, style in plan_for(model.model.layers[0]).items()} == {
        name: style for name, style in plan_for(model).items() if name.startswith(prefix)
    }


def half_a_tie(ranks: Ranks) -> None:
    model = llama()
    with pytest.raises(UsageError, match=r"embed_tokens\.weight and lm_head\.weight are one"):
        parallelize_module(model, ranks, {"lm_head": "colwise_gather_output"})


def test_half_of_a_tie_is_refused(ranks: RankPool) -> None:
    ranks.run(half_a_tie, 2)


def test_heads_are_not_cut() -> None:
    plan = plan_for(llama())
    assert plan["model.layers.0.self_attn.q_proj"] == Colwise(multiple_of=8)  # 2 queries a key
    assert plan["model.layers.0.self_attn.k_proj"] == Colwise(multiple_of=4)
    assert plan["model.layers.1.self_attn.o_proj"] == Rowwise(multiple_of=8)
    assert plan["model.layers.1.mlp.down_proj"] == Rowwise()
    assert not any("embed" in name or "norm" in name or name == "lm_head" for name in plan)


class Fused(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.self_attn = nn.ModuleDict(
            {"qkv_proj": nn.Linear(8, 24), "o_proj": nn.Linear(8, 8), "q_norm": nn.LayerNorm(4)}
        )
        self.mlp_norm = nn.LayerNorm(8)


def test_layers_of_blocks_that_no_plan_is_known_for_are_listed_once() -> None:
    model = nn.ModuleDict({"layers": nn.ModuleList([Fused(), Fused()]), "head": nn.Linear(8, 8)})
    with pytest.raises(UsageError) as told:
        plan_for(model, heads=2)
    assert told.value.message == (
        "no plan is known for 4 layers: layers.*.self_attn.qkv_proj, layers.*.self_attn.q_norm"
    )


def test_a_model_without_blocks_or_heads_is_refused() -> None:
    with pytest.raises(UsageError, match="has no transformer block"):
        plan_for(nn.Sequential(nn.ReLU()))
    with pytest.raises(UsageError, match="does not say how many heads"):
        plan_for(nn.ModuleList([nn.ModuleDict({"q_proj": nn.Linear(4, 4)})]))


class CountsHeads(nn.Module):
    """Reshapes as some models do: with half the heads, half the positions."""

    def __init__(self) -> None:
        super().__init__()
        self.num_heads = 4
        self.q_proj, self.o_proj = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        heads = self.q_proj(x).view(len(x), -1, self.num_heads, 2)
        return self.o_proj(heads.reshape(*x.shape[:2], -1))


def test_an_attention_that_counts_all_heads_is_refused() -> None:
    model = nn.ModuleDict({"layers": nn.ModuleList([CountsHeads()])})
    with pytest.raises(UsageError, match=r"CountsHeads\.forward uses the number of all heads"):
        plan_for(model, heads=4)
