"""`ls -l /dev/...`: the drivers' nodes, and the message where there are none."""

from __future__ import annotations

import re
from collections.abc import Sequence

from accelhal.evidence.host_pages.page import HostPage, Shown, of_record, run_of

_NODE = re.compile(r"^c[rwxsStT-]{9}[.+]? .* (?P<path>/dev/\S+)$")
_MISSING = re.compile(r"^ls: cannot access '?/dev/[^']*'?: No such file or directory$")


def _read(lines: Sequence[str]) -> Shown:
    found = run_of(lines, _NODE)
    # Who would open them is not told: that they are there is.
    return of_record(len(found), nodes={line["path"]: True for line in found})


def _missing(lines: Sequence[str]) -> Shown:
    return of_record(len(run_of(lines, _MISSING)), nodes={})


PAGE = HostPage("ls -l /dev", lambda line: _NODE.match(line) is not None, _read)
MISSING = HostPage("ls -l /dev", lambda line: _MISSING.match(line) is not None, _missing)
