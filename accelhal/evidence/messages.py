"""Lines of programs that say what failed: those that somebody here understands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from accelhal.spi.doctor import VendorHost

_OUT_OF_MEMORY = re.compile(r"\bout of memory\. Tried to allocate\b")
IMPOSSIBLE_SIZE = re.compile(r"\b[0-9]{9,}\s*MiB\b")
"""More than any board has: a counter below zero."""

MOST_CHARACTERS = 2000
"""Of a line that is kept."""


def understood(vendors: Iterable[VendorHost]) -> Callable[[str], bool]:
    """Whether a line is worth keeping: one of the vendors' rules, or the doctor's own, reads it."""
    hosts = list(vendors)
    rules = [(rule.needle, rule.pattern) for host in hosts for rule in host.messages]
    rules += [("", host.occupancy) for host in hosts if host.occupancy is not None]
    own = (_OUT_OF_MEMORY, IMPOSSIBLE_SIZE)

    def keep(line: str) -> bool:
        return any(pattern.search(line) for pattern in own) or any(
            needle in line and pattern.search(line) for needle, pattern in rules
        )

    return keep
