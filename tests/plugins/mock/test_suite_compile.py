"""torch.compile, export and fake tensors with board tensors; nothing is generated or built."""

import pytest
import torch
from torch import nn

BOARD = "mock:1"


@pytest.fixture(autouse=True)
def boards(mock_boards):
    torch._dynamo.reset()
    return mock_boards(count=4, memory="64MiB", mode="python")


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_compiled_module_trains(backend):
    net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2)).to(BOARD)
    compiled = torch.compile(net, backend=backend)
    x = torch.randn(2, 4, device=BOARD)
    assert torch.allclose(compiled(x), net(x))
    compiled(x).sum().backward()
    assert str(net[0].weight.grad.device) == BOARD


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_full_graph_with_a_factory_inside(backend):
    def work(x):
        return (x * 2).relu() + torch.ones(3, device="mock:1")

    compiled = torch.compile(work, backend=backend, fullgraph=True)
    y = compiled(torch.ones(3, device=BOARD))
    assert str(y.device) == BOARD
    assert y.tolist() == [3.0, 3.0, 3.0]


def test_fake_tensors_carry_the_device():
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode():
        x = torch.empty(3, device="mock:1")
        assert str((x @ x).device) == BOARD
    assert torch.mock.memory_allocated(1) == 0


def test_export():
    program = torch.export.export(nn.Linear(4, 4).to(BOARD), (torch.ones(2, 4, device=BOARD),))
    assert any("linear" in str(node.target) for node in program.graph.nodes)
    x = torch.randn(2, 4, device=BOARD)
    assert str(program.module()(x).device) == BOARD


def test_compiling_counts_no_memory():
    net = nn.Linear(64, 64).to(BOARD)
    held = torch.mock.memory_allocated(1)
    x = torch.ones(2, 64, device=BOARD)
    y = torch.compile(net, backend="aot_eager")(x)
    assert torch.mock.memory_allocated(1) - held <= 2 * x.nbytes + y.nbytes
