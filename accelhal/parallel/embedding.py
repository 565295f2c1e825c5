"""An embedding whose vocabulary is divided among ranks."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn
from torch.distributed.tensor import DTensor
from torch.nn import functional

from accelhal.distributed.collectives import sum_in_place
from accelhal.distributed.ranks import Ranks
from accelhal.errors import UnsupportedError
from accelhal.parallel import traced
from accelhal.parallel.functions import LocalPart, Sum
from accelhal.parallel.sharded_module import Group, ShardedModule, ranks_of
from accelhal.parallel.shards import ShardedDimension, local_part
from accelhal.parallel.splits import split_sizes


class VocabParallelEmbedding(ShardedModule):
    """`nn.Embedding` of which each rank holds the vectors of some entries.

    Every rank looks up the entries it holds, and the sum over the ranks is whole.

    Attributes:
        num_embeddings: entries of the whole.
        embedding_dim: size of a vector.
        padding_idx: the entry whose vector is not trained, or None.
        split: which entries are whose.
    """

    weight: nn.Parameter

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        split: Sequence[float] | None = None,
        group: Group | None = None,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        """Make the whole as `nn.Embedding` does, and keep this rank's part of rank 0's values.

        Args:
            num_embeddings: entries of the whole.
            embedding_dim: size of a vector.
            padding_idx: the entry whose vector is not trained.
            split: each rank's relative share of the entries.
            group: the ranks that share the layer; the world when None.
            device: where the vectors lie.
            dtype: their type.

        Raises:
            UsageError: there are no ranks yet, or the entries cannot be divided so.
        """
        super().__init__()
        whole = nn.Embedding(num_embeddings, embedding_dim, padding_idx, device=device, dtype=dtype)
        self._become(whole, ranks_of(group), split)

    @classmethod
    def from_embedding(
        cls,
        whole: nn.Embedding,
        group: Group | None = None,
        *,
        split: Sequence[float] | None = None,
        device: torch.device | None = None,
        source: int | None = 0,
    ) -> VocabParallelEmbedding:
        """This rank's part of an embedding.

        Args:
            whole: the layer; it is left as it is.
            group: the ranks that share the layer; the world when None.
            split: each rank's relative share of the entries.
            device: where the part is to lie; where the whole lies when None.
            source: rank of the group whose values all take; None takes each rank's own.

        Raises:
            UnsupportedError: the layer renormalizes vectors, makes sparse gradients, or computes
                something else than `nn.Embedding` does.
        """
        self = cls.__new__(cls)
        nn.Module.__init__(self)
        self._become(whole, ranks_of(group), split, device, source)
        return self

    def _become(
        self,
        whole: nn.Embedding,
        ranks: Ranks,
        split: Sequence[float] | None,
        device: torch.device | None = None,
        source: int | None = 0,
    ) -> None:
        if whole.max_norm is not None or whole.scale_grad_by_freq or whole.sparse:
            raise UnsupportedError(
                "an embedding with max_norm, scale_grad_by_freq or sparse gradients is not divided",
                operation="parallel",
                hint="leave it out of the plan",
            )
        self.num_embeddings, self.embedding_dim = whole.num_embeddings, whole.embedding_dim
        self.padding_idx = whole.padding_idx
        self.split = split_sizes(whole.num_embeddings, ranks.size, split, what="entries")
        rows = ShardedDimension(0, self.split)
        self.take_over(whole, nn.Embedding, ranks, {"weight": rows}, device=device, source=source)
        self._start = self.split.start(ranks.rank)
        self._end = self._start + self.split.sizes[ranks.rank]

    def forward(self, entries: torch.Tensor) -> torch.Tensor:
        """The vectors of the entries.

        An entry outside the whole vocabulary fails as in `nn.Embedding`: on every rank its place
        lies outside the part that is there.

        Raises:
            DistributedError: a rank is gone.
        """
        before = (entries >= 0) & (entries < self._start)
        after = (entries >= self._end) & (entries < self.num_embeddings)
        elsewhere = before | after
        own = (entries - self._start).masked_fill(elsewhere, 0)
        tracing = torch.compiler.is_compiling()
        if tracing:
            weight = traced.part(self.weight)
        elif isinstance(self.weight, DTensor) and torch.is_grad_enabled():
            weight = LocalPart.apply(self.weight)
        else:
            weight = local_part(self.weight)
        vectors = functional.embedding(own, weight, self._own_padding())
        vectors = vectors.masked_fill(elsewhere.unsqueeze(-1), 0)
        if tracing:
            return traced.total(vectors, self.ranks.group)
        if torch.is_grad_enabled():
            summed: torch.Tensor = Sum.apply(vectors, self.ranks)
            return summed
        return sum_in_place(vectors, self.ranks)

    def _own_padding(self) -> int | None:
        padding = self.padding_idx
        if padding is None or not self._start <= padding < self._end:
            return None
        return padding - self._start

    def extra_repr(self) -> str:
        """The whole's size, and this rank's."""
        own = self._end - self._start
        return f"{self.num_embeddings}, {self.embedding_dim}, {own} entries here"
