"""Small models whose operators are known."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


def mlp() -> tuple[nn.Module, torch.Tensor]:
    return nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 2)), torch.randn(4, 8)


def convolution() -> tuple[nn.Module, torch.Tensor]:
    layers = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.AdaptiveAvgPool2d(1)
    return nn.Sequential(*layers), torch.randn(2, 3, 8, 8)


class Weighted(nn.Module):
    """A module with something that gradients flow to."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(()))


class Attention(Weighted):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x * self.weight
        return nn.functional.scaled_dot_product_attention(x, x, x)


def attention() -> tuple[nn.Module, torch.Tensor]:
    return Attention(), torch.randn(1, 2, 4, 8)


def recurrent() -> tuple[nn.Module, torch.Tensor]:
    return nn.LSTM(4, 4), torch.randn(3, 2, 4)


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x.pow(3)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        return gradient * torch.special.i0e(x)  # an operator that the forward pass has not


class Cubed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return Cube.apply(self.inner(x))


def cubed() -> tuple[nn.Module, torch.Tensor]:
    return Cubed(), torch.randn(2, 4)


class Complex(Weighted):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x * self.weight
        return torch.linalg.eigvals(x).abs().sum() + torch.polygamma(1, x).sum()


def complex_values() -> tuple[nn.Module, torch.Tensor]:
    return Complex(), torch.randn(4, 4)


class Sparse(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x + 1).to_sparse().to_dense()


def sparse() -> tuple[nn.Module, torch.Tensor]:
    return Sparse(), torch.eye(4)


class Caching(Weighted):
    """Keeps a tensor of its first pass and uses it in later ones."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: torch.Tensor | None = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.kept is None:
            self.kept = torch.arange(4.0)
        return x * self.weight * self.kept


def caching() -> tuple[nn.Module, torch.Tensor]:
    return Caching(), torch.ones(2, 4)


class ReadsValues(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2 if x.sum().item() > 0 else x


def reads_values() -> tuple[nn.Module, torch.Tensor]:
    return ReadsValues(), torch.ones(4)


class Fails(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        raise ValueError("a [bracket] and a reason")


def fails() -> tuple[nn.Module, torch.Tensor]:
    return Fails(), torch.ones(4)
