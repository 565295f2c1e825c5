"""Waiting for a device's events, never for ever."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from accelhal.errors import DeviceTimeoutError, UsageError

FIRST_PAUSE_S = 20e-6
LONGEST_PAUSE_S = 1e-3
"""Seconds between looks at an event: short ones must not be waited for long."""


def check_limit(timeout: float, operation: str, default: float) -> None:
    """Refuse a limit that is none.

    Raises:
        UsageError: `timeout` is no number above 0.
    """
    number = isinstance(timeout, (int, float)) and not isinstance(timeout, bool)
    if not number or not timeout > 0:
        raise UsageError(
            f"timeout must be seconds above 0, not {timeout!r}",
            operation=operation,
            hint=f"timeout={default:g}",
        )


def wait_until(done: Callable[[], bool], limit: float, device: Any, what: str) -> None:
    """Wait until `done()` is true.

    Args:
        done: asked again and again; what it raises is raised.
        limit: seconds.
        device: that works on it, for the message.
        what: that is waited for, for the message ("rows 0 to 64").

    Raises:
        DeviceTimeoutError: it was not true within the limit.
    """
    until = time.monotonic() + limit
    pause = FIRST_PAUSE_S
    while not done():
        if time.monotonic() > until:
            raise DeviceTimeoutError(
                f"{device} did not finish {what} within {limit:g} s",
                backend=getattr(device, "backend", None),
                device=str(device),
                operation="wait",
                hint="raise timeout= where the work is long; `accelhal doctor` says whether the "
                "device answers",
            )
        time.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE_S)
