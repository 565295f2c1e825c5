"""A multilayer perceptron: the smallest model that still multiplies matrices."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from accelhal.bench.workload import MakeBatch

FEATURES = 784
"""Inputs: one 28x28 grey image, as in MNIST."""

HIDDEN = 1024
CLASSES = 10


def mlp() -> tuple[nn.Module, MakeBatch]:
    """Three linear layers, 784-1024-1024-10, with ReLU between them."""
    module = nn.Sequential(
        nn.Linear(FEATURES, HIDDEN),
        nn.ReLU(),
        nn.Linear(HIDDEN, HIDDEN),
        nn.ReLU(),
        nn.Linear(HIDDEN, CLASSES),
    )
    return module, _images


def _images(batch_size: int) -> Tensor:
    return torch.randn(batch_size, FEATURES)
