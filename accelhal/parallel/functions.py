"""The arithmetic of split layers, forward and backward, with one raw collective each.

A layer's linear map and its collective are one autograd function: the gradient of the input is
summed over the ranks while that of the weight is computed, and parameters that are DTensors get
their gradients without DTensor's dispatch. Every function but `Gather` and `Take` refuses a second
derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.autograd.function import once_differentiable
from torch.nn import functional

from accelhal.distributed.collectives import begin_sum_in_place, gather_last, sum_in_place
from accelhal.distributed.ranks import Ranks
from accelhal.parallel.accumulation import accumulated
from accelhal.parallel.shards import in_layout, layout_of, local_part

Gradients = tuple[torch.Tensor | None, ...]


def autocast_dtype(x: torch.Tensor) -> torch.dtype | None:
    """The type that autocast computes a linear layer of this input in; None where it does not."""
    kind = x.device.type
    if not torch.is_autocast_enabled(kind) or x.dtype is torch.float64:
        return None
    return torch.get_autocast_dtype(kind)


def linear(
    x: torch.Tensor, weight: Any, bias: Any, dtype: torch.dtype | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """The local linear map and the weight it used, in autocast's type where there is one."""
    part = local_part(weight)
    offset = None if bias is None else local_part(bias)
    if dtype is not None:
        part = part.to(dtype)
        offset = None if offset is None else offset.to(dtype)
    return functional.linear(x, part, offset), part


class ColumnLinear(torch.autograd.Function):
    """Each rank computes its output features; the input's gradient is summed over the ranks."""

    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, weight: Any, bias: Any, ranks: Ranks, dtype: torch.dtype | None
    ) -> torch.Tensor:
        """Map the input; x is of the type of autocast already."""
        output, part = linear(x, weight, bias, dtype)
        _remember(ctx, x, part, weight, bias)
        ctx.ranks = ranks
        return output

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Gradients:
        """Sum the input's gradient over the ranks while the weight's is computed."""
        return _once(_column_backward, ctx, gradient)


def _column_backward(ctx: Any, gradient: torch.Tensor) -> Gradients:
    x, part = ctx.saved_tensors
    of_input = pending = None
    if ctx.needs_input_grad[0]:
        of_input = gradient.matmul(part).contiguous()
        pending = begin_sum_in_place(of_input, ctx.ranks)
    of_weight, of_bias = _of_parameters(ctx, x, gradient)
    if pending is not None:
        pending.wait()
    return of_input, of_weight, of_bias, None, None


class RowLinear(torch.autograd.Function):
    """Each rank multiplies its input features; the products are summed, then the bias is added."""

    @staticmethod
    def forward(
        ctx: Any,
        x: torch.Tensor,
        weight: Any,
        bias: torch.Tensor | None,
        ranks: Ranks | None,
        dtype: torch.dtype | None,
    ) -> torch.Tensor:
        """Map the input; without ranks the products are not summed."""
        output, part = linear(x, weight, None, dtype)
        _remember(ctx, x, part, weight, bias)
        return finish_row(output, bias, ranks)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Gradients:
        """Every rank has the whole gradient of the sum, and of the bias: nothing is exchanged."""
        return _once(_row_backward, ctx, gradient)


def _row_backward(ctx: Any, gradient: torch.Tensor) -> Gradients:
    x, part = ctx.saved_tensors
    of_input = gradient.matmul(part) if ctx.needs_input_grad[0] else None
    return of_input, *_of_parameters(ctx, x, gradient), None, None


def finish_row(
    output: torch.Tensor, bias: torch.Tensor | None, ranks: Ranks | None
) -> torch.Tensor:
    """Sum the ranks' products in place, and add the bias once."""
    if ranks is not None:
        sum_in_place(output, ranks)
    if bias is not None:
        output.add_(bias)
    return output


class Sum(torch.autograd.Function):
    """The sum over the ranks of what only this call still holds; its gradient is every rank's."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, ranks: Ranks) -> torch.Tensor:
        """Sum in place."""
        ctx.mark_dirty(x)
        return sum_in_place(x, ranks)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: torch.Tensor) -> Gradients:
        """Every rank's summand has the gradient of the sum."""
        return gradient, None


class LocalPart(torch.autograd.Function):
    """This rank's part of a parameter that is a DTensor."""

    @staticmethod
    def forward(ctx: Any, parameter: Any) -> torch.Tensor:
        """The part: a view, so that the parameter's own tensor takes no part in autograd."""
        ctx.layout = layout_of(parameter)
        part = local_part(parameter)
        return part.view_as(part)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        """The gradient in the parameter's layout."""
        return in_layout(gradient, ctx.layout)


class Gather(torch.autograd.Function):
    """The ranks' features joined on every rank; each takes its part of the gradient back.

    What follows is computed alike on every rank, so that the gradients are alike too.
    """

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, ranks: Ranks, sizes: Sequence[int]) -> torch.Tensor:
        """Join the last dimension."""
        ctx.ranks, ctx.sizes = ranks, sizes
        return gather_last(x, ranks, sizes)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Gradients:
        """The own part."""
        return Take.apply(gradient, ctx.ranks, ctx.sizes), None, None


class Take(torch.autograd.Function):
    """This rank's part of features that every rank has; the parts of the gradient are joined."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, ranks: Ranks, sizes: Sequence[int]) -> torch.Tensor:
        """The own part, contiguous."""
        ctx.ranks, ctx.sizes = ranks, sizes
        start = sum(sizes[: ranks.rank])
        return x[..., start : start + sizes[ranks.rank]].contiguous()

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Gradients:
        """All parts."""
        return Gather.apply(gradient, ctx.ranks, ctx.sizes), None, None


def _once(backward: Callable[..., Gradients], ctx: Any, gradient: torch.Tensor) -> Gradients:
    """Run a backward function; only where a graph of it is made, let a second derivative fail."""
    if torch.is_grad_enabled():
        backward = once_differentiable(backward)
    return backward(ctx, gradient)


def _remember(ctx: Any, x: torch.Tensor, part: torch.Tensor, weight: Any, bias: Any) -> None:
    ctx.save_for_backward(x, part)
    ctx.weight, ctx.bias = weight, bias


def _of_parameters(ctx: Any, x: torch.Tensor, gradient: torch.Tensor) -> tuple[Any, Any]:
    """Gradients of weight and bias, in the types of the parameters."""
    _, needs_weight, needs_bias, *_ = ctx.needs_input_grad
    rows = gradient if gradient.dim() == 2 else gradient.reshape(-1, gradient.shape[-1])
    of_weight = of_bias = None
    if needs_weight:
        x = x if x.dim() == 2 else x.reshape(-1, x.shape[-1])
        product = rows.t().mm(x)
        if product.dtype is not ctx.weight.dtype:
            product = product.to(ctx.weight.dtype)
        of_weight = accumulated(ctx.weight, ctx.next_functions[1][0], product)
    if needs_bias:
        total = rows.sum(0, dtype=ctx.bias.dtype)
        of_bias = accumulated(ctx.bias, ctx.next_functions[2][0], total)
    return of_weight, of_bias
