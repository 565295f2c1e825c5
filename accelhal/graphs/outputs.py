"""What a captured model returned: which dimension of each tensor is the batch, and cutting it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import torch
from torch.utils._pytree import TreeSpec, tree_flatten, tree_unflatten

from accelhal.errors import UnsupportedError

PLAIN_VALUES = (
    *(type(None), int, float, complex, str, bytes, Enum),
    *(torch.dtype, torch.device, torch.layout, torch.memory_format, torch.Size),
)
"""What a model may return beside tensors: values that hold none."""


@dataclass(frozen=True)
class OutputShape:
    """How a model's output depends on the batch.

    Attributes:
        tree: how the leaves are put together.
        rows_at: for each leaf the dimension whose length is the batch; None for tensors without
            one, and for values that are no tensors.
        whole: positions of the tensors without one, and of values that depend on the batch.
            Padding may have gone into them, so they are handed out for exact batches alone.
    """

    tree: TreeSpec
    rows_at: tuple[int | None, ...]
    whole: tuple[int, ...]

    def check_rows(self, why: str) -> None:
        """Refuse outputs that cannot be cut to the rows of a batch.

        Raises:
            UnsupportedError: an output depends on the batch, and no dimension of it is the batch.
        """
        if self.whole:
            raise UnsupportedError(
                f"output {self.whole[0]} of the model has no row a sample, so {why} may change it",
                operation="graph",
                capability="graphs",
                hint="call it with a batch of one of the captured sizes",
            )

    def cut(self, leaves: Sequence[Any], rows: int, size: int) -> list[Any]:
        """The leaves of the first `rows` of `size` rows: views."""
        if rows == size:
            return list(leaves)
        return [
            leaf if at is None else leaf.narrow(at, 0, rows)
            for leaf, at in zip(leaves, self.rows_at, strict=True)
        ]

    def joined(self, parts: Sequence[Sequence[Any]]) -> list[Any]:
        """The leaves of consecutive batches as those of one."""
        return [
            leaves[0] if at is None else torch.cat(leaves, at)
            for at, *leaves in zip(self.rows_at, *parts, strict=True)
        ]

    def rebuilt(self, leaves: Sequence[Any]) -> Any:
        """The output with these leaves."""
        return tree_unflatten(list(leaves), self.tree)


def compare_outputs(full: Any, size: int, other: Any, rows: int) -> OutputShape:
    """Find the batch in a model's output, from its outputs for two batches.

    Looking for a dimension as long as the batch is not enough: a hidden size may equal it.

    Args:
        full: the output for `size` rows.
        size: rows of the one batch.
        other: the output for `rows` rows.
        rows: rows of the other batch; not `size`.

    Raises:
        UnsupportedError: the output's structure or shapes change with the batch in another way, or
            something in it is neither a tensor nor a plain value.
    """
    leaves, tree = tree_flatten(full)
    others, other_tree = tree_flatten(other)
    if tree != other_tree:
        raise _unclear(f"the structure of the model's output differs for {size} and {rows} rows")
    rows_at: list[int | None] = []
    whole: list[int] = []
    for position, (one, two) in enumerate(zip(leaves, others, strict=True)):
        if not isinstance(one, torch.Tensor) or not isinstance(two, torch.Tensor):
            for value in (one, two):
                if not isinstance(value, (torch.Tensor, *PLAIN_VALUES)):
                    raise _unclear(
                        f"output {position} of the model is a {type(value).__name__}: tensors in "
                        "it could neither be cut to the batch nor copied"
                    )
            rows_at.append(None)
            if type(one) is not type(two) or one != two:
                whole.append(position)
            continue
        shapes = (tuple(one.shape), tuple(two.shape))
        if shapes[0] == shapes[1]:
            rows_at.append(None)
            whole.append(position)
            continue
        changed = [at for at, lengths in enumerate(zip(*shapes)) if lengths[0] != lengths[1]]  # noqa: B905
        lengths = [(one.shape[at], two.shape[at]) for at in changed]
        if one.dim() != two.dim() or lengths != [(size, rows)]:
            raise _unclear(
                f"output {position} of the model has shape {list(shapes[0])} for {size} rows and "
                f"{list(shapes[1])} for {rows}: no dimension is the batch"
            )
        rows_at.append(changed[0])
    return OutputShape(tree, tuple(rows_at), tuple(whole))


def _unclear(what: str) -> UnsupportedError:
    return UnsupportedError(
        what,
        operation="graph",
        capability="graphs",
        hint="let the model return tensors with one dimension of one row a sample, "
        "in tuples, lists and dicts",
    )
