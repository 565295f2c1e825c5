"""`ipmitool sdr` and `ipmitool sensor`: the air through the machine."""

from __future__ import annotations

import re
from collections.abc import Sequence

from accelhal.evidence.host_pages.page import HostPage, Shown, of_record, run_of
from accelhal.host.air import parse_air

_LINE = re.compile(r"^[^|]{1,60}\|[^|]*\|.*$")
_TEMPERATURE = re.compile(r"^[^|]{1,60}\|.*degrees C\b")


def _read(lines: Sequence[str]) -> Shown:
    found = [match[0] for match in run_of(lines, _LINE)]
    return of_record(len(found), air=parse_air(found))


PAGE = HostPage("ipmitool sdr", lambda line: _TEMPERATURE.match(line) is not None, _read)
