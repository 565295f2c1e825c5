"""The kernel log, as dmesg, journalctl and /dev/kmsg print it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from accelhal.evidence.host_pages.page import HostPage, Shown, of_record

_STAMPED = re.compile(
    r"^(?:<[0-9]{1,3}>)?\[ *[0-9]{1,9}\.[0-9]{6}\]"  # dmesg
    r"|^\[(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ 0-9]{2} [0-9:]{8} [0-9]{4}\]"  # dmesg -T
    r"|^[A-Z][a-z]{2} [ 0-9]{2} [0-9:]{8} \S+ kernel: "  # journalctl -k, /var/log/kern.log
    r"|^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.,+Z-]{8,} \S+ kernel: "  # journalctl -o short-iso
    r"|^-- Boot [0-9a-f]{32}"  # journalctl between starts
    r"|^[0-9]{1,5},[0-9]{1,18},[0-9]{1,18},[-c]"  # /dev/kmsg
)
_HOST = re.compile(r"^([A-Z][a-z]{2} [ 0-9]{2} [0-9:]{8}|[0-9T:.,+Z-]{19,}) \S+ (?=kernel: )")
"""A stamp with the host's name, which says nothing of boards and is private."""


def page(needles: Sequence[str]) -> HostPage:
    """The page; `needles` tell lines that have lost their stamp."""

    def is_line(line: str) -> bool:
        return _STAMPED.match(line) is not None or any(needle in line for needle in needles)

    def read(lines: Sequence[str]) -> Shown:
        each = (lines[place] for place in range(len(lines)))
        found = [_HOST.sub(r"\1 ", line) for line in takewhile(is_line, each)]
        return of_record(len(found), kernel_log=tuple(found))

    return HostPage("dmesg", is_line, read)
