"""From callers' values to the model's arguments, and from its output to their results."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from accelhal.batching.request import PLAIN, Batch, Terms
from accelhal.errors import BatchSizeMismatchError, UsageError

if TYPE_CHECKING:
    import torch


class Placed(NamedTuple):
    """A value as it will be collated.

    Attributes:
        key: equal for values that one batch can hold.
        value: the value, its numbers made tensors.
        rows: rows that it takes.
        leading: whether it has a dimension of rows already.
        length: entries along the padded dimension; 1 where nothing is padded.
    """

    key: Hashable
    value: Any
    rows: int = 1
    leading: bool = False
    length: int = 1


class Arguments(NamedTuple):
    """What the model is called with.

    Attributes:
        args: positional.
        kwargs: named.
        rows: rows in them, padding included.
        tokens: entries along the padded dimension without padding.
        padded_tokens: and with it.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    rows: int
    tokens: int
    padded_tokens: int


class Collator(Protocol):
    """A way to make one batch of many values."""

    def quick_place(self, value: Any) -> tuple[Hashable | None, Terms] | None:
        """The key and terms of one row that is taken as it is; None: `place` must look closer.

        With None for the key the lane asks `key_of`, many values at a time: that is much cheaper
        than between a caller's own steps.
        """

    def key_of(self, value: Any) -> Hashable:
        """The key of a value for which `quick_place` gave none."""

    def place(self, value: Any, rows: int | None) -> Placed:
        """Where a value belongs; runs in its caller's thread.

        Raises:
            UsageError: no batch could hold it.
        """

    def join(
        self,
        batch: Batch,
        rows: int,
        allocate: Callable[[tuple[int, ...], torch.dtype], torch.Tensor] | None = None,
    ) -> Arguments:
        """The model's arguments, filled up to `rows`."""

    def split(self, output: Any, batch: Batch, arguments: Arguments) -> Sequence[Any]:
        """The results of the batch's requests.

        Raises:
            BatchSizeMismatchError: the output has another number of rows.
        """

    def describe(self, value: Any) -> str:
        """The shape of a value in words; empty where values have none."""

    def cut(self, value: Any, rows: int, most: int) -> list[tuple[Any, int]]:
        """A value of more rows than a batch may have, in parts of at most `most`."""

    def rejoin(self, results: list[Any]) -> Any:
        """The results of such parts as one."""


_ANYTHING: tuple[Hashable | None, Terms] = ((), PLAIN)


class ListCollator:
    """A list of the callers' values for a function that returns a list as long."""

    def quick_place(self, value: Any) -> tuple[Hashable | None, Terms] | None:
        """See Collator."""
        return _ANYTHING

    def key_of(self, value: Any) -> Hashable:
        """See Collator."""
        return ()

    def place(self, value: Any, rows: int | None) -> Placed:
        """See Collator; `rows` is what the value counts for in the size of a batch."""
        return Placed((), value, rows or 1)

    def join(self, batch: Batch, rows: int, allocate: object = None) -> Arguments:
        """See Collator; lists are not filled up."""
        values = [request.value for request in batch.requests]
        return Arguments((values,), {}, batch.rows, batch.rows, batch.rows)

    def split(self, output: Any, batch: Batch, arguments: Arguments) -> Sequence[Any]:
        """See Collator."""
        results = output if isinstance(output, (list, tuple)) else _as_list(output)
        expected = len(batch.requests)
        if len(results) != expected:
            raise mismatch(f"{len(results)} results", f"{expected} requests")
        return results

    def describe(self, value: Any) -> str:
        """See Collator."""
        return ""

    def cut(self, value: Any, rows: int, most: int) -> list[tuple[Any, int]]:
        """See Collator; one value is not cut, it fills a batch alone."""
        return [(value, rows)]

    def rejoin(self, results: list[Any]) -> Any:
        """See Collator."""
        return results[0]


def _as_list(output: Any) -> list[Any]:
    if isinstance(output, (str, bytes, dict, set)) or not hasattr(output, "__iter__"):
        raise mismatch(f"a {type(output).__name__}", "a list of requests")
    return list(output)


def mismatch(returned: str, given: str) -> BatchSizeMismatchError:
    """The error for an output that cannot be told apart by request."""
    return BatchSizeMismatchError(
        f"the model returned {returned} for {given}",
        operation="batch",
        hint="return one result for each row of the batch, in its order",
    )


def refused(text: str, hint: str) -> UsageError:
    """The error for a value that no batch can hold."""
    return UsageError(text, operation="submit", hint=hint)
