"""The kernel's list format of CPUs."""

from __future__ import annotations

import re
from collections.abc import Iterable

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
        first, last = int(found[1]), int(found[2] or found[1])
        if last < first:
            return ()
        cpus.update(range(first, last + 1))
    return tuple(sorted(cpus))


def format_cpu_list(cpus: Iterable[int]) -> str:
    """The list that `parse_cpu_list` reads back: runs as ranges, "0-3,8"."""
    runs: list[list[int]] = []
    for cpu in sorted(set(cpus)):
        if runs and cpu == runs[-1][-1] + 1:
            runs[-1].append(cpu)
        else:
            runs.append([cpu])
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)
