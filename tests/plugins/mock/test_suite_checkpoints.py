"""Saving and loading board tensors: in the ordinary format, to boards and to the host."""

import copy
import io

import pytest
import torch
from torch import nn

BOARD = "mock:1"


@pytest.fixture(autouse=True)
def boards(mock_boards):
    return mock_boards(count=4, memory="64MiB", mode="python")


def saved(value):
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return file


@pytest.mark.parametrize("weights_only", [True, False])
def test_state_dict_comes_back_to_its_board(weights_only):
    net = nn.Linear(3, 2).to(BOARD)
    state = torch.load(saved(net.state_dict()), weights_only=weights_only)
    assert str(state["weight"].device) == BOARD
    other = nn.Linear(3, 2).to("mock:2")
    other.load_state_dict(state)
    assert other.weight.device == torch.device("mock:2")
    assert torch.equal(other.weight.cpu(), net.weight.cpu())


@pytest.mark.parametrize("weights_only", [True, False])
def test_map_location_to_a_board(weights_only):
    file = saved({"w": torch.arange(3.0)})
    loaded = torch.load(file, map_location="mock:1", weights_only=weights_only)["w"]
    assert str(loaded.device) == BOARD
    assert loaded.tolist() == [0.0, 1.0, 2.0]
    assert torch.mock.memory_allocated(1) >= 12


@pytest.mark.parametrize("weights_only", [True, False])
def test_map_location_to_the_host(weights_only):
    file = saved({"w": torch.arange(3.0, device=BOARD)})
    loaded = torch.load(file, map_location="cpu", weights_only=weights_only)["w"]
    assert loaded.device.type == "cpu"
    assert type(loaded) is torch.Tensor
    assert loaded.tolist() == [0.0, 1.0, 2.0]


def test_map_location_to_another_board():
    file = saved({"w": torch.arange(3.0, device=BOARD)})
    assert torch.load(file, map_location={"mock:1": "mock:3"})["w"].device.index == 3


def test_views_share_memory_again_after_loading():
    x = torch.arange(4.0, device=BOARD)
    a, b = torch.load(saved([x, x[1:]]))
    a[1] = 7
    assert b.tolist() == [7.0, 2.0, 3.0]


def test_whole_modules():
    net = torch.load(saved(nn.Linear(3, 2).to(BOARD)), weights_only=False)
    assert isinstance(net.weight, nn.Parameter)
    assert str(net.weight.device) == BOARD
    assert net(torch.ones(1, 3, device=BOARD)).shape == (1, 2)


def test_a_board_that_is_not_there(mock_boards):
    file = saved({"w": torch.ones(3, device="mock:3")})
    mock_boards(count=2, mode="python")
    with pytest.raises(RuntimeError, match=r"device 3 but torch.mock.device_count\(\) is 2"):
        torch.load(file)


def test_optimizer_state():
    net = nn.Linear(3, 2).to(BOARD)
    optimizer = torch.optim.Adam(net.parameters())
    net(torch.ones(1, 3, device=BOARD)).sum().backward()
    optimizer.step()
    other = torch.optim.Adam(net.parameters())
    other.load_state_dict(torch.load(saved(optimizer.state_dict())))
    assert str(other.state[net.weight]["exp_avg"].device) == BOARD


def test_deepcopy_of_a_module():
    net = nn.Linear(3, 2).to(BOARD)
    twin = copy.deepcopy(net)
    assert str(twin.weight.device) == BOARD
    assert isinstance(twin.weight, nn.Parameter)
    assert torch.equal(twin.weight, net.weight)
    with torch.no_grad():
        twin.weight.zero_()
    assert not torch.equal(twin.weight, net.weight)
