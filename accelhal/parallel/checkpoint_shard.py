"""An uneven part in a state dictionary, which torch.distributed.checkpoint places in the whole.

The checkpoint asks each tensor of a state dictionary for the chunks it holds. This one answers with
its place in the whole, so that other ranks, more or fewer, find theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.distributed.checkpoint.metadata import (
    ChunkStorageMetadata,
    MetadataIndex,
    TensorProperties,
)
from torch.distributed.checkpoint.planner import TensorWriteData, WriteItem, WriteItemType

from accelhal.errors import UsageError
from accelhal.parallel.shards import ShardedDimension

_ATEN = torch.ops.aten

_PART_BY_PART = frozenset(
    {
        _ATEN.detach.default,
        _ATEN.alias.default,
        _ATEN.clone.default,
        _ATEN.copy_.default,
        _ATEN._to_copy.default,
        _ATEN.empty_like.default,
        _ATEN.zeros_like.default,
    }
)
"""What a checkpoint does with the tensors of a state dictionary."""


class CheckpointShard(torch.Tensor):
    """A tensor of the whole's shape, of which this process has a part.

    Attributes:
        part: the part; it shares its memory with the parameter.
        offsets: where the part begins in the whole, by dimension.
    """

    part: torch.Tensor
    offsets: torch.Size

    @staticmethod
    def __new__(
        cls, part: torch.Tensor, whole_shape: torch.Size, offsets: torch.Size
    ) -> CheckpointShard:
        """Place a part in the whole."""
        shard: CheckpointShard = torch.Tensor._make_wrapper_subclass(
            cls, whole_shape, dtype=part.dtype, device=part.device, requires_grad=False
        )
        shard.part = part
        shard.offsets = offsets
        return shard

    @classmethod
    def of(cls, part: torch.Tensor, dimension: ShardedDimension, rank: int) -> CheckpointShard:
        """The part that a rank holds of a split parameter."""
        return cls(part, dimension.whole_shape(part), dimension.offsets(part, rank))

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls,
        operator: Any,
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[Any, Any] | None = None,
    ) -> Any:
        """Do to the part what leaves its shape alone; refuse the rest."""
        first = args[0]
        if operator not in _PART_BY_PART or not isinstance(first, CheckpointShard):
            raise UsageError(
                f"{operator} cannot be computed of a part in a state dictionary",
                operation="state_dict",
                hint="take its `.part`, this rank's own tensor",
            )
        parts = [arg.part if isinstance(arg, CheckpointShard) else arg for arg in args]
        changed = operator(*parts, **(kwargs or {}))
        if changed is first.part:
            return first
        return cls(changed, first.shape, first.offsets)

    def __repr__(self, *, tensor_contents: object = None) -> str:  # type: ignore[override]
        return f"<part {list(self.part.shape)} at {list(self.offsets)} of {list(self.shape)}>"

    def __reduce_ex__(self, protocol: object) -> tuple[Callable[..., CheckpointShard], Any]:
        return CheckpointShard, (self.part, self.shape, self.offsets)

    def __deepcopy__(self, memo: object) -> CheckpointShard:
        return CheckpointShard(self.part.clone(), self.shape, self.offsets)

    # The protocol of torch.distributed._checkpointable.

    def __create_chunk_list__(self) -> list[ChunkStorageMetadata]:
        """The chunk of the whole that is here."""
        return [ChunkStorageMetadata(offsets=self.offsets, sizes=self.part.shape)]

    def __create_write_items__(self, name: str, _: object) -> list[WriteItem]:
        """What a checkpoint writes of it."""
        return [
            WriteItem(
                index=MetadataIndex(name, self.offsets),
                type=WriteItemType.SHARD,
                tensor_data=TensorWriteData(
                    chunk=self.__create_chunk_list__()[0],
                    properties=TensorProperties.create_from_tensor(self.part),
                    size=self.shape,
                ),
            )
        ]

    def __get_tensor_shard__(self, index: MetadataIndex) -> torch.Tensor:
        """The tensor of a chunk, to read from or to fill."""
        if index.offset is not None and index.offset != self.offsets:
            raise UsageError(
                f"the chunk at {list(index.offset)} is not here, but that at {list(self.offsets)}",
                operation="checkpoint",
            )
        return self.part
