"""An optimizer's state for checkpoints: the state of an uneven part is placed in the whole too."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.distributed.checkpoint.state_dict import (
    get_optimizer_state_dict,
    set_optimizer_state_dict,
)

from accelhal.parallel.checkpoint_shard import CheckpointShard
from accelhal.parallel.sharded_module import ShardedModule
from accelhal.parallel.shards import ShardedDimension

_STATE = "state"


def optimizer_state(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """The optimizer's state, to save with or to be filled by torch.distributed.checkpoint.

    torch's own function takes the state of an uneven part for a tensor that every rank has, and
    saves one rank's.

    Args:
        model: the model.
        optimizer: its optimizer.
    """
    found: dict[str, Any] = get_optimizer_state_dict(model, optimizer)
    for name, (dimension, rank, shape) in _uneven(model).items():
        of_parameter = found[_STATE].get(name, {})
        for key, value in of_parameter.items():
            if isinstance(value, torch.Tensor) and value.shape == shape:
                of_parameter[key] = CheckpointShard.of(value, dimension, rank)
    return found


def load_optimizer_state(
    model: nn.Module, optimizer: torch.optim.Optimizer, state: dict[str, Any]
) -> None:
    """Give the optimizer a state that `optimizer_state` made and a checkpoint has filled.

    Args:
        model: the model.
        optimizer: its optimizer.
        state: the state.
    """
    parts: dict[str, Any] = {
        name: {
            key: value.part if isinstance(value, CheckpointShard) else value
            for key, value in of_parameter.items()
        }
        for name, of_parameter in state[_STATE].items()
    }
    set_optimizer_state_dict(model, optimizer, {**state, _STATE: parts})


def _uneven(model: nn.Module) -> dict[str, tuple[ShardedDimension, int, torch.Size]]:
    """Full name of a parameter with an uneven part -> what is split, the rank, the part's shape."""
    found = {}
    for module_name, module in model.named_modules():
        if isinstance(module, ShardedModule):
            for name, dimension in module.uneven().items():
                parameter = getattr(module, name)
                if parameter is not None:
                    full = f"{module_name}.{name}" if module_name else name
                    found[full] = (dimension, module.ranks.rank, parameter.shape)
    return found
