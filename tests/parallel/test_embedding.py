"""An embedding divided by its vocabulary is the embedding on one device."""

from __future__ import annotations

import pytest
import torch
from parallel.one_device import assert_gradients_are_parts, device_of
from rank_pool import RankPool
from torch import nn

from accelhal.distributed import Ranks
from accelhal.errors import UnsupportedError
from accelhal.parallel import VocabParallelEmbedding

ENTRIES = 11


def embedding_is_exact(ranks: Ranks, split: tuple[float, ...] | None) -> None:
    torch.manual_seed(0)
    whole = nn.Embedding(ENTRIES, 6, padding_idx=4)
    device = device_of(ranks)
    layer = VocabParallelEmbedding.from_embedding(whole, ranks, split=split, device=device)
    entries = torch.arange(ENTRIES).repeat(2).view(2, ENTRIES)
    models = [(layer, True)]
    if device.type == "cpu":
        models.append((torch.compile(layer, backend="aot_eager", fullgraph=True), False))
    for model, eager in models:
        layer.zero_grad()
        whole.zero_grad()
        output, expected = model(entries.to(device)), whole(entries)
        torch.testing.assert_close(output.cpu(), expected)
        (output * output.detach()).sum().backward()
        (expected * expected.detach()).sum().backward()
        assert_gradients_are_parts(layer, whole)
        if eager:
            with torch.inference_mode():
                torch.testing.assert_close(model(entries.to(device)).cpu(), expected)
    if device.type == "cpu":
        for wrong in (-1, ENTRIES):
            with pytest.raises(IndexError):
                layer(torch.tensor([wrong]))


@pytest.mark.parametrize("world", [2, 3])
@pytest.mark.parametrize("split", [None, (2, 1, 1)], ids=["even", "uneven"])
def test_an_embedding_is_what_it_is_on_one_device(ranks: RankPool, world: int, split) -> None:
    ranks.run(embedding_is_exact, world, split and split[:world])


def test_an_embedding_is_exact_on_simulated_boards(board_ranks: RankPool) -> None:
    board_ranks.run(embedding_is_exact, 2, None)


def special_embeddings(ranks: Ranks) -> None:
    for extra in ({"max_norm": 1.0}, {"sparse": True}, {"scale_grad_by_freq": True}):
        with pytest.raises(UnsupportedError, match="is not divided"):
            VocabParallelEmbedding.from_embedding(nn.Embedding(4, 2, **extra), ranks)


def test_what_needs_the_whole_vocabulary_is_refused(ranks: RankPool) -> None:
    ranks.run(special_embeddings, 2)
