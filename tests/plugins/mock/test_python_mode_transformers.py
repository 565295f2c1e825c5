"""Real user code: a transformers encoder, untouched, trained on a board as on the CPU."""

import copy

import pytest
import torch

transformers = pytest.importorskip("transformers")


@pytest.fixture(autouse=True)
def boards(mock_boards):
    return mock_boards(count=2, memory="256MiB", mode="python")


def tiny_bert():
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=64,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=32,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    return transformers.BertForMaskedLM(config)


def batch():
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(0, 64, (4, 12), generator=generator)
    mask = torch.ones_like(ids)
    mask[0, 8:] = 0
    return {"input_ids": ids, "attention_mask": mask, "labels": ids.clone()}


def train(model, values, steps=3):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = model(**values).loss
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_bert_trains_on_a_board_as_on_the_cpu():
    host = tiny_bert()
    board = copy.deepcopy(host).to("mock:1")
    assert board.get_input_embeddings().weight is board.get_output_embeddings().weight
    values = batch()
    on_board = {name: value.to("mock:1") for name, value in values.items()}
    assert train(board, on_board) == pytest.approx(train(host, values), abs=1e-6)
    for (name, a), b in zip(board.named_parameters(), host.parameters(), strict=True):
        assert str(a.device) == "mock:1"
        torch.testing.assert_close(a.detach().cpu(), b.detach(), atol=1e-6, rtol=0, msg=name)


def test_an_optimizer_built_before_the_model_moves_trains_it():
    host = tiny_bert()
    board = copy.deepcopy(host)
    optimizer = torch.optim.AdamW(board.parameters(), lr=1e-3)
    board.to("mock:1")
    before = board.bert.embeddings.word_embeddings.weight.detach().clone()
    board(**{name: value.to("mock:1") for name, value in batch().items()}).loss.backward()
    optimizer.step()
    assert not torch.equal(board.bert.embeddings.word_embeddings.weight, before)
