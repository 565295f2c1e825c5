"""Nests of tensors, moved whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def moved(nest: Any, device: torch.device | str, *, non_blocking: bool = False) -> Any:
    """A nest of tensors (lists, tuples, mappings and the like) on a device; other leaves stay."""
    import torch
    from torch.utils._pytree import tree_map

    return tree_map(
        lambda leaf: (
            leaf.to(device, non_blocking=non_blocking) if isinstance(leaf, torch.Tensor) else leaf
        ),
        nest,
    )
