"""Who gets how much: relative shares become whole features, the same on every rank."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from accelhal.errors import UsageError
from accelhal.parallel.apportionment import largest_remainders


@dataclass(frozen=True)
class Split:
    """How a dimension is divided among ranks.

    Attributes:
        sizes: size of each rank's part, in order.
        even: whether torch's DTensor can hold it: the sizes are those of `torch.chunk`.
    """

    sizes: tuple[int, ...]
    even: bool

    @property
    def total(self) -> int:
        """Size of the whole dimension."""
        return sum(self.sizes)

    def start(self, rank: int) -> int:
        """Where the part of a rank begins."""
        return sum(self.sizes[:rank])


def split_sizes(
    total: int,
    ranks: int,
    shares: Sequence[float] | None = None,
    multiple_of: int = 1,
    *,
    what: str = "features",
) -> Split:
    """Divide a dimension.

    Without shares the parts are those of `torch.chunk` where every rank gets one, else as equal as
    can be. Shares are relative: [2, 1] divides 9 features into 6 and 3. What cannot be divided
    exactly goes to the largest remainders, the lower rank first among equals.

    Args:
        total: size of the dimension.
        ranks: how many ranks there are.
        shares: relative share of each rank, each above 0.
        multiple_of: size of what must not be cut (the head dimension of attention).
        what: what is divided, for messages.

    Raises:
        UsageError: the shares do not fit the ranks, the dimension is no multiple, or a rank would
            get nothing.
    """
    if multiple_of < 1 or total % multiple_of:
        raise _misused(
            f"{total} {what} are not a multiple of {multiple_of}",
            "multiple_of is the size of what must not be cut, such as the head dimension",
        )
    units = total // multiple_of
    counts = (
        _chunks(units, ranks)
        if shares is None
        else largest_remainders(units, _checked(shares, ranks))
    )
    if min(counts) < 1:
        pieces = f"{units} pieces of {multiple_of} {what}" if multiple_of > 1 else f"{units} {what}"
        raise _misused(
            f"{pieces} are too few for {ranks} ranks"
            + ("" if shares is None else f" with the shares {list(shares)}"),
            "use fewer ranks, or leave this layer whole",
        )
    sizes = tuple(count * multiple_of for count in counts)
    return Split(sizes, even=list(sizes) == _chunk_sizes(total, ranks))


def _chunks(units: int, ranks: int) -> list[int]:
    sizes = _chunk_sizes(units, ranks)
    return sizes if min(sizes) else largest_remainders(units, [Fraction(1)] * ranks)


def _chunk_sizes(total: int, ranks: int) -> list[int]:
    """What torch.chunk makes, with 0 for chunks that it leaves out."""
    chunk = math.ceil(total / ranks)
    return [max(0, min(chunk, total - rank * chunk)) for rank in range(ranks)]


def _checked(shares: Sequence[float], ranks: int) -> list[Fraction]:
    if not isinstance(shares, Iterable):
        raise _misused(f"{shares!r} is no list of shares", "a number for each rank: [2, 1]")
    numbers = [share for share in map(_number, shares) if share is not None]
    if len(numbers) != len(shares):
        raise _misused(f"{list(shares)} are no shares", "a number above 0 for each rank: [2, 1]")
    if len(numbers) != ranks:
        raise _misused(
            f"{len(numbers)} shares do not divide among {ranks} ranks", "one share for each rank"
        )
    return numbers


def _number(share: object) -> Fraction | None:
    """The share as an exact number above 0, or None."""
    if not isinstance(share, (int, float)) or not math.isfinite(share) or share <= 0:
        return None
    return Fraction(share)


def _misused(message: str, hint: str) -> UsageError:
    return UsageError(message, operation="parallel", hint=hint)
