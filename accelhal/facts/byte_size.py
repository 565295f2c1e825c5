"""Amounts of memory as people write them: "64MiB", "80 GiB", or a number of bytes."""

from __future__ import annotations

import re

from accelhal.errors import UsageError

_UNITS = {
    "": 1,
    "b": 1,
    **{f"{letter}b": 1000**power for power, letter in enumerate("kmgt", start=1)},
    **{f"{letter}ib": 1024**power for power, letter in enumerate("kmgt", start=1)},
}
_FORM = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]+)?)\s*(?P<unit>[a-z]*)")


def parse_size(value: int | str, field: str = "memory") -> int:
    """An amount in bytes.

    Args:
        value: bytes, or a number with a unit; "MB" is 10^6 bytes and "MiB" 2^20.
        field: what the amount is for, named in errors.

    Raises:
        UsageError: not an amount, or less than one byte.
    """
    found: int | None = None
    if isinstance(value, int) and not isinstance(value, bool):
        found = value
    elif isinstance(value, str):
        match = _FORM.fullmatch(value.strip().lower())
        unit = _UNITS.get(match["unit"]) if match else None
        if match is not None and unit is not None:
            found = int(float(match["number"]) * unit)
    if found is None or found < 1:
        raise UsageError(
            f"{field}={value!r} is not an amount of memory of at least one byte",
            operation="read an amount of memory",
            hint=f'write {field}="64MiB", or a number of bytes above 0',
        )
    return found
