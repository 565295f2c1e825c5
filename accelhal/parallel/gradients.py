"""The norm of a split model's gradients: every part counts, and what all ranks have counts once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.tensor import DTensor

from accelhal.errors import UnsupportedError, UsageError
from accelhal.parallel.sharded_module import ShardedModule
from accelhal.parallel.shards import local_part

_SMALL = 1e-6
"""Added to the norm before dividing by it, as torch.nn.utils.clip_grad_norm_ does."""


@dataclass
class _Alike:
    """Gradients whose parts lie on the same groups of ranks."""

    groups: tuple[dist.ProcessGroup, ...]
    parts: list[torch.Tensor] = field(default_factory=list)


def gradient_norm(model: nn.Module, norm_type: float = 2.0) -> torch.Tensor:
    """The norm of all gradients of the whole model, the same on every rank.

    Every rank of the model's groups must call it.

    Args:
        model: the model; plain, split by these layers, or sharded as DTensors.
        norm_type: order of the norm, `inf` for the largest magnitude.

    Raises:
        UnsupportedError: a gradient is a DTensor of partial sums.
    """
    return _norm(_collected(model), norm_type, _zero_of(model))


def clip_grad_norm_(model: nn.Module, max_norm: float, norm_type: float = 2.0) -> torch.Tensor:
    """Scale the gradients of the whole model down to a norm of at most `max_norm`.

    torch's function of that name takes parameters alone, and cannot tell an uneven part from a
    whole parameter: each rank would scale by another norm.

    Args:
        model: the model; plain, split by these layers, or sharded as DTensors.
        max_norm: the largest norm.
        norm_type: order of the norm, `inf` for the largest magnitude.

    Returns:
        The norm before.

    Raises:
        UnsupportedError: a gradient is a DTensor of partial sums.
    """
    alike = _collected(model)
    norm = _norm(alike, norm_type, _zero_of(model))
    scale = torch.clamp(max_norm / (norm + _SMALL), max=1.0)
    for one in alike:
        for part in one.parts:
            part.mul_(scale.to(part.device))
    return norm


def _norm(alike: list[_Alike], norm_type: float, zero: torch.Tensor) -> torch.Tensor:
    if not norm_type > 0:
        raise UsageError(
            f"there is no norm of order {norm_type!r}",
            operation="gradient_norm",
            hint="2.0, or inf for the largest magnitude",
        )
    largest = norm_type == float("inf")
    total = zero
    for one in alike:
        norms = [
            torch.linalg.vector_norm(part, norm_type, dtype=zero.dtype).to(zero.device)
            for part in one.parts
            if part.numel()
        ]
        stacked = torch.stack(norms) if norms else zero.unsqueeze(0)
        own = stacked.max() if largest else stacked.pow(norm_type).sum()
        for group in one.groups:
            dist.all_reduce(own, dist.ReduceOp.MAX if largest else dist.ReduceOp.SUM, group=group)
        total = torch.maximum(total, own) if largest else total + own
    return total if largest else total.pow(1.0 / norm_type)


def _collected(model: nn.Module) -> list[_Alike]:
    """The parts of all gradients, by the groups they are spread over; the same list everywhere."""
    found: dict[tuple[str, ...], _Alike] = {}
    for parameter, groups in _parameters(model):
        names = tuple(group.group_name for group in groups)
        alike = found.setdefault(names, _Alike(groups))
        if parameter.grad is not None:
            alike.parts.append(local_part(parameter.grad))
    return [found[names] for names in sorted(found)]


def _parameters(model: nn.Module) -> Iterator[tuple[nn.Parameter, tuple[dist.ProcessGroup, ...]]]:
    seen: set[int] = set()
    for module in model.modules():
        uneven = module.uneven() if isinstance(module, ShardedModule) else {}
        for name, parameter in module._parameters.items():
            if parameter is None or id(parameter) in seen:
                continue
            seen.add(id(parameter))
            groups = _groups(parameter)
            if name in uneven and isinstance(module, ShardedModule):
                groups = (*groups, module.ranks.group)
            yield parameter, groups


def _groups(parameter: Any) -> tuple[dist.ProcessGroup, ...]:
    if not isinstance(parameter, DTensor):
        return ()
    gradient = parameter.grad
    placements = gradient.placements if isinstance(gradient, DTensor) else parameter.placements
    if any(placement.is_partial() for placement in placements):
        raise UnsupportedError(
            "a gradient is a DTensor of partial sums, whose norm no rank can tell",
            operation="gradient_norm",
            hint="redistribute it first",
        )
    mesh = parameter.device_mesh
    # fully_shard's own kind of shard does not call itself one.
    return tuple(
        mesh.get_group(dim)
        for dim, placement in enumerate(placements)
        if not placement.is_replicate()
    )


def _zero_of(model: nn.Module) -> torch.Tensor:
    """Zero where the norm is computed and in its type: the same on ranks without gradients."""
    dtype, device = torch.float32, None
    for parameter in model.parameters():
        dtype = torch.promote_types(dtype, parameter.dtype)
        device = device or parameter.device
    return torch.zeros((), dtype=dtype, device=device)
