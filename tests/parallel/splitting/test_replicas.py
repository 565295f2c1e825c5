"""Copies follow their model through whatever a program does to it between two batches."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

import accelhal
from accelhal.parallel.splitting import LocalDataParallel

CHANGES = {
    "written in place": lambda model: nn.init.constant_(model[0].weight, 0.5),
    "another parameter": lambda model: setattr(model[0], "weight", nn.Parameter(torch.ones(8, 8))),
    "another memory": lambda model: setattr(model[0].weight, "data", torch.ones(8, 8)),
    "another buffer": lambda model: setattr(model[1], "running_mean", torch.full((8,), 5.0)),
    "weights loaded": lambda model: model.load_state_dict(
        {name: value + 1 for name, value in model.state_dict().items()}, assign=True
    ),
    "another activation": lambda model: model.__setitem__(2, nn.Tanh()),
    "another shape": lambda model: model.__setitem__(3, nn.Linear(8, 2)),
    "a layer more": lambda model: model.append(nn.Softmax(-1)),
    "a layer less": lambda model: model.__delitem__(3),
    "another type": lambda model: model.double(),
    "weights tied": lambda model: setattr(model[3], "weight", model[0].weight),
}


@pytest.fixture
def boards(mock_boards):
    mock_boards(count=2, memory="64MiB", mode="python")
    return accelhal.devices("mock")


def model_of() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Linear(8, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 8, bias=False)
    ).eval()


def assert_followed(parallel: LocalDataParallel, model: nn.Module) -> None:
    x = torch.randn(6, 8, dtype=next(model.parameters()).dtype)
    with torch.no_grad():
        torch.testing.assert_close(parallel(x), model(x))
    whole = copy.deepcopy(model)
    model.zero_grad()
    parallel(x).square().sum().backward()
    whole(x).square().sum().backward()
    for mine, theirs in zip(model.parameters(), whole.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, theirs.grad)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_of_the_model_is_followed(boards, change):
    model = model_of()
    parallel = LocalDataParallel(model, boards)
    assert_followed(parallel, model)
    with torch.no_grad():
        change(model)
    assert_followed(parallel, model)


def test_a_model_that_moves_to_a_board_is_used_there(boards):
    model = model_of()
    parallel = LocalDataParallel(model, boards)
    x = torch.randn(6, 8)
    with torch.no_grad():
        expected = model(x)
        for device in (boards[1].torch_device, boards[0].torch_device, torch.device("cpu")):
            model.to(device)
            torch.testing.assert_close(parallel(x), expected)
    model.to(boards[0].torch_device).train()
    before = model[1].running_mean.clone()
    parallel(x)
    assert not torch.equal(model[1].running_mean, before)


def test_what_cannot_be_noticed_is_followed_after_a_refresh(boards):
    model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(1.0))
    parallel = LocalDataParallel(model, boards)
    model[0].weight.data.fill_(2.0)
    model[1].p = 0.0
    parallel.refresh()
    assert_followed(parallel, model)


def test_copies_made_in_inference_mode_are_trained_later(boards):
    model = model_of()
    with torch.inference_mode():
        parallel = LocalDataParallel(model, boards)
        parallel(torch.ones(4, 8))
    assert_followed(parallel, model)
    with torch.no_grad():
        model[0].weight.add_(1)
    assert_followed(parallel, model)
