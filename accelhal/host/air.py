"""The air through the machine, as its board management reads it: the output of ipmitool."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable

from accelhal.facts.host_record import AirReading

COMMAND = ("ipmitool", "sdr", "type", "Temperature")
LIMIT_S = 20.0
"""Board managements answer in seconds; some lists take ten."""

_LINE = re.compile(
    r"^\s*(?P<name>[^|]{1,60}?)\s*\|.*?(?P<degrees>-?[0-9]{1,3}(?:\.[0-9]+)?)\s*"
    r"(?:\|\s*)?degrees C\b"
)
_INLET = re.compile(r"inlet|intake|ambient|front.?panel|air.?in\b", re.IGNORECASE)
_OUTLET = re.compile(r"outlet|exhaust|exit.?air|air.?out\b", re.IGNORECASE)


def parse_air(lines: Iterable[str]) -> tuple[AirReading, ...]:
    """The air in lines of `ipmitool sdr` or `ipmitool sensor`: the warmest inlet and outlet.

    Empty where no sensor is one of the air.
    """
    inlet: list[float] = []
    outlet: list[float] = []
    for line in lines:
        found = _LINE.match(line)
        if found is None:
            continue
        if _INLET.search(found["name"]):
            inlet.append(float(found["degrees"]))
        elif _OUTLET.search(found["name"]):
            outlet.append(float(found["degrees"]))
    if not inlet and not outlet:
        return ()
    return (AirReading(inlet=max(inlet, default=None), outlet=max(outlet, default=None)),)


def read_air() -> tuple[AirReading, ...] | str:
    """The air of this machine, or why it cannot be read; takes seconds."""
    if shutil.which(COMMAND[0]) is None:
        return f"{COMMAND[0]} is not installed"
    try:
        ended = subprocess.run(
            COMMAND, capture_output=True, text=True, timeout=LIMIT_S, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        return f"{COMMAND[0]} took over {LIMIT_S:g} s"
    except OSError as error:
        return f"{COMMAND[0]}: {error.strerror}"
    if ended.returncode:
        last = (ended.stderr.strip() or ended.stdout.strip()).splitlines()
        return f"{COMMAND[0]}: {last[-1] if last else f'exit status {ended.returncode}'}"
    return parse_air(ended.stdout.splitlines())
