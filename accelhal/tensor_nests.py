"""Nests of tensors, moved whole."""

from __future__ import annotations

import copy
from collections import UserDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def mapped(function: Callable[[Any], Any], nest: Any) -> Any:
    """A nest with `function` of each leaf in its place.

    Nests are what torch takes for such (lists, tuples, dictionaries, registered classes), and
    mappings derived from `dict` or `UserDict`, as tokenizers return. Objects that move themselves
    are leaves.
    """
    from torch.utils._pytree import tree_map

    def visit(leaf: Any) -> Any:
        if not isinstance(leaf, (dict, UserDict)):
            return function(leaf)
        made = copy.copy(leaf)
        for key, value in leaf.items():
            made[key] = mapped(function, value)
        return made

    return tree_map(visit, nest, is_leaf=moves_itself)


def moved(nest: Any, device: torch.device | str, *, non_blocking: bool = False) -> Any:
    """A nest of tensors on a device; leaves that are no tensors and cannot be moved stay."""
    import torch

    def move(leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor):
            return leaf.to(device, non_blocking=non_blocking)
        return leaf.to(device) if moves_itself(leaf) else leaf

    return mapped(move, nest)


def moves_itself(leaf: Any) -> bool:
    """Whether it is a batch of a class of its own: one with `to` and `pin_memory`.

    The second is torch's DataLoader's convention for such classes, and tells them from others
    whose `to` means something else. `torch.nn.utils.rnn.PackedSequence` is one.
    """
    import torch

    return not isinstance(leaf, torch.Tensor) and all(
        callable(getattr(leaf, name, None)) for name in ("to", "pin_memory")
    )
