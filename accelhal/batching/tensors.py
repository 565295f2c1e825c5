"""Collating tensors and nests of them: samples stacked, rows concatenated, outputs taken apart."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import torch
from torch.utils._pytree import TreeSpec, tree_flatten, tree_unflatten

from accelhal.batching.collation import Arguments, Placed, mismatch, refused
from accelhal.batching.request import PLAIN, Batch, Terms

Allocate = Callable[[tuple[int, ...], torch.dtype], torch.Tensor]
"""Gives a buffer of that shape and type to collate into."""

COPIED_BYTES = 32 * 1024
"""Batch output from which rows are copied out: a view keeps the whole batch in memory.

Below it the copies (about 1.3 µs each) cost more than the memory is worth.
"""


_LATER: tuple[Hashable | None, Terms] = (None, PLAIN)


class StackCollator:
    """Samples of one shape, stacked along a new first dimension.

    A value with `rows` has that dimension already. Nests (torch's pytrees) are collated leaf by
    leaf; numbers in them become tensors.
    """

    def quick_place(self, value: Any) -> tuple[Hashable | None, Terms] | None:
        """See Collator."""
        return _LATER if type(value) is torch.Tensor else None

    def key_of(self, value: Any) -> Hashable:
        """See Collator."""
        return (value.dtype, value.shape, value.device)

    def place(self, value: Any, rows: int | None) -> Placed:
        """See Collator."""
        if isinstance(value, torch.Tensor):
            if rows is None:
                return Placed(StackCollator.key_of(self, value), value)
            return Placed(_row_key(value, rows), value, rows, True)
        leaves, tree = flattened(value)
        if rows is None:
            key: Hashable = (tree, *((x.dtype, x.shape, x.device) for x in leaves))
            return Placed(key, tree_unflatten(leaves, tree))
        key = (tree, *(_row_key(leaf, rows) for leaf in leaves))
        return Placed(key, tree_unflatten(leaves, tree), rows, True)

    def join(self, batch: Batch, rows: int, allocate: Allocate | None = None) -> Arguments:
        """See Collator."""
        requests = batch.requests
        values = [request.value for request in requests]
        leading = () if batch.plain else [request.terms.leading for request in requests]
        if isinstance(values[0], torch.Tensor):
            joined: Any = join_leaf(values, leading, rows - batch.rows, allocate)
        else:
            parts = [tree_flatten(value)[0] for value in values]
            tree = tree_flatten(values[0])[1]
            joined = tree_unflatten(
                [
                    join_leaf(list(leaf), leading, rows - batch.rows, allocate)
                    for leaf in zip(*parts, strict=True)
                ],
                tree,
            )
        return Arguments((joined,), {}, rows, batch.rows, rows)

    def split(self, output: Any, batch: Batch, arguments: Arguments) -> Sequence[Any]:
        """See Collator."""
        if isinstance(output, torch.Tensor):
            return split_leaf(output, batch, arguments.rows)
        return split_tree(output, batch, lambda leaf: split_leaf(leaf, batch, arguments.rows))

    def describe(self, value: Any) -> str:
        """See Collator."""
        return shapes(value)

    def cut(self, value: Any, rows: int, most: int) -> list[tuple[Any, int]]:
        """See Collator."""
        leaves, tree = tree_flatten(value)
        return [
            (
                tree_unflatten([leaf[start : start + most] for leaf in leaves], tree),
                min(most, rows - start),
            )
            for start in range(0, rows, most)
        ]

    def rejoin(self, results: list[Any]) -> Any:
        """See Collator."""
        parts = [tree_flatten(result)[0] for result in results]
        tree = tree_flatten(results[0])[1]
        return tree_unflatten(
            [
                torch.cat(leaf) if isinstance(leaf[0], torch.Tensor) else leaf[0]
                for leaf in zip(*parts, strict=True)
            ],
            tree,
        )


def shapes(value: Any) -> str:
    """The types and shapes of a nest's tensors: "float32[8], int64[]"."""
    return ", ".join(
        f"{str(leaf.dtype).removeprefix('torch.')}{list(leaf.shape)}".replace(" ", "")
        for leaf in tree_flatten(value)[0]
        if isinstance(leaf, torch.Tensor)
    )


def flattened(value: Any) -> tuple[list[torch.Tensor], TreeSpec]:
    """The tensors of a nest, numbers made tensors, and its structure.

    Raises:
        UsageError: it holds something else, or nothing.
    """
    leaves, tree = tree_flatten(value)
    tensors: list[torch.Tensor] = []
    for leaf in leaves:
        if isinstance(leaf, (bool, int, float, complex)):
            leaf = torch.tensor(leaf)
        elif not isinstance(leaf, torch.Tensor):
            raise refused(
                f"a request holds a {type(leaf).__name__}, which cannot be collated",
                'pass tensors, numbers, or nests of them; collate="list" takes anything',
            )
        tensors.append(leaf)
    if not tensors:
        raise refused("a request holds no tensor", "pass a tensor or a nest of tensors")
    return tensors, tree


def _row_key(leaf: torch.Tensor, rows: int) -> Hashable:
    if not leaf.dim() or leaf.shape[0] != rows:
        raise refused(
            f"rows={rows}, but a tensor of the request has shape {list(leaf.shape)}",
            "its first dimension must be the rows",
        )
    return leaf.dtype, leaf.shape[1:], leaf.device


def join_leaf(
    values: list[torch.Tensor],
    leading: Sequence[bool],
    missing: int,
    allocate: Allocate | None,
) -> torch.Tensor:
    """Stack samples and concatenate rows; the last row is repeated into what is missing.

    A valid row, where zeros might divide or mask everything.
    """
    if any(leading):
        rows = [
            value if has else value.unsqueeze(0) for value, has in zip(values, leading, strict=True)
        ]
        rows += [rows[-1][-1:]] * missing
        if allocate is None:
            return torch.cat(rows)
        count = sum(len(one) for one in rows)
        return torch.cat(rows, out=allocate((count, *rows[0].shape[1:]), rows[0].dtype))
    if missing:
        values = values + values[-1:] * missing
    if allocate is None:
        return torch.stack(values)
    return torch.stack(values, out=allocate((len(values), *values[0].shape), values[0].dtype))


def split_leaf(leaf: Any, batch: Batch, rows: int) -> Sequence[Any]:
    """One tensor of the output, a piece for each request."""
    if not isinstance(leaf, torch.Tensor):
        raise mismatch(f"a {type(leaf).__name__}", f"a batch of {rows} rows")
    if not leaf.dim() or leaf.shape[0] != rows:
        shape = list(leaf.shape)
        raise mismatch(f"a tensor of shape {shape}", f"a batch of {rows} rows")
    requests = batch.requests
    if batch.plain or not any(request.terms.leading for request in requests):
        pieces = list(leaf.unbind(0))
        del pieces[len(requests) :]
    else:
        pieces, start = [], 0
        for request in requests:
            terms = request.terms
            pieces.append(leaf[start : start + terms.rows] if terms.leading else leaf[start])
            start += terms.rows
    return owned(pieces)


def owned(pieces: list[torch.Tensor]) -> list[torch.Tensor]:
    """The pieces, copied where together they would keep much more memory than one is worth."""
    first = pieces[0]
    held = first.untyped_storage().nbytes()
    if held < COPIED_BYTES or held <= 2 * math.prod(first.shape) * first.element_size():
        return pieces
    return [piece.clone() for piece in pieces]


def split_tree(
    output: Any, batch: Batch, split: Callable[[torch.Tensor], Sequence[Any]]
) -> Sequence[Any]:
    """A nest of tensors as one nest for each request; None stays what it is."""
    leaves, tree = tree_flatten(output)
    count = len(batch.requests)
    if not any(isinstance(leaf, torch.Tensor) for leaf in leaves):
        raise mismatch(f"a {type(output).__name__} without tensors", f"{batch.rows} rows")
    pieces = [[None] * count if leaf is None else split(leaf) for leaf in leaves]
    return [tree_unflatten(list(one), tree) for one in zip(*pieces, strict=True)]
