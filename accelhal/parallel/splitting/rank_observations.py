"""What each rank observed, told to all: they must divide the next batch alike."""

from __future__ import annotations

import torch

from accelhal.distributed.collectives import gather_last
from accelhal.distributed.ranks import Ranks
from accelhal.errors import UsageError
from accelhal.parallel.splitting.splitter import BatchSplitter


def observe_ranks(
    splitter: BatchSplitter, rows: int, seconds: float, ranks: Ranks | None = None
) -> None:
    """Let every rank's splitter observe what all ranks did; a collective call of all ranks.

    The splitter's devices are the ranks' numbers in the group: `BatchSplitter(range(world))`.

    Args:
        splitter: this rank's; all ranks' were made alike and given the same batches.
        rows: that this rank worked on.
        seconds: that it took, without the wait for the other ranks' gradients.
        ranks: the group; the world when None.

    Raises:
        UsageError: the splitter's devices are not the ranks of the group.
        DistributedError: a rank is gone, or does not come within the group's limit.
    """
    ranks = ranks or Ranks()
    if splitter.devices != tuple(range(ranks.size)):
        raise UsageError(
            f"the splitter divides among {', '.join(map(str, splitter.devices))}, and the group "
            f"has the ranks 0 to {ranks.size - 1}",
            operation="observe_ranks",
            hint="BatchSplitter(range(world_size))",
        )
    # float32 crosses every collective library; each rank takes the rounded figures, its own too.
    mine = torch.tensor([[rows], [seconds]], dtype=torch.float32, device=ranks.device_type)
    gathered = gather_last(mine, ranks, [1] * ranks.size).tolist()
    for rank, (count, took) in enumerate(zip(*gathered, strict=True)):
        splitter.observe(rank, round(count), took)
