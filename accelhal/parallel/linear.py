"""Linear layers divided among ranks: by output features, and by input features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from accelhal.distributed.ranks import Ranks
from accelhal.errors import UsageError
from accelhal.parallel import traced
from accelhal.parallel.functions import (
    ColumnLinear,
    Gather,
    RowLinear,
    Take,
    autocast_dtype,
    finish_row,
    linear,
)
from accelhal.parallel.sharded_module import Group, ShardedModule, ranks_of, wrong_width
from accelhal.parallel.shards import ShardedDimension
from accelhal.parallel.splits import split_sizes


class ColumnParallelLinear(ShardedModule):
    """`nn.Linear` of which each rank computes some of the output features.

    The input is whole on every rank, and its gradient is summed over them.

    Attributes:
        in_features: input features.
        out_features: output features of the whole.
        gather_output: whether every rank gets all output features.
        split: which output features are whose.
    """

    weight: nn.Parameter
    bias: nn.Parameter | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        gather_output: bool = False,
        split: Sequence[float] | None = None,
        group: Group | None = None,
        *,
        multiple_of: int = 1,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        """Make the whole as `nn.Linear` does, and keep this rank's part of rank 0's values.

        Args:
            in_features: input features.
            out_features: output features of the whole.
            bias: whether there is one.
            gather_output: give every rank all output features.
            split: each rank's relative share: [2, 1] divides 9 features into 6 and 3.
            group: the ranks that share the layer; the world when None.
            multiple_of: features that must stay together (the head dimension).
            device: where the parameters lie.
            dtype: their type.

        Raises:
            UsageError: there are no ranks yet, or the features cannot be divided so.
        """
        super().__init__()
        whole = nn.Linear(in_features, out_features, bias, device=device, dtype=dtype)
        self._become(whole, ranks_of(group), gather_output, split, multiple_of)

    @classmethod
    def from_linear(
        cls,
        whole: nn.Linear,
        group: Group | None = None,
        *,
        gather_output: bool = False,
        split: Sequence[float] | None = None,
        multiple_of: int = 1,
        device: torch.device | None = None,
        source: int | None = 0,
    ) -> ColumnParallelLinear:
        """This rank's part of a linear layer.

        Args:
            whole: the layer; it is left as it is.
            group: as in the constructor, as are the next three.
            gather_output: give every rank all output features.
            split: each rank's relative share.
            multiple_of: features that must stay together.
            device: where the part is to lie; where the whole lies when None.
            source: rank of the group whose values all take; None takes each rank's own.
        """
        self = cls.__new__(cls)
        nn.Module.__init__(self)
        self._become(whole, ranks_of(group), gather_output, split, multiple_of, device, source)
        return self

    def _become(
        self,
        whole: nn.Linear,
        ranks: Ranks,
        gather_output: bool,
        split: Sequence[float] | None,
        multiple_of: int,
        device: torch.device | None = None,
        source: int | None = 0,
    ) -> None:
        self.in_features, self.out_features = whole.in_features, whole.out_features
        self.gather_output = gather_output
        self.split = split_sizes(
            whole.out_features, ranks.size, split, multiple_of, what="output features"
        )
        rows = ShardedDimension(0, self.split)
        self.take_over(
            whole, nn.Linear, ranks, {"weight": rows, "bias": rows}, device=device, source=source
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """This rank's output features, or all of them with `gather_output`.

        Raises:
            UsageError: the input does not have `in_features`.
            DistributedError: a rank is gone.
        """
        if x.shape[-1] != self.in_features:
            raise wrong_width(self, x, self.in_features, "")
        ranks = self.ranks
        if torch.compiler.is_compiling():
            output = traced.column_linear(x, self.weight, self.bias, ranks.group)
            if self.gather_output:
                output = traced.gather(output, ranks.group, self.split.sizes, ranks.rank)
            return output
        if torch.is_grad_enabled():
            dtype = autocast_dtype(x)
            x = x if dtype is None else x.to(dtype)
            output = ColumnLinear.apply(x, self.weight, self.bias, ranks, dtype)
        else:
            output, _ = linear(x, self.weight, self.bias, None)
        if self.gather_output:
            output = Gather.apply(output, ranks, self.split.sizes)
        return output

    def extra_repr(self) -> str:
        """The whole's features, and this rank's."""
        return _described(self, self.out_features, "output")


class RowParallelLinear(ShardedModule):
    """`nn.Linear` of which each rank multiplies some of the input features.

    The ranks' products are summed, so that the output is whole on every rank; the bias is added to
    the sum, once.

    Attributes:
        in_features: input features of the whole.
        out_features: output features.
        input_is_parallel: whether the input has this rank's features alone.
        reduce_results: whether the products are summed.
        split: which input features are whose.
    """

    weight: nn.Parameter
    bias: nn.Parameter | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        input_is_parallel: bool = True,
        reduce_results: bool = True,
        split: Sequence[float] | None = None,
        group: Group | None = None,
        *,
        multiple_of: int = 1,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        """Make the whole as `nn.Linear` does, and keep this rank's part of rank 0's values.

        Args:
            in_features: input features of the whole.
            out_features: output features.
            bias: whether there is one; every rank keeps it whole.
            input_is_parallel: the input has this rank's features alone, as the output of a
                ColumnParallelLinear with the same split has.
            reduce_results: sum the ranks' products; without it the output is this rank's product,
                for a caller that sums several at once.
            split: each rank's relative share: [2, 1] divides 9 features into 6 and 3.
            group: the ranks that share the layer; the world when None.
            multiple_of: features that must stay together (the head dimension).
            device: where the parameters lie.
            dtype: their type.

        Raises:
            UsageError: there are no ranks yet, the features cannot be divided so, or there is a
                bias that would be added once a rank.
        """
        super().__init__()
        whole = nn.Linear(in_features, out_features, bias, device=device, dtype=dtype)
        self._become(whole, ranks_of(group), input_is_parallel, reduce_results, split, multiple_of)

    @classmethod
    def from_linear(
        cls,
        whole: nn.Linear,
        group: Group | None = None,
        *,
        input_is_parallel: bool = True,
        reduce_results: bool = True,
        split: Sequence[float] | None = None,
        multiple_of: int = 1,
        device: torch.device | None = None,
        source: int | None = 0,
    ) -> RowParallelLinear:
        """This rank's part of a linear layer.

        Args:
            whole: the layer; it is left as it is.
            group: as in the constructor, as are the next four.
            input_is_parallel: the input has this rank's features alone.
            reduce_results: sum the ranks' products.
            split: each rank's relative share.
            multiple_of: features that must stay together.
            device: where the part is to lie; where the whole lies when None.
            source: rank of the group whose values all take; None takes each rank's own.
        """
        self = cls.__new__(cls)
        nn.Module.__init__(self)
        ranks = ranks_of(group)
        self._become(
            whole, ranks, input_is_parallel, reduce_results, split, multiple_of, device, source
        )
        return self

    def _become(
        self,
        whole: nn.Linear,
        ranks: Ranks,
        input_is_parallel: bool,
        reduce_results: bool,
        split: Sequence[float] | None,
        multiple_of: int,
        device: torch.device | None = None,
        source: int | None = 0,
    ) -> None:
        if whole.bias is not None and not reduce_results:
            raise UsageError(
                "a bias needs reduce_results: added to each rank's product, it would be in the sum "
                "once a rank",
                operation="parallel",
                hint="bias=False, and add the bias to the sum",
            )
        self.in_features, self.out_features = whole.in_features, whole.out_features
        self.input_is_parallel, self.reduce_results = input_is_parallel, reduce_results
        self.split = split_sizes(
            whole.in_features, ranks.size, split, multiple_of, what="input features"
        )
        self._width = self.split.sizes[ranks.rank] if input_is_parallel else self.in_features
        columns = ShardedDimension(1, self.split)
        self.take_over(whole, nn.Linear, ranks, {"weight": columns}, device=device, source=source)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The whole output on every rank; this rank's product without `reduce_results`.

        Raises:
            UsageError: the input does not have this rank's features.
            DistributedError: a rank is gone.
        """
        if x.shape[-1] != self._width:
            raise wrong_width(self, x, self._width, " of this rank" * self.input_is_parallel)
        if torch.compiler.is_compiling():
            group = self.ranks.group
            if not self.input_is_parallel:
                x = traced.take(x, group, self.split.sizes, self.ranks.rank)
            return traced.row_linear(
                x, self.weight, self.bias, group if self.reduce_results else None
            )
        if not self.input_is_parallel:
            x = Take.apply(x, self.ranks, self.split.sizes)
        ranks = self.ranks if self.reduce_results else None
        if torch.is_grad_enabled():
            dtype = autocast_dtype(x)
            x = x if dtype is None else x.to(dtype)
            summed: torch.Tensor = RowLinear.apply(x, self.weight, self.bias, ranks, dtype)
            return summed
        output, _ = linear(x, self.weight, None, None)
        return finish_row(output, self.bias, ranks)

    def extra_repr(self) -> str:
        """The whole's features, and this rank's."""
        return _described(self, self.in_features, "input")


def _described(layer: Any, total: int, side: str) -> str:
    own = layer.split.sizes[layer.ranks.rank]
    features = f"in_features={layer.in_features}, out_features={layer.out_features}"
    return f"{features}, bias={layer.bias is not None}, {own} of {total} {side} features here"
