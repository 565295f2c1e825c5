"""`uname -a`, `lsmod`, /proc/modules and the kernel's command line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from accelhal.evidence.host_pages.page import HostPage, Shown, of_record, run_of

_UNAME = re.compile(r"^Linux \S+ (?P<release>[0-9]+\.[0-9]+\S*) .*(?:GNU/Linux|x86_64|aarch64)")
_COMMAND_LINE = re.compile(r"^(?:\S+ )?(?:BOOT_IMAGE=\S+|root=\S+)(?: \S+)*\s*$")
_LSMOD_HEAD = re.compile(r"^Module\s+Size\s+Used by\s*$")
_LSMOD = re.compile(r"^(?P<name>[a-z0-9_]+)\s+[0-9]+\s+-?[0-9]+(?:\s.*)?$")
_PROC = re.compile(r"^(?P<name>[a-z0-9_]+) [0-9]+ -?[0-9]+ \S+ (?:Live|Loading|Unloading) 0x")


def modules_of(lines: Iterable[str]) -> dict[str, str]:
    """The modules in lines of /proc/modules; their versions are not told there."""
    return {found["name"]: "" for line in lines if (found := _PROC.match(line))}


def _uname(lines: Sequence[str]) -> Shown | None:
    found = _UNAME.match(lines[0])
    return None if found is None else of_record(1, kernel=found["release"])


def _command_line(lines: Sequence[str]) -> Shown:
    return of_record(1, command_line=lines[0].strip())


def _lsmod(lines: Sequence[str]) -> Shown:
    found = run_of(lines[1:], _LSMOD)
    return of_record(len(found) + 1, modules={line["name"]: "" for line in found})


def _proc_modules(lines: Sequence[str]) -> Shown:
    found = [line[0] for line in run_of(lines, re.compile(_PROC.pattern + ".*"))]
    return of_record(len(found), modules=modules_of(found))


UNAME = HostPage("uname -a", lambda line: _UNAME.match(line) is not None, _uname)
COMMAND_LINE = HostPage(
    "cat /proc/cmdline", lambda line: _COMMAND_LINE.match(line) is not None, _command_line
)
LSMOD = HostPage("lsmod", lambda line: _LSMOD_HEAD.match(line) is not None, _lsmod)
PROC_MODULES = HostPage(
    "cat /proc/modules", lambda line: _PROC.match(line) is not None, _proc_modules
)
