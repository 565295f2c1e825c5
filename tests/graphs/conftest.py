"""Simulated boards for the tests of graphs, and models whose float32 results are exact."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator

import pytest
import torch

import accelhal
from accelhal.facade import Device


@pytest.fixture
def board(mock_boards: Callable[..., list[str]]) -> Device:
    """A simulated board that captures graphs; a missing wait raises."""
    return accelhal.device(mock_boards(count=2, memory="256MiB", mode="python")[0])


@pytest.fixture
def net(board: Device) -> torch.nn.Module:
    return integer_model().to(board.torch_device)


@pytest.fixture(autouse=True, scope="module")
def quick_captures() -> Iterator[None]:
    """Every capture collects garbage first: what the process holds already is left out of it."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def no_gradients() -> Iterator[None]:
    """No test here asks for gradients, but those that say so."""
    with torch.no_grad():
        yield


def integer_model() -> torch.nn.Sequential:
    """A perceptron of small whole numbers: sums come out the same whatever their order."""
    model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 4))
    generator = torch.Generator().manual_seed(0)
    for parameter in model.parameters():
        parameter.data = torch.randint(-4, 5, parameter.shape, generator=generator).float()
    return model.eval()


def whole_numbers(*shape: int, device: torch.device, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-9, 10, shape, generator=generator).float().to(device)
