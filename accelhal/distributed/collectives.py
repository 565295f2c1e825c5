"""Collectives over the ranks of a layer: one call each, and an error that says who failed where.

They call the process group itself: torch.distributed's functions check and log first, which takes
longer than queueing the collective.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import torch
import torch.distributed as dist

from accelhal.distributed.introductions import rank_list
from accelhal.distributed.ranks import Ranks
from accelhal.errors import DistributedError, message_of


def _options(kind: Any, wait: bool) -> Any:
    options = kind()
    if hasattr(options, "asyncOp"):  # torch 2.8 on: waited for at once, it needs no other stream
        options.asyncOp = not wait
    return options


_SUM = _options(dist.AllreduceOptions, wait=True)
_SUM_LATER = _options(dist.AllreduceOptions, wait=False)

_all_gather = getattr(dist, "all_gather_single", dist.all_gather_into_tensor)
"""torch 2.13 gave it another name, and warns of the one before."""


class Pending:
    """A collective under way."""

    __slots__ = ("_operation", "_ranks", "_work")

    def __init__(self, work: Any, operation: str, ranks: Ranks) -> None:
        self._work = work
        self._operation = operation
        self._ranks = ranks

    def wait(self) -> None:
        """Let later work of this rank come after it."""
        try:
            self._work.wait()
        except RuntimeError as error:
            _failed(self._operation, self._ranks, error)


def sum_in_place(tensor: torch.Tensor, ranks: Ranks) -> torch.Tensor:
    """Replace a contiguous tensor by its sum over the ranks.

    Raises:
        DistributedError: a rank is gone, or does not come within the group's limit.
    """
    try:
        ranks.group.allreduce([tensor], _SUM).wait()
    except RuntimeError as error:
        _failed("all_reduce", ranks, error)
    return tensor


def begin_sum_in_place(tensor: torch.Tensor, ranks: Ranks) -> Pending:
    """Begin the same; the tensor is the sum after `wait()`."""
    try:
        work = ranks.group.allreduce([tensor], _SUM_LATER)
    except RuntimeError as error:
        _failed("all_reduce", ranks, error)
    return Pending(work, "all_reduce", ranks)


def gather_last(tensor: torch.Tensor, ranks: Ranks, sizes: Sequence[int]) -> torch.Tensor:
    """Join the ranks' tensors along their last dimension, on every rank.

    Args:
        tensor: this rank's part.
        ranks: the ranks.
        sizes: size of each rank's last dimension. Unequal ones travel padded: libraries differ in
            what they make of unequal parts.

    Raises:
        DistributedError: a rank is gone, or does not come within the group's limit.
    """
    widest = max(sizes)
    padding = widest - tensor.shape[-1]
    part = torch.nn.functional.pad(tensor, (0, padding)) if padding else tensor
    part = part.unsqueeze(0).contiguous()
    parts = part.new_empty((ranks.size, *part.shape[1:]))
    try:
        _all_gather(parts, part, group=ranks.group)
    except RuntimeError as error:
        _failed("all_gather", ranks, error)
    return torch.cat([one[..., :size] for one, size in zip(parts, sizes, strict=True)], dim=-1)


def broadcast_in_place(tensor: torch.Tensor, ranks: Ranks, source: int) -> torch.Tensor:
    """Replace a tensor by that of the group's rank `source`.

    Raises:
        DistributedError: a rank is gone, or does not come within the group's limit.
    """
    try:
        dist.broadcast(tensor, ranks.names[source], group=ranks.group)
    except RuntimeError as error:
        _failed("broadcast", ranks, error)
    return tensor


def _failed(operation: str, ranks: Ranks, error: RuntimeError) -> NoReturn:
    raise DistributedError(
        f"{operation} over {rank_list(ranks.names)} failed on rank {ranks.names[ranks.rank]}: "
        f"{message_of(error)}",
        operation=operation,
        hint="a rank died, hangs, or makes another sequence of collectives: the first rank that "
        "failed names the cause. Start all ranks anew",
    ) from error
