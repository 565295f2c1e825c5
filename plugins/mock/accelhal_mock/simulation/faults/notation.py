"""Faults as written in ACCELHAL_MOCK_FAULTS: "lost@1:after=10;slow@0:factor=3"."""

from __future__ import annotations

from accelhal.errors import UsageError
from accelhal_mock.simulation.faults.catalogue import Fault, make_fault

FORM = "kind@device:field=value,field=value;kind@device"


def parse_faults(text: str) -> tuple[Fault, ...]:
    """Read faults: entries parted by ";", the board (0 when absent) after "@", fields after ":".

    Raises:
        UsageError: an entry has another form, or names an unknown fault or field.
    """
    return tuple(_parse(entry.strip()) for entry in text.split(";") if entry.strip())


def _parse(entry: str) -> Fault:
    head, colon, tail = entry.partition(":")
    kind, at, device = head.partition("@")
    if at and not device.strip().isdigit():
        raise _not_a_fault(entry, f"{device.strip()!r} is not a board's index")
    settings: dict[str, object] = {}
    for part in tail.split(",") if colon else ():
        name, equals, value = part.partition("=")
        name = name.strip()
        if not equals or not name or not value.strip():
            raise _not_a_fault(entry, f"{part.strip()!r} is not field=value")
        if name in settings:
            raise _not_a_fault(entry, f"field {name!r} stands twice")
        settings[name] = value.strip()
    return make_fault(kind.strip(), int(device) if at else 0, **settings)


def _not_a_fault(entry: str, reason: str) -> UsageError:
    return UsageError(
        f"{entry!r} is not a fault: {reason}", operation="inject", hint=f"write {FORM}"
    )
