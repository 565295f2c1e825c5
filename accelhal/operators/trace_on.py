"""Where a model runs while its operators are noted; loads no torch."""

from __future__ import annotations

from enum import Enum

from accelhal.errors import UsageError
from accelhal.operators.model_call import OPERATION


class TraceOn(str, Enum):
    """Where the model runs while its operators are noted."""

    CPU = "cpu"
    FAKE = "fake"
    DEVICE = "device"


def parse_trace_on(text: str) -> TraceOn:
    """Read a place by its name.

    Raises:
        UsageError: there is no such place.
    """
    try:
        return TraceOn(text)
    except ValueError:
        raise UsageError(
            f"a model cannot be traced on {text!r}",
            operation=OPERATION,
            hint=f"one of: {', '.join(place.value for place in TraceOn)}",
        ) from None
