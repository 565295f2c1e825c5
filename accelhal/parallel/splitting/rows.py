"""The rows of nests of tensors: counted, cut, and joined again."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

from accelhal.errors import UsageError


def rows_of(batch: Any) -> tuple[int, bool]:
    """Rows of a batch or a number of them, and whether it is a batch.

    Raises:
        UsageError: it has no rows that can be divided.
    """
    if isinstance(batch, bool) or not isinstance(batch, Integral):
        return row_count(batch), True
    if batch < 0:
        raise UsageError(f"a batch cannot have {batch} rows", operation="split", hint="0 or more")
    return int(batch), False


def row_count(batch: Any) -> int:
    """Rows of a nest: the first dimension of its tensors; those without dimensions have none.

    Raises:
        UsageError: no tensor has rows, they differ, or a tensor is not strided.
    """
    for leaf in tree_leaves(batch):
        if isinstance(leaf, torch.Tensor) and (leaf.layout is not torch.strided or leaf.is_nested):
            kind = "nested" if leaf.is_nested else str(leaf.layout)
            raise UsageError(
                f"a batch with a tensor of layout {kind} cannot be divided by rows",
                operation="split",
                hint="dense tensors: to_dense(), to_padded_tensor(0.0)",
            )
    counts = {
        leaf.shape[0]
        for leaf in tree_leaves(batch)
        if isinstance(leaf, torch.Tensor) and leaf.dim()
    }
    if len(counts) == 1:
        return int(counts.pop())
    shapes = [list(leaf.shape) for leaf in tree_leaves(batch) if isinstance(leaf, torch.Tensor)]
    raise UsageError(
        "a batch without rows cannot be divided: "
        + (
            "it holds no tensor that has any" if not counts else f"its tensors have shapes {shapes}"
        ),
        operation="split",
        hint="the first dimension of every tensor must be the rows; bind what all rows share "
        "to the model",
    )


def cut(batch: Any, start: int, stop: int) -> Any:
    """Rows of a nest, as views; what has no rows stays whole."""
    return tree_map(
        lambda leaf: leaf[start:stop] if isinstance(leaf, torch.Tensor) and leaf.dim() else leaf,
        batch,
    )


def join(outputs: Sequence[Any], rows: Sequence[int]) -> Any:
    """One nest from the outputs for consecutive rows.

    Raises:
        UsageError: an output has another structure, or not a row for each of its input.
    """
    flat = [tree_flatten(output) for output in outputs]
    tree = flat[0][1]
    for (leaves, other), count in zip(flat, rows, strict=True):
        if other != tree:
            raise _unjoinable(f"outputs differ in structure: {tree} and {other}")
        for leaf in leaves:
            if leaf is not None and (not isinstance(leaf, torch.Tensor) or not leaf.dim()):
                raise _unjoinable(f"the output holds {_named(leaf)}, which has no rows")
            if leaf is not None and len(leaf) != count:
                raise _unjoinable(f"{count} rows gave an output of shape {list(leaf.shape)}")
    columns = zip(*(leaves for leaves, _ in flat), strict=True)
    return tree_unflatten([_joined(column) for column in columns], tree)


def _joined(column: Sequence[Any]) -> Any:
    if column[0] is None:
        return None
    return column[0] if len(column) == 1 else torch.cat(list(column))


def _named(leaf: Any) -> str:
    return "a tensor without dimensions" if isinstance(leaf, torch.Tensor) else repr(leaf)


def _unjoinable(message: str) -> UsageError:
    return UsageError(
        message,
        operation="join",
        hint="let the model return a row for each row of its input; compute losses of the "
        "joined output",
    )
