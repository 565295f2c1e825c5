"""What split layers are compared with: the same layers on one device, and the parts of theirs."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from accelhal.distributed import Ranks
from accelhal.parallel.sharded_module import ShardedModule
from accelhal.parallel.shards import local_part

TOLERANCE = {torch.float32: {}, torch.bfloat16: {"rtol": 3e-2, "atol": 3e-2}}
"""torch's own for float32; a sum of parts rounds once a part in bfloat16."""

LAYOUTS = {"even": (8, 12, None), "chunked": (7, 9, None), "uneven": (7, 9, (2, 1, 3, 1))}
"""(outer features, inner features, shares) of a pair of layers."""


def shares(layout: str, size: int) -> tuple[float, ...] | None:
    given = LAYOUTS[layout][2]
    return given and given[:size]


def whole_pair(layout: str, *, bias: bool = True, dtype: torch.dtype = torch.float32) -> Any:
    """Two layers with an activation between, the same in every process."""
    outer, inner, _ = LAYOUTS[layout]
    torch.manual_seed(0)
    pair = nn.Sequential(nn.Linear(outer, inner, bias), nn.GELU(), nn.Linear(inner, outer, bias))
    return pair.to(dtype)


def batch(layout: str, rows: tuple[int, ...], dtype: torch.dtype = torch.float32) -> torch.Tensor:
    torch.manual_seed(1)
    return torch.randn(*rows, LAYOUTS[layout][0], dtype=dtype)


def run(model: nn.Module, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Output and the gradient of the input, for a gradient of the output that is all different."""
    x = x.clone().requires_grad_()
    output = model(x)
    weights = torch.linspace(-1, 1, output.numel()).to(output).view_as(output)
    (output * weights).sum().backward()
    return output.detach(), x.grad


def part_of(layer: ShardedModule, name: str, whole: torch.Tensor) -> torch.Tensor:
    """This rank's part of a tensor like the layer's parameter."""
    dimension = layer.sharded.get(name)
    return whole if dimension is None else dimension.part(whole, layer.ranks.rank)


def assert_gradients_are_parts(layer: ShardedModule, whole: nn.Module, **tolerance: Any) -> None:
    for name, parameter in whole.named_parameters():
        mine = local_part(getattr(layer, name).grad)
        torch.testing.assert_close(
            mine.cpu(),
            part_of(layer, name, parameter.grad),
            msg=lambda m, n=name: f"{n}: {m}",
            **tolerance,
        )


def device_of(ranks: Ranks) -> torch.device:
    return torch.empty(0, device=ranks.device_type).device
