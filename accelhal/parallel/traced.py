"""The same layers while torch.compile traces them: torch's functional collectives, native autograd.

A compiler sees through DTensor and through functional collectives: what avoids their cost in eager
mode would only stand in its way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed import _functional_collectives as collectives
from torch.distributed.tensor import DTensor
from torch.nn import functional


def column_linear(
    x: torch.Tensor, weight: Any, bias: Any, group: dist.ProcessGroup
) -> torch.Tensor:
    """Each rank's output features."""
    copied: torch.Tensor = _Copy.apply(x, group)
    return functional.linear(copied, part(weight), None if bias is None else part(bias))


def row_linear(
    x: torch.Tensor, weight: Any, bias: Any, group: dist.ProcessGroup | None
) -> torch.Tensor:
    """The sum of the ranks' products, and the bias."""
    output = functional.linear(x, part(weight))
    if group is not None:
        output = total(output, group)
    return output if bias is None else output + bias.to(output.dtype)


def total(x: torch.Tensor, group: dist.ProcessGroup) -> torch.Tensor:
    """The sum over the ranks; its gradient is every rank's."""
    summed: torch.Tensor = _Sum.apply(x, group)
    return summed


def gather(
    x: torch.Tensor, group: dist.ProcessGroup, sizes: Sequence[int], rank: int
) -> torch.Tensor:
    """The ranks' features joined on every rank; the gradient of each is its part."""
    joined: torch.Tensor = _Gather.apply(x, group, sizes, rank)
    return joined


def take(
    x: torch.Tensor, group: dist.ProcessGroup, sizes: Sequence[int], rank: int
) -> torch.Tensor:
    """This rank's part of features that every rank has; the parts of the gradient are joined."""
    own: torch.Tensor = _Take.apply(x, group, sizes, rank)
    return own


def part(parameter: Any) -> torch.Tensor:
    """This rank's part of a parameter."""
    local: torch.Tensor = parameter.to_local() if isinstance(parameter, DTensor) else parameter
    return local


class _Copy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, group: dist.ProcessGroup) -> torch.Tensor:
        ctx.group = group
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        return collectives.all_reduce(gradient.contiguous(), "sum", ctx.group), None


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, group: dist.ProcessGroup) -> torch.Tensor:
        summed: torch.Tensor = collectives.all_reduce(x.contiguous(), "sum", group)
        return summed

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        return gradient, None


class _Gather(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, group: dist.ProcessGroup, sizes: Sequence[int], rank: int
    ) -> torch.Tensor:
        ctx.sizes, ctx.rank = sizes, rank
        return _joined(x, group, sizes)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None, None, None]:
        return _own(gradient, ctx.sizes, ctx.rank), None, None, None


class _Take(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, group: dist.ProcessGroup, sizes: Sequence[int], rank: int
    ) -> torch.Tensor:
        ctx.group, ctx.sizes = group, sizes
        return _own(x, sizes, rank)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None, None, None]:
        return _joined(gradient, ctx.group, ctx.sizes), None, None, None


def _joined(x: torch.Tensor, group: dist.ProcessGroup, sizes: Sequence[int]) -> torch.Tensor:
    widest = max(sizes)
    padded = functional.pad(x, (0, widest - x.shape[-1])).contiguous()
    stacked = collectives.all_gather_tensor(padded.unsqueeze(0), 0, group)
    return torch.cat([stacked[rank, ..., :size] for rank, size in enumerate(sizes)], dim=-1)


def _own(x: torch.Tensor, sizes: Sequence[int], rank: int) -> torch.Tensor:
    start = sum(sizes[:rank])
    return x[..., start : start + sizes[rank]].contiguous()
