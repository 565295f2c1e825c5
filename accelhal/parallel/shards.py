"""A parameter of which each rank holds a part: made, looked at, and given its gradient.

An even part is kept in a DTensor, so that torch's checkpoints and optimizers know the whole. A
DTensor of uneven parts is silently wrong (it supposes the sizes of `torch.chunk`), so an uneven
part is a plain parameter, and its layer keeps the split.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.distributed.tensor import DTensor, Shard

from accelhal.distributed.collectives import broadcast_in_place
from accelhal.distributed.ranks import Ranks
from accelhal.errors import UsageError
from accelhal.parallel.splits import Split


@dataclass(frozen=True)
class ShardedDimension:
    """Which part of a parameter a rank holds.

    Attributes:
        dim: the dimension that is split.
        split: its division.
    """

    dim: int
    split: Split

    def part(self, whole: torch.Tensor, rank: int) -> torch.Tensor:
        """A rank's part of the whole tensor: a view."""
        return whole.narrow(self.dim, self.split.start(rank), self.split.sizes[rank])

    def whole_shape(self, part: torch.Tensor) -> torch.Size:
        """Shape of the whole, from that of any part."""
        return torch.Size(
            self.split.total if dim == self.dim else size for dim, size in enumerate(part.shape)
        )

    def offsets(self, part: torch.Tensor, rank: int) -> torch.Size:
        """Where a rank's part begins in the whole, by dimension."""
        start = self.split.start(rank)
        return torch.Size(start if dim == self.dim else 0 for dim in range(part.ndim))


def shard_parameter(
    whole: torch.Tensor,
    sharded: ShardedDimension | None,
    ranks: Ranks,
    *,
    device: torch.device,
    source: int | None,
    requires_grad: bool,
) -> nn.Parameter:
    """This rank's parameter, of the whole that every rank (or the source) has.

    Args:
        whole: the whole tensor.
        sharded: what is split; None keeps the whole on every rank.
        ranks: the ranks.
        device: where the part is to lie.
        source: rank of the group whose values all take; None takes each rank's own.
        requires_grad: whether the parameter is trained.

    Raises:
        DistributedError: the source's values do not come.
    """
    values = from_source(whole.detach(), ranks, device, source)
    if sharded is None:
        return nn.Parameter(values.to(device, copy=True), requires_grad)
    # Contiguous, and memory of its own: the whole must be freed, and gradients laid out alike.
    part = sharded.part(values, ranks.rank).to(device, copy=True).contiguous()
    if not sharded.split.even:
        return nn.Parameter(part, requires_grad)
    distributed = DTensor.from_local(
        part,
        ranks.mesh(device.type),
        (Shard(sharded.dim),),
        run_check=False,
        shape=whole.shape,
        stride=torch.empty(whole.shape, device="meta").stride(),
    )
    return nn.Parameter(distributed, requires_grad)


def from_source(
    values: torch.Tensor, ranks: Ranks, device: torch.device, source: int | None
) -> torch.Tensor:
    """The source's values, on `device`; without a source, or with nothing to send, the own."""
    if source is None or ranks.size == 1 or values.device.type == "meta":
        return values
    if source not in range(ranks.size):
        raise UsageError(
            f"source={source!r} is none of the {ranks.size} ranks of the group",
            operation="parallel",
            hint="0, or None for each rank's own values",
        )
    return broadcast_in_place(values.to(device, copy=True).contiguous(), ranks, source)


def local_part(parameter: Any) -> torch.Tensor:
    """This rank's part of a parameter, seen past DTensor and its dispatch."""
    if isinstance(parameter, DTensor):
        part: torch.Tensor = parameter._local_tensor
        return part
    plain: torch.Tensor = parameter
    return plain


def layout_of(parameter: Any) -> Any:
    """The layout of a parameter that is a DTensor, else None."""
    return parameter._spec if isinstance(parameter, DTensor) else None


def in_layout(part: torch.Tensor, layout: Any) -> torch.Tensor:
    """A tensor like a parameter, of this rank's part: its gradient, or its new values."""
    if layout is None:
        return part
    # Not by calling the class: its empty __init__ takes as long as all the rest.
    made: torch.Tensor = DTensor.__new__(DTensor, part, layout, requires_grad=False)
    return made
