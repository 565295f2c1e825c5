"""What a batcher was asked to do, checked once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

from accelhal.batching.sizes import POLICIES
from accelhal.errors import UsageError
from accelhal.facade.arguments import as_integer

OVERFLOWS = ("reject", "block", "shed_low_priority")
ON_ERROR = ("isolate", "fail")


@dataclass(frozen=True)
class Settings:
    """The figures by which a dispatcher and its lanes work; see DynamicBatcher for each.

    Raises:
        UsageError: a value that no batcher could work by.
    """

    max_batch_size: int = 32
    max_queue_delay: float = 0.0
    max_batch_tokens: int | None = None
    allowed_batch_sizes: tuple[int, ...] = ()
    batch_padding_policy: str = "pad_up"
    max_queue_size: int = 1024
    overflow: str = "reject"
    priority_levels: int = 2
    priority_aging: float = 1.0
    default_timeout: float | None = None
    max_inflight_batches: int = 2
    on_error: str = "isolate"
    idempotent: bool = True

    def __post_init__(self) -> None:
        for name in ("max_batch_size", "max_queue_size", "priority_levels", "max_inflight_batches"):
            positive_integer(name, getattr(self, name))
        if self.max_batch_tokens is not None:
            positive_integer("max_batch_tokens", self.max_batch_tokens)
        not_negative("max_queue_delay", self.max_queue_delay)
        not_negative("priority_aging", self.priority_aging)
        if self.default_timeout is not None:
            positive_seconds("default_timeout", self.default_timeout)
        one_of("overflow", self.overflow, OVERFLOWS)
        one_of("on_error", self.on_error, ON_ERROR)
        one_of("batch_padding_policy", self.batch_padding_policy, POLICIES)
        for size in self.allowed_batch_sizes:
            positive_integer("an allowed batch size", size)


def positive_integer(name: str, value: object) -> int:
    """The value as an int.

    Raises:
        UsageError: not a whole number, 1 or more.
    """
    number = as_integer(value)
    if number is None or number < 1:
        raise _misused(f"{name} must be a whole number, 1 or more, not {value!r}")
    return number


def positive_seconds(name: str, value: object) -> float:
    """The value as a float.

    Raises:
        UsageError: not a number above 0.
    """
    number = not_negative(name, value)
    if not number:
        raise _misused(f"{name} must be more than 0 seconds")
    return number


def not_negative(name: str, value: object) -> float:
    """The value as a float.

    Raises:
        UsageError: not a finite number, 0 or more.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise _misused(f"{name} must be a number of seconds, not {value!r}")
    number = float(value)
    if not math.isfinite(number) or number < 0:
        raise _misused(f"{name} must be a number of seconds, 0 or more, not {value!r}")
    return number


def one_of(name: str, value: object, known: tuple[str, ...]) -> None:
    """Check that a value is among the known ones.

    Raises:
        UsageError: it is not.
    """
    if value not in known:
        raise UsageError(
            f"{value!r} is no {name}",
            operation="DynamicBatcher",
            hint="one of: " + ", ".join(map(repr, known)),
        )


def _misused(text: str) -> UsageError:
    return UsageError(text, operation="DynamicBatcher")
