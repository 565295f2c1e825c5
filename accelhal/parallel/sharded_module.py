"""What layers with split parameters share: taking over a whole layer, and state dictionaries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import DeviceMesh

from accelhal.distributed.ranks import Ranks
from accelhal.errors import UnsupportedError, UsageError
from accelhal.parallel.checkpoint_shard import CheckpointShard
from accelhal.parallel.shards import (
    ShardedDimension,
    in_layout,
    layout_of,
    local_part,
    shard_parameter,
)

_HOOKS = (
    "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs",
    "_forward_hooks",
    "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called",
    "_backward_pre_hooks",
    "_backward_hooks",
)
"""Hooks that see a layer compute; those that see it saved and loaded knew its whole parameters."""

Group = dist.ProcessGroup | DeviceMesh | Ranks


def ranks_of(group: Group | None) -> Ranks:
    """The ranks a caller means: a process group, a one-dimensional mesh, or the world."""
    if isinstance(group, Ranks):
        return group
    if isinstance(group, DeviceMesh):
        return Ranks.of_mesh(group)
    given: object = group
    if isinstance(given, str):
        raise UsageError(
            f"{group!r} is no group of ranks",
            operation="parallel",
            hint="accelhal.distributed.mesh(), one dimension of a mesh, or a process group",
        )
    return Ranks(group)


class ShardedModule(nn.Module):
    """A layer of which each rank holds a part.

    Attributes:
        ranks: the ranks that share it.
        sharded: name of a parameter -> which part this rank holds; whole ones are not in it.
    """

    ranks: Ranks
    sharded: Mapping[str, ShardedDimension]

    def take_over(
        self,
        whole: nn.Module,
        kind: type[nn.Module],
        ranks: Ranks,
        sharded: Mapping[str, ShardedDimension],
        *,
        device: torch.device | None = None,
        source: int | None = 0,
    ) -> None:
        """Become this rank's part of a whole layer.

        Args:
            whole: the layer whose parameters are divided; its hooks are kept.
            kind: torch's layer that this one computes.
            ranks: the ranks.
            sharded: what is split.
            device: where the parts are to lie; where they lie when None.
            source: rank of the group whose values all take; None takes each rank's own.

        Raises:
            UnsupportedError: the layer computes something else than `kind` does.
        """
        _require_plain(whole, kind)
        self.ranks = ranks
        self.sharded = dict(sharded)
        for name, parameter in whole._parameters.items():
            if parameter is None:
                self.register_parameter(name, None)
                continue
            part = shard_parameter(
                parameter,
                sharded.get(name),
                ranks,
                device=parameter.device if device is None else device,
                source=source,
                requires_grad=parameter.requires_grad,
            )
            self.register_parameter(name, part)
        for hooks in _HOOKS:
            getattr(self, hooks).update(getattr(whole, hooks))
        self._is_full_backward_hook = whole._is_full_backward_hook
        self.train(whole.training)

    def uneven(self) -> dict[str, ShardedDimension]:
        """The parameters whose part is a plain tensor."""
        return {name: dim for name, dim in self.sharded.items() if not dim.split.even}

    def _save_to_state_dict(
        self, destination: dict[str, Any], prefix: str, keep_vars: bool
    ) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        if keep_vars:
            return
        for name, dimension in self.uneven().items():
            part = destination.get(prefix + name)
            if part is not None:
                destination[prefix + name] = CheckpointShard.of(part, dimension, self.ranks.rank)

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, *arguments: Any, **keywords: Any
    ) -> None:
        """Load parts; of a whole tensor, this rank's part is taken."""
        changed = {}
        for name, dimension in self.sharded.items():
            value, parameter = state_dict.get(prefix + name), getattr(self, name)
            if value is None or parameter is None:
                continue
            taken = self._own_part(value, parameter, dimension)
            if taken is not value:
                changed[prefix + name] = taken
        super()._load_from_state_dict({**state_dict, **changed}, prefix, *arguments, **keywords)

    def _own_part(self, value: Any, parameter: Any, dimension: ShardedDimension) -> Any:
        """What of a loaded value belongs into the parameter, in the parameter's own form."""
        own = local_part(parameter)
        if isinstance(value, CheckpointShard):
            mine = dimension.offsets(own, self.ranks.rank)
            return value.part if value.offsets == mine else value
        plain = local_part(value) is value
        if not plain or value.shape != dimension.whole_shape(own):
            return value
        part = dimension.part(value, self.ranks.rank)
        # A parameter without memory gets the value itself (assign=True), which has a place.
        part = part.clone() if own.is_meta else part.to(own.device)
        layout = layout_of(parameter)
        return part if layout is None else in_layout(part, layout)


def _require_plain(whole: nn.Module, kind: type[nn.Module]) -> None:
    """Refuse a layer whose forward function or parameters are not those of torch's layer."""
    parameters = {"weight"} if kind is nn.Embedding else {"weight", "bias"}
    if (
        type(whole).forward is not kind.forward
        or "forward" in whole.__dict__
        or whole._parameters.keys() != parameters
    ):
        raise UnsupportedError(
            f"{whole} does not compute what {kind.__name__} does: its forward function or its "
            "parameters are others",
            operation="parallel",
            hint="leave it out of the plan, or remove what changes it (a parametrization, a "
            "wrapper) first",
        )


def wrong_width(layer: nn.Module, x: torch.Tensor, width: int, whose: str) -> UsageError:
    """The error for an input of another width than the layer's."""
    return UsageError(
        f"the input of {layer} has {x.shape[-1]} features, not the {width}{whose}",
        operation="forward",
        hint="input_is_parallel says whether the input of a RowParallelLinear has one rank's "
        "features or all; both layers of a pair need the same split",
    )
