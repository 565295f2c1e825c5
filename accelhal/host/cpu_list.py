"""The kernel's list format of CPUs."""

from __future__ import annotations

import re

_RANGE = re.compile(r"(\d{1,4})(?:-(\d{1,4}))?", re.ASCII)
"""One CPU or a range of them; Linux numbers at most 8192 (its largest CONFIG_NR_CPUS)."""


def parse_cpu_list(text: str) -> tuple[int, ...]:
    """CPUs of a list such as "0-3,8" (cpuset(7), "List format"), ascending.

    Empty for a text that is no such list.
    """
    cpus: set[int] = set()
    for part in text.strip().split(","):
        found = _RANGE.fullmatch(part.strip())
        if found is None:
            return ()
        first, last = found[1], found[2] or found[1]
        cpus.update(range(int(first), int(last) + 1))
    return tuple(sorted(cpus))
