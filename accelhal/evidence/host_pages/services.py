"""`systemctl is-active UNIT` and `systemctl status UNIT`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from accelhal.evidence.host_pages.page import PROMPT, HostPage, Shown, of_record, output

_ASKED = re.compile(r"(?:sudo )?systemctl is-active (?P<unit>\S+)\s*$")
_STATUS = re.compile(r"^[●○×*] (?P<unit>\S+\.service)(?: - .*)?$")
_ACTIVE = re.compile(r"^\s*Active: (?P<state>\w+)")
_GONE = re.compile(r"^Unit (?P<unit>\S+) could not be found\.$")
_STATUS_LINES = 12
"""Within which systemd says the state."""


def _is_active(lines: Sequence[str]) -> Shown | None:
    unit = _asked(lines[0])
    body = output(lines)
    if unit is None or not body or body[0].strip() not in ("active", "inactive", "failed"):
        return None
    state = "active" if body[0].strip() == "active" else "inactive"
    return of_record(2, services={_full(unit): state})


def _status(lines: Sequence[str]) -> Shown | None:
    gone = _GONE.match(lines[0])
    if gone is not None:
        return of_record(1, services={_full(gone["unit"]): "absent"})
    head = _STATUS.match(lines[0])
    for place in range(1, min(_STATUS_LINES, len(lines))):
        found = _ACTIVE.match(lines[place])
        if found is not None and head is not None:
            state = "active" if found["state"] == "active" else "inactive"
            return of_record(place + 1, services={head["unit"]: state})
    return None


def _full(unit: str) -> str:
    """The unit's name; systemctl takes one without a kind for a service (systemctl(1))."""
    return unit if "." in unit else f"{unit}.service"


def _asked(line: str) -> str | None:
    prompt = PROMPT.match(line)
    typed = _ASKED.fullmatch(prompt["command"]) if prompt else None
    return typed["unit"] if typed else None


IS_ACTIVE = HostPage("systemctl is-active", lambda line: _asked(line) is not None, _is_active)
STATUS = HostPage(
    "systemctl status",
    lambda line: _STATUS.match(line) is not None or _GONE.match(line) is not None,
    _status,
)
