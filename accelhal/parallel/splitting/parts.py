"""Consecutive rows of a batch, each with the device that gets them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, overload

from accelhal.errors import UsageError

Reduction = Literal["mean", "sum"]


@dataclass(frozen=True)
class Part:
    """Rows `start` to `stop` of a batch.

    Attributes:
        device: who gets them, as the splitter was given it.
        start: the first row.
        stop: the row after the last.
        value: the rows themselves, views of the batch; None where only a size was divided.
    """

    device: Any
    start: int
    stop: int
    value: Any = field(default=None, repr=False, compare=False)

    @property
    def rows(self) -> int:
        """How many they are."""
        return self.stop - self.start


class Parts(Sequence[Part]):
    """A batch divided: one part a device, in the order of the devices and of the rows."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = tuple(parts)
        self.total = sum(part.rows for part in self._parts)

    @overload
    def __getitem__(self, index: int) -> Part: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Part]: ...
    def __getitem__(self, index: int | slice) -> Part | Sequence[Part]:
        return self._parts[index]

    def __len__(self) -> int:
        return len(self._parts)

    def __iter__(self) -> Iterator[Part]:
        return iter(self._parts)

    def __repr__(self) -> str:
        return f"Parts({', '.join(f'{part.device}: {part.rows}' for part in self._parts)})"

    def of(self, device: Any) -> Part:
        """The part of a device.

        Raises:
            UsageError: it got none.
        """
        for part in self._parts:
            if part.device == device:
                return part
        raise UsageError(
            f"{device} is not among the devices of this batch",
            operation="split",
            hint=f"one of: {', '.join(str(part.device) for part in self._parts)}",
        )

    def grad_scale(self, device: Any, reduction: Reduction = "mean") -> float:
        """What a device multiplies its loss by, so that the mean of gradients is the batch's.

        DDP and FSDP take the plain mean of W gradients, each of a mean over n rows of N. The
        gradient of the mean over all N rows is the sum of n/N times each, hence n * W / N; for
        losses that are sums over rows, W / N.

        Raises:
            UsageError: no such device or reduction, or a mean over no rows.
        """
        rows = self.of(device).rows
        if reduction == "sum":
            return len(self) / self.total if self.total else 0.0
        if reduction != "mean":
            raise UsageError(
                f"{reduction!r} is not a reduction of a loss",
                operation="grad_scale",
                hint='"mean" or "sum"',
            )
        if not rows:
            raise UsageError(
                f"{device} has no rows of this batch: its mean loss is not a number",
                operation="grad_scale",
                hint='take a loss summed over rows and reduction="sum", or a larger batch',
            )
        return rows * len(self) / self.total
