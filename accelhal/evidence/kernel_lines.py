"""Which lines of a kernel log say something of boards: what a snapshot keeps of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from accelhal.errors import BackendLoadError, warn
from accelhal.registry import Backend
from accelhal.registry.extensions import load_extension
from accelhal.spi.fault_tables import FaultTables

LOCKUP = re.compile(r"(?:watchdog: BUG: )?soft lockup - CPU#|rcu: INFO: rcu\w* .*stall|hard LOCKUP")
TRACE_LINES = 60
"""Lines after a lockup that are its trace."""

PCIE_ERROR = re.compile(
    r"(?:AER|PCIe Bus Error).*severity[=:] ?(Uncorrect\w*|Corrected)", re.IGNORECASE
)
KILLED = re.compile(
    r"(?:Out of memory|Memory cgroup out of memory): Killed process \d+ \(([^)]*)\)"
)
CONTIGUOUS = re.compile(r"cma(?:_alloc)?: .*(?:alloc failed|failed)", re.IGNORECASE)
START = re.compile(r"^-- Boot [0-9a-f]{32}|Linux version [0-9]")

_ALONE = (PCIE_ERROR, KILLED, CONTIGUOUS)

MOST_LINES = 2000
"""Lines that a snapshot keeps, the latest."""


def log_needles(known: Iterable[Backend]) -> tuple[str, ...]:
    """The texts by which the plugins' fault tables find lines of a kernel log."""
    found: dict[str, None] = {}
    for backend in known:
        if backend.spec is None:
            continue
        try:
            tables = load_extension(backend.spec, "faults", FaultTables)
        except BackendLoadError as error:
            warn(str(error))
            continue
        patterns = () if tables is None else tables.read().log_patterns
        found |= dict.fromkeys(pattern.needle for pattern in patterns)
    return tuple(found)


def telling(lines: Sequence[str], needles: Sequence[str]) -> tuple[str, ...]:
    """The lines that rules on boards could use, in their order; the latest where they are many.

    Starts are among them, and between two a line at least: as many are counted as in the whole log.

    Args:
        lines: a kernel log.
        needles: texts that the drivers' own faults have.
    """
    kept: list[str] = []
    trace_until = 0
    idle: str | None = None
    told = False  # since the last start
    for place, line in enumerate(lines):
        if LOCKUP.search(line):
            trace_until = place + TRACE_LINES
        if START.search(line):
            if idle is not None and not told:
                kept.append(idle)
            kept.append(_start(line))
            idle, told = None, False
        elif place < trace_until or _is_telling(line, needles):
            kept.append(line)
            told = told or bool(line.strip())
        elif line.strip():
            idle = line
    return tuple(kept[-MOST_LINES:])


def _is_telling(line: str, needles: Sequence[str]) -> bool:
    return any(needle in line for needle in needles) or any(p.search(line) for p in _ALONE)


def _start(line: str) -> str:
    """A start without the name of who built the kernel and where."""
    return line.partition(" (")[0]
