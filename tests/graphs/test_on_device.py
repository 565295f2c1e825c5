"""Graphs on the device under test: `pytest tests/graphs --accelhal-device=NAME` runs them there."""

from __future__ import annotations

import copy
import threading

import pytest
import torch

import accelhal
from accelhal.facade import Device
from accelhal.graphs import GraphedModule, graph

from .conftest import integer_model, whole_numbers

JOIN_LIMIT_S = 60

needs_graphs = pytest.mark.accelhal(require={"graphs", "streams", "events"})


@pytest.fixture
def model(accelhal_device: Device) -> torch.nn.Module:
    return integer_model().to(accelhal_device.torch_device)


@needs_graphs
def test_batches_of_every_size(accelhal_device: Device, model: torch.nn.Module) -> None:
    fast = GraphedModule(model, (1, 2, 4, 8))
    host = copy.deepcopy(model).cpu()
    for rows in (3, 8, 1, 5, 19):
        x = whole_numbers(rows, 6, device=accelhal_device.torch_device, seed=rows)
        assert torch.equal(fast(x).cpu(), host(x.cpu()))
    report = fast.report()
    assert [one.batch_size for one in report.captured] == [8, 4, 1]
    assert report.failed == ()


@needs_graphs
def test_replaced_weights_are_followed(accelhal_device: Device, model: torch.nn.Module) -> None:
    fast = GraphedModule(model, (4,))
    x = whole_numbers(3, 6, device=accelhal_device.torch_device)
    before = fast(x)
    model[2].weight = torch.nn.Parameter(model[2].weight * 2)
    model[2].bias.mul_(2)
    assert torch.equal(fast(x), before * 2)
    assert fast.report().recaptures == 1


@needs_graphs
def test_two_threads(accelhal_device: Device, model: torch.nn.Module) -> None:
    fast = GraphedModule(model, (2, 4))
    host = copy.deepcopy(model).cpu()
    fast.capture(whole_numbers(1, 6, device=accelhal_device.torch_device))
    wrong: list[object] = []

    def work(seed: int) -> None:
        try:
            with torch.no_grad(), accelhal_device.stream(accelhal_device.Stream()):
                for n in range(20):
                    x = whole_numbers(n % 4 + 1, 6, device=accelhal_device.torch_device, seed=n)
                    if not torch.equal(fast(x + seed).cpu(), host((x + seed).cpu())):
                        wrong.append((seed, n))
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(n,), daemon=True) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(JOIN_LIMIT_S)
        assert not thread.is_alive()
    assert wrong == []


@needs_graphs
def test_a_spoilt_capture_leaves_the_device_usable(
    accelhal_device: Device, model: torch.nn.Module
) -> None:
    x = whole_numbers(3, 6, device=accelhal_device.torch_device)
    before = accelhal_device.current_stream()
    with pytest.raises(RuntimeError), graph(accelhal_device):
        _ = (x * 2).sum().item()
    assert accelhal_device.current_stream() == before
    assert torch.equal(GraphedModule(model, (4,))(x), model(x))


@pytest.mark.accelhal(require={"graphed_callables"})
def test_training_as_graphs(accelhal_device: Device, model: torch.nn.Module) -> None:
    plain = copy.deepcopy(model)
    x = torch.ones(3, 6, device=accelhal_device.torch_device)
    with torch.enable_grad():
        graphed = accelhal.make_graphed_callables(model, (x,))
        for net in (plain, graphed):
            net(x * 2).pow(2).sum().backward()
    for one, other in zip(plain.parameters(), graphed.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad)
