"""`env` and `printenv`, or a few variables as they are typed: the environment of a process."""

from __future__ import annotations

import re
from collections.abc import Sequence

from accelhal.evidence.host_pages.page import HostPage, Shown, of_record, run_of

_LINE = re.compile(r"^(?:export )?(?P<name>[A-Z_][A-Z0-9_]{2,80})=(?P<value>.*)$")


def _read(lines: Sequence[str]) -> Shown:
    found = run_of(lines, _LINE)
    return of_record(len(found), variables={line["name"]: _bare(line) for line in found})


def _bare(line: re.Match[str]) -> str:
    """The value, without the quotes of one that was typed."""
    value = line["value"]
    typed = line[0].startswith("export ")
    quoted = len(value) > 1 and value[0] in "'\"" and value[-1] == value[0]
    return value[1:-1] if typed and quoted else value


PAGE = HostPage("env", lambda line: _LINE.match(line) is not None, _read)
