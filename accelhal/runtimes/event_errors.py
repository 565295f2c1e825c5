"""What `elapsed_time` raises where it has nothing to measure: the same for every kind of event."""

from __future__ import annotations

from accelhal.errors import UsageError


def untimed_event() -> UsageError:
    """One of the two events was made without enable_timing."""
    return UsageError(
        "elapsed_time needs events made with enable_timing=True",
        operation="elapsed_time",
        hint="device.Event(enable_timing=True)",
    )


def unrecorded_event() -> UsageError:
    """One of the two events was never recorded."""
    return UsageError(
        "elapsed_time needs both events to be recorded",
        operation="elapsed_time",
        hint="call event.record() before and after the work",
    )


def foreign_event(event: object) -> UsageError:
    """What stands for the second event is none, or another device's."""
    return UsageError(
        f"elapsed_time needs an event of the same device, not a {type(event).__name__}",
        operation="elapsed_time",
        hint="make both with device.Event(enable_timing=True)",
    )
