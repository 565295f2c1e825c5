"""One call's arguments as a batch: its rows, the shapes around them, and padding up to a size."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import torch
from torch.utils._pytree import TreeSpec, tree_flatten, tree_unflatten

from accelhal.errors import UsageError

Name = int | str
"""Position or keyword of an argument."""

_BY_IDENTITY: Any = object.__eq__

_COMPARABLE = "pass tensors, numbers, strings, None, or torch pytrees of them"


@dataclass(frozen=True)
class Batch:
    """The leaves of a call's arguments, and how to put them together again.

    Attributes:
        rows: the leading dimension of every batched tensor.
        leaves: tensors, and values that stay what they are.
        batched: for each leaf, whether it is a tensor with a row a sample.
        structure: each argument's name, its number of leaves, and its tree where it is a nest.
        key: equal for calls that one graph can serve, up to their rows.
    """

    rows: int
    leaves: tuple[Any, ...]
    batched: tuple[bool, ...]
    structure: tuple[tuple[Name, int, TreeSpec | None], ...]
    key: Hashable

    def arguments(self, leaves: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """Positional and named arguments of a call with these leaves in place of the batch's."""
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        position = 0
        for name, count, tree in self.structure:
            part = leaves[position : position + count]
            position += count
            value = part[0] if tree is None else tree_unflatten(list(part), tree)
            if isinstance(name, int):
                args.append(value)
            else:
                kwargs[name] = value
        return args, kwargs

    def part(self, start: int, stop: int) -> Batch:
        """The rows from `start` up to `stop`."""
        leaves = tuple(
            leaf[start:stop] if batched else leaf
            for leaf, batched in zip(self.leaves, self.batched, strict=True)
        )
        return Batch(stop - start, leaves, self.batched, self.structure, self.key)

    def buffers(self, size: int) -> list[Any]:
        """New tensors of `size` rows, filled with this batch; other leaves as they are."""
        made = [
            torch.empty(
                (size, *leaf.shape[1:]) if batched else leaf.shape,
                dtype=leaf.dtype,
                device=leaf.device,
            )
            if isinstance(leaf, torch.Tensor)
            else leaf
            for leaf, batched in zip(self.leaves, self.batched, strict=True)
        ]
        self.fill(made)
        return made

    def fill(self, buffers: Sequence[Any]) -> None:
        """Copy the batch into buffers of as many rows or more.

        The last row is repeated into those that are left: values that the model can surely take,
        where zeros might divide or mask everything.
        """
        for buffer, leaf, batched in zip(buffers, self.leaves, self.batched, strict=True):
            if not isinstance(leaf, torch.Tensor):
                continue
            if batched and len(buffer) > self.rows:
                buffer[: self.rows].copy_(leaf)
                buffer[self.rows :].copy_(leaf[-1:].expand_as(buffer[self.rows :]))
            else:
                buffer.copy_(leaf)

    def described(self) -> str:
        """The shapes without the rows: "float32[784], mask=int64[128]"."""
        words: list[str] = []
        position = 0
        for name, count, _ in self.structure:
            for index in range(position, position + count):
                leaf, batched = self.leaves[index], self.batched[index]
                word = _shape_word(leaf, batched) if isinstance(leaf, torch.Tensor) else repr(leaf)
                words.append(word if isinstance(name, int) else f"{name}={word}")
            position += count
        return ", ".join(words)


def read_batch(
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    device: torch.device,
    unbatched: Collection[Name] = (),
) -> Batch:
    """The batch that a call's arguments make.

    Args:
        args: positional arguments: tensors, other values, and nests of both (torch's pytrees).
        kwargs: named arguments.
        device: where every tensor must lie.
        unbatched: arguments whose tensors have no row a sample; so have tensors of no dimensions.

    Raises:
        UsageError: no tensor has rows, they differ in number, there are none, a tensor lies
            elsewhere, or a value cannot be compared with that of the next call.
    """
    leaves: list[Any] = []
    flags: list[bool] = []
    structure: list[tuple[Name, int, TreeSpec | None]] = []
    key: list[Hashable] = []
    rows: int | None = None
    named: list[tuple[Name, Any]] = [*enumerate(args), *kwargs.items()]
    for name, value in named:
        parts: list[Any] = [value]
        tree: TreeSpec | None = None
        if isinstance(value, torch.Tensor):
            key.append(name)
        else:
            parts, tree = tree_flatten(value)
            key.append((name, repr(tree)))
        structure.append((name, len(parts), tree))
        for leaf in parts:
            batched = False
            if isinstance(leaf, torch.Tensor):
                if leaf.device != device:
                    _refuse(name, f"lies on {leaf.device}, not on {device}", "move it there first")
                batched = leaf.dim() > 0 and name not in unbatched
                key.append((leaf.dtype, leaf.shape[1:] if batched else leaf.shape))
            else:
                key.append(_value_key(name, leaf))
            if batched and rows is None:
                rows = leaf.shape[0]
            elif batched and leaf.shape[0] != rows:
                _refuse(
                    name,
                    f"has {leaf.shape[0]} rows where an argument before it has {rows}",
                    f"unbatched=({name!r},) says that it has no row a sample",
                )
            leaves.append(leaf)
            flags.append(batched)
    if not rows:
        raise UsageError(
            "the batch has no rows" if rows == 0 else "no argument is a tensor with a row a sample",
            operation="graph",
            hint="the leading dimension of every batched tensor is the batch",
        )
    found = tuple(key)
    try:
        hash(found)
    except TypeError as error:
        raise UsageError(
            f"an argument cannot be told from that of another call: {error}",
            operation="graph",
            hint=_COMPARABLE,
        ) from error
    return Batch(rows, tuple(leaves), tuple(flags), tuple(structure), found)


def _value_key(name: Name, value: Any) -> Hashable:
    """Equal for values that are the same to a model."""
    if isinstance(value, float):
        return type(value), value.hex()  # -0.0 equals 0.0, and nan not even itself
    if (
        type(value).__eq__ is _BY_IDENTITY
        and getattr(value, "__dict__", None)
        and not isinstance(value, type)
        and not inspect.isroutine(value)
    ):
        # It stays the same object whatever becomes of what it holds.
        _refuse(name, f"is a {type(value).__name__}, in which changes go unseen", _COMPARABLE)
    return type(value), value


def _refuse(name: Name, what: str, hint: str) -> NoReturn:
    which = f"argument {name}" if isinstance(name, int) else f"argument {name!r}"
    raise UsageError(f"{which} {what}", operation="graph", hint=hint)


def _shape_word(tensor: torch.Tensor, batched: bool) -> str:
    shape = tensor.shape[1:] if batched else tensor.shape
    return f"{str(tensor.dtype).removeprefix('torch.')}{list(shape)}".replace(" ", "")
