"""The written name of a device: "npu", "npu:0", "npu@distribution:0"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from accelhal.errors import UsageError

BACKEND_NAME = r"[a-z][a-z0-9_]*"
"""What torch takes as a device type."""

_FORM = re.compile(
    rf"(?P<backend>{BACKEND_NAME})(@(?P<distribution>[\w.-]+))?(:(?P<index>[0-9]{{1,9}}))?"
)


@dataclass(frozen=True)
class DeviceName:
    """A parsed name.

    Attributes:
        backend: torch device type.
        distribution: the installed distribution the backend must come from, or None for any.
        index: torch's index, or None for the backend's current device.
    """

    backend: str
    distribution: str | None = None
    index: int | None = None


def parse_device_name(text: str) -> DeviceName:
    """Read a device name; raises UsageError for any other form."""
    match = _FORM.fullmatch(text.strip())
    if match is None:
        lower = text.strip().lower()
        guess = f"did you mean {lower!r}? " if _FORM.fullmatch(lower) else ""
        raise UsageError(
            f"{text!r} is not a device name",
            operation="device",
            hint=f'{guess}write "npu", "npu:0" or "npu@distribution:0"',
        )
    index = match["index"]
    return DeviceName(
        match["backend"], match["distribution"], None if index is None else int(index)
    )
