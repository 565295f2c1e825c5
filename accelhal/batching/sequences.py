"""Collating sequences of different lengths: padded to the longest, or ragged with offsets."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

from accelhal.batching.collation import Arguments, Placed, mismatch, refused
from accelhal.batching.lengths import LengthBuckets
from accelhal.batching.request import Batch, Terms
from accelhal.batching.tensors import (
    Allocate,
    StackCollator,
    flattened,
    join_leaf,
    owned,
    split_leaf,
    split_tree,
)
from accelhal.errors import UsageError


@lru_cache(4096)
def _of(length: int) -> Terms:
    """The terms of a sequence, one object for each length."""
    return Terms(length=length)


PadValue = float | Mapping[Any, float]
"""One value for every tensor, or a value for each field (key, position) that is padded."""


class SequenceCollator(StackCollator):
    """What padded and ragged batches share: fields that vary along their first dimension.

    Args:
        buckets: which lengths share a batch.
        varies: whether the field of that name or position is a sequence; None for a lone tensor.
        lengths: name of the argument that gives the model each row's length; None for none.
        sequence_output: the model's output has an entry for each of a sequence.
    """

    def __init__(
        self,
        buckets: LengthBuckets,
        varies: Callable[[Any], bool],
        lengths: str | None,
        sequence_output: bool,
    ) -> None:
        self._buckets = buckets
        self._varies = varies
        self._lengths = lengths
        self._sequence_output = sequence_output
        self._takes_lone_tensors = varies(None)

    def quick_place(self, value: Any) -> tuple[Hashable | None, Terms] | None:
        """See Collator."""
        if not (self._takes_lone_tensors and isinstance(value, torch.Tensor)):
            return None
        shape = value.shape
        if not shape:
            return None
        length = shape[0]
        return (value.dtype, shape[1:], value.device, self._buckets.boundary(length)), _of(length)

    def place(self, value: Any, rows: int | None) -> Placed:
        """See Collator."""
        quick = self.quick_place(value)
        if rows is None and quick is not None:
            return Placed(quick[0], value, length=quick[1].length)
        if rows is not None:
            raise refused(
                "a request of several rows cannot be a sequence to pad",
                'submit the rows one by one, or use collate="stack"',
            )
        leaves, tree = flattened(value)
        names = _fields(value, len(leaves))
        length: int | None = None
        key: list[Hashable] = [tree]
        for name, leaf in zip(names, leaves, strict=True):
            if not (leaf.dim() and self._varies(name)):
                key.append((leaf.dtype, leaf.shape, leaf.device))
                continue
            if length is not None and leaf.shape[0] != length:
                raise refused(
                    f"field {name!r} has length {leaf.shape[0]}, another has {length}",
                    "give all padded fields of a request one length, or name those to pad",
                )
            length = leaf.shape[0]
            key.append((leaf.dtype, leaf.shape[1:], leaf.device))
        if length is None:
            raise refused("a request has no field to pad", "pad_value names the padded fields")
        key.append(self._buckets.boundary(length))
        return Placed(tuple(key), tree_unflatten(leaves, tree), length=length)

    def _opened(self, batch: Batch) -> tuple[Any, list[tuple[Any, bool, Sequence[torch.Tensor]]]]:
        """The nest that all values are, and of each field name, whether it varies, and tensors."""
        first, tree = tree_flatten(batch.requests[0].value)
        if first[0] is batch.requests[0].value:  # lone tensors
            return tree, [(None, True, [request.value for request in batch.requests])]
        flat = [tree_flatten(request.value) for request in batch.requests]
        names = _fields(batch.requests[0].value, len(first))
        columns = zip(*(leaves for leaves, _ in flat), strict=True)
        return tree, [
            (name, bool(leaf.dim()) and self._varies(name), values)
            for name, leaf, values in zip(names, first, columns, strict=True)
        ]

    def cut(self, value: Any, rows: int, most: int) -> list[tuple[Any, int]]:
        """See Collator; one sequence is one row."""
        return [(value, rows)]


class PadCollator(SequenceCollator):
    """Sequences padded with a value of the user's to the longest of their batch.

    Args:
        pad_value: for all tensors, or for each padded field.
        mask: name of the argument that tells the model entries from padding; None for none.
        fixed: pad to the bucket's boundary instead: shapes are captured or compiled.
        buckets, lengths, sequence_output: see SequenceCollator.
    """

    def __init__(
        self,
        buckets: LengthBuckets,
        pad_value: PadValue,
        *,
        lengths: str | None = None,
        mask: str | None = None,
        sequence_output: bool = False,
        fixed: bool = False,
    ) -> None:
        fields = pad_value if isinstance(pad_value, Mapping) else None
        super().__init__(
            buckets,
            (lambda name: True) if fields is None else (lambda name: name in fields),
            lengths,
            sequence_output,
        )
        self._pad_value = pad_value
        self._mask = mask
        self._fixed = fixed

    def join(self, batch: Batch, rows: int, allocate: Allocate | None = None) -> Arguments:
        """See Collator."""
        requests = batch.requests
        lengths = [request.terms.length for request in requests]
        lengths += lengths[-1:] * (rows - len(requests))
        width = max(lengths)
        if self._fixed:
            width = max(width, self._buckets.boundary(width))
        tree, fields = self._opened(batch)
        missing = rows - len(requests)
        leaves = []
        for name, varies, values in fields:
            if varies:
                leaves.append(_padded(values, missing, width, self._value_of(name), allocate))
            else:
                leaves.append(join_leaf(list(values), [False] * len(values), missing, allocate))
        named: dict[str, Any] = {}
        where = leaves[0].device
        if self._lengths is not None or self._mask is not None:
            counts = torch.tensor(lengths)
            if self._lengths is not None:
                named[self._lengths] = counts.to(where)
            if self._mask is not None:
                named[self._mask] = (torch.arange(width) < counts.unsqueeze(1)).to(where)
        tokens = sum(lengths[: len(requests)])
        return Arguments((tree_unflatten(leaves, tree),), named, rows, tokens, rows * width)

    def split(self, output: Any, batch: Batch, arguments: Arguments) -> Sequence[Any]:
        """See Collator."""
        if not self._sequence_output:
            return super().split(output, batch, arguments)
        lengths = [request.terms.length for request in batch.requests]

        def split(leaf: torch.Tensor) -> Sequence[Any]:
            rows = split_leaf(leaf, batch, arguments.rows)
            return [row[:length] for row, length in zip(rows, lengths, strict=True)]

        return (
            split(output) if isinstance(output, torch.Tensor) else split_tree(output, batch, split)
        )

    def _value_of(self, name: Any) -> float:
        value = self._pad_value
        return value[name] if isinstance(value, Mapping) else value


class RaggedCollator(SequenceCollator):
    """Sequences end to end, with the offsets at which each begins and the last one ends.

    Args:
        fields: names or positions of the fields that vary; None for all.
        offsets: name of the argument that gives the model the offsets.
        buckets, lengths, sequence_output: see SequenceCollator.
    """

    def __init__(
        self,
        buckets: LengthBuckets,
        fields: frozenset[Any] | None = None,
        *,
        offsets: str = "offsets",
        lengths: str | None = None,
        sequence_output: bool = False,
    ) -> None:
        super().__init__(
            buckets,
            (lambda name: True) if fields is None else (lambda name: name in fields),
            lengths,
            sequence_output,
        )
        self._offsets = offsets

    def join(self, batch: Batch, rows: int, allocate: Allocate | None = None) -> Arguments:
        """See Collator; ragged batches are not filled up."""
        requests = batch.requests
        lengths = [request.terms.length for request in requests]
        tree, fields = self._opened(batch)
        total = sum(lengths)
        leaves = []
        for _, varies, values in fields:
            leading = [varies] * len(values)
            leaves.append(join_leaf(list(values), leading, 0, allocate))
        counts = torch.tensor(lengths)
        offsets = torch.zeros(len(lengths) + 1, dtype=torch.int64)
        torch.cumsum(counts, 0, out=offsets[1:])
        where = leaves[0].device
        named: dict[str, Any] = {self._offsets: offsets.to(where)}
        if self._lengths is not None:
            named[self._lengths] = counts.to(where)
        return Arguments((tree_unflatten(leaves, tree),), named, len(requests), total, total)

    def split(self, output: Any, batch: Batch, arguments: Arguments) -> Sequence[Any]:
        """See Collator."""
        if not self._sequence_output:
            return super().split(output, batch, arguments)
        lengths = [request.terms.length for request in batch.requests]

        def split(leaf: torch.Tensor) -> Sequence[Any]:
            if not leaf.dim() or leaf.shape[0] != sum(lengths):
                raise mismatch(f"a tensor of shape {list(leaf.shape)}", f"{sum(lengths)} entries")
            return owned(list(torch.split(leaf, lengths)))

        return (
            split(output) if isinstance(output, torch.Tensor) else split_tree(output, batch, split)
        )


def _padded(
    values: Sequence[torch.Tensor],
    missing: int,
    width: int,
    pad_value: float,
    allocate: Allocate | None,
) -> torch.Tensor:
    values = [*values, *[values[-1]] * missing]
    if allocate is None or any(value.requires_grad for value in values):
        whole = torch.nn.utils.rnn.pad_sequence(values, True, pad_value)
        if whole.shape[1] == width:
            return whole
        beyond = [0, 0] * (whole.dim() - 2) + [0, width - whole.shape[1]]
        return torch.nn.functional.pad(whole, beyond, value=pad_value)
    shape = (len(values), width, *values[0].shape[1:])
    whole = allocate(shape, values[0].dtype).fill_(pad_value)
    for row, value in enumerate(values):
        whole[row, : len(value)] = value
    return whole


def _fields(value: Any, leaves: int) -> list[Any]:
    """For each leaf, the key or position at the top of the nest under which it lies."""
    if isinstance(value, torch.Tensor):
        return [None]
    items = value.items() if isinstance(value, Mapping) else enumerate(value)
    names: list[Any] = []
    for name, part in items:
        names += [name] * len(tree_flatten(part)[0])
    if len(names) != leaves:
        raise UsageError(
            f"the fields of a {type(value).__name__} are not known by name or position",
            operation="submit",
            hint="pass a tensor, a tuple, a list or a dict",
        )
    return names
