"""How a run is made: batch sizes, time, element type and mode, checked once."""

from __future__ import annotations

import math
from dataclasses import dataclass

from accelhal.errors import UsageError

BATCH_SIZES = (1, 8, 32)
SECONDS = 2.0

DTYPES = ("float32", "float16", "bfloat16")
"""Element types of a run: float32 as it is, the others by autocast."""


@dataclass(frozen=True)
class Settings:
    """Settings of a run.

    Attributes:
        batch_sizes: samples in a batch; kept in ascending order, each once.
        seconds: time for each row; a slow model takes up to a few times as much.
        dtype: one of DTYPES.
        train: measure forward, backward and an SGD step instead of inference.

    Raises:
        UsageError: a value that cannot be measured with.
    """

    batch_sizes: tuple[int, ...] = BATCH_SIZES
    seconds: float = SECONDS
    dtype: str = "float32"
    train: bool = False

    def __post_init__(self) -> None:
        for size in self.batch_sizes:
            if not isinstance(size, int) or isinstance(size, bool) or size < 1:
                raise _bad(f"a batch size must be a positive integer, not {size!r}", "such as 32")
        if not self.batch_sizes:
            raise _bad("there is no batch size to measure", "such as 1,8,32")
        if not (math.isfinite(self.seconds) and self.seconds > 0):
            raise _bad(f"the seconds must be a positive number, not {self.seconds!r}", "such as 2")
        if self.dtype not in DTYPES:
            raise _bad(
                f"{self.dtype!r} is not a dtype to measure in", f"one of: {', '.join(DTYPES)}"
            )
        object.__setattr__(self, "batch_sizes", tuple(sorted(set(self.batch_sizes))))


def _bad(message: str, hint: str) -> UsageError:
    return UsageError(message, operation="bench", hint=hint)
