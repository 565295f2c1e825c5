"""Where tensors lie: the device that a call means without naming it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from accelhal.errors import UsageError

if TYPE_CHECKING:
    import torch


def device_of(tensors: Any, name: str) -> torch.device:
    """The torch.device of the first tensor in a nest of tensors.

    Args:
        tensors: tensors in lists, tuples, mappings and the like.
        name: what they are, for the message.

    Raises:
        UsageError: there is no tensor.
    """
    import torch
    from torch.utils._pytree import tree_leaves

    for leaf in tree_leaves(tensors):
        if isinstance(leaf, torch.Tensor):
            return leaf.device
    raise UsageError(
        f"{name} has no tensor that says which device is meant",
        operation="graphs",
        hint="say it: device=accelhal.device()",
    )
