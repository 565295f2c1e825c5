"""`make_graphed_callables`: the vendor's own, with its arguments, on the device of the samples."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch

import accelhal
from accelhal.errors import UnsupportedError, UsageError
from accelhal.facade import Device
from accelhal.graphs import make_graphed_callables
from accelhal.runtimes.torch_module import TorchModuleRuntime

from .conftest import integer_model


def test_it_trains_as_the_model_does(board: Device) -> None:
    plain = integer_model().train().to(board.torch_device)
    graphed = copy.deepcopy(plain)
    x = torch.ones(3, 6, device=board.torch_device)
    with torch.enable_grad():
        graphed = make_graphed_callables(graphed, (x,))
        for net in (plain, graphed):
            net(x * 2).pow(2).sum().backward()
    for one, other in zip(plain.parameters(), graphed.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad)


def test_arguments_reach_the_vendor(board: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[Any, ...]] = []

    def vendor(callables: Any, sample_args: Any, **options: Any) -> str:
        seen.append((torch.mock.current_device(), callables, sample_args, options))
        return "graphed"

    monkeypatch.setattr(torch.mock, "make_graphed_callables", vendor)
    sample = (torch.ones(2, device="mock:1"),)
    options = {"num_warmup_iters": 11, "allow_unused_input": True}
    assert make_graphed_callables(abs, sample, **options) == "graphed"
    pool = board.graph_pool_handle()
    make_graphed_callables((abs,), (sample,), device="mock:0", pool=pool)
    first, second = seen
    assert first == (1, abs, sample, options)  # early releases of one vendor take no pool
    defaults = {"num_warmup_iters": 3, "allow_unused_input": False}
    assert second == (0, (abs,), (sample,), {**defaults, "pool": pool})
    assert torch.mock.current_device() == 0


def test_what_it_refuses(board: Device) -> None:
    sample = torch.ones(2, device=board.torch_device)
    with pytest.raises(UnsupportedError, match="graphed_callables"):
        make_graphed_callables(abs, (torch.ones(2),))
    with pytest.raises(UsageError, match="sample_args has no tensor"):
        make_graphed_callables(abs, ())
    with pytest.raises(UsageError, match=r"is a \w+, not a tuple.*\n.*\(x,\)"):
        make_graphed_callables(abs, sample)
    for rounds in (-1, 1.5, True):
        with pytest.raises(UsageError, match="num_warmup_iters"):
            make_graphed_callables(abs, (sample,), num_warmup_iters=rounds)


def test_a_module_without_them_does_not_declare_them(
    board: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert board.supports("graphed_callables") is not None
    monkeypatch.delattr(torch.mock, "make_graphed_callables")
    without = accelhal.device(str(board))
    assert without.supports("graphed_callables") is None
    assert without.supports("graphs") is not None
    with pytest.raises(UnsupportedError) as refusal:
        without.make_graphed_callables(abs, ())
    assert refusal.value.capability == "graphed_callables"


def test_a_runtime_written_for_interface_1_0_keeps_its_graphs(
    board: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It declares `graphs` and knows nothing of what 1.1 added."""
    found = TorchModuleRuntime.capabilities

    def capabilities(self: TorchModuleRuntime, index: int) -> dict[str, Any]:
        return {k: v for k, v in found(self, index).items() if k != "graphed_callables"}

    monkeypatch.setattr(TorchModuleRuntime, "capabilities", capabilities)
    old = accelhal.device(str(board))
    assert old.graph_limit is None
    net = integer_model().to(board.torch_device)
    x = torch.ones(3, 6, device=board.torch_device)
    assert torch.equal(accelhal.GraphedModule(net, (4,), device=old)(x), net(x))
    with pytest.raises(UnsupportedError):
        old.make_graphed_callables(net, (x,))
