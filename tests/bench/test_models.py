"""The built-in models are what their names say: published sizes, work and arithmetic."""

from __future__ import annotations

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from accelhal.bench import BUILT_IN
from accelhal.bench.factory import load_workload
from accelhal.bench.models.resnet import ResNet50
from accelhal.bench.models.transformer import BERT_BASE, SMALL, Encoder, EncoderLayer


def parameters(module: torch.nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


def test_resnet50_has_the_published_size_and_work() -> None:
    with torch.device("meta"):
        model = ResNet50().eval()
        images = torch.empty(1, 3, 224, 224)
    assert parameters(model) == 25_557_032  # torchvision's resnet50
    assert [len(stage) for stage in model.stages] == [3, 4, 6, 3]
    with FlopCounterMode(display=False) as counter:
        assert model(images).shape == (1, 1000)
    # torchvision quotes 4.09 G multiply-accumulates; each counts as two here.
    assert counter.get_total_flops() / 2e9 == pytest.approx(4.09, abs=0.01)


def test_bert_base_has_the_published_size() -> None:
    with torch.device("meta"):
        model = Encoder(BERT_BASE)
    assert parameters(model) == 109_482_240  # "110M" in the paper; this of bert-base-uncased


def test_lstm_has_the_published_size() -> None:
    assert parameters(load_workload("lstm").module) == pytest.approx(20e6, rel=0.02)


def test_the_encoder_layer_computes_what_torchs_does() -> None:
    torch.manual_seed(0)
    ours = EncoderLayer(SMALL).eval()
    theirs = torch.nn.TransformerEncoderLayer(
        SMALL.width,
        SMALL.heads,
        SMALL.feed_forward,
        activation="gelu",
        layer_norm_eps=1e-12,
        batch_first=True,
    ).eval()
    attention = ours.attention
    joined = (attention.query, attention.key, attention.value)
    theirs.load_state_dict(
        {
            "self_attn.in_proj_weight": torch.cat([part.weight for part in joined]),
            "self_attn.in_proj_bias": torch.cat([part.bias for part in joined]),
            **_renamed("self_attn.out_proj", attention.output),
            **_renamed("linear1", ours.expand),
            **_renamed("linear2", ours.contract),
            **_renamed("norm1", ours.attention_norm),
            **_renamed("norm2", ours.output_norm),
        }
    )
    hidden = torch.randn(2, 7, SMALL.width)
    with torch.no_grad():
        torch.testing.assert_close(ours(hidden), theirs(hidden))


def _renamed(name: str, module: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {f"{name}.{key}": value for key, value in module.state_dict().items()}


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_built_in_model_takes_its_batch(name: str) -> None:
    workload = load_workload(name)
    with torch.inference_mode():
        output = workload.module.eval()(workload.make_batch(2))
    assert output.shape[0] == 2
    assert output.isfinite().all()


def test_weights_are_the_same_in_every_run_and_the_generator_is_left_alone() -> None:
    before = torch.get_rng_state()
    first, second = load_workload("mlp").module, load_workload("mlp").module
    assert torch.equal(torch.get_rng_state(), before)
    for one, other in zip(first.parameters(), second.parameters(), strict=True):
        assert torch.equal(one, other)
