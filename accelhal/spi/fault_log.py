"""Faults in the text of a kernel log, as dmesg, journalctl or /dev/kmsg print it."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator

from accelhal.facts.faults import Fault, FaultEvent
from accelhal.spi.fault_tables import FaultTable, LogPattern

_LONGEST_LINE = 2000
"""Characters of a line that are looked at; drivers' lines are under 300."""

_KEPT_LINE = 200

MOST_EVENTS = 10_000
"""Events that are kept, the latest; a storm of one fault says no more than these."""

_STARTS = re.compile(r"^-- Boot [0-9a-f]{32}|Linux version [0-9]")
"""How journalctl, and the kernel itself, begin the record of a host's start."""

_STAMP = re.compile(r"\[ *([0-9]{1,12}\.[0-9]{1,9})\]")
_RECORD_STAMP = re.compile(r"[0-9]{1,5},[0-9]{1,18},([0-9]{1,18}),")
"""Of /dev/kmsg: "6,1234,5678901,-;text", in microseconds."""


def read_fault_events(log: Iterable[str], table: FaultTable) -> tuple[FaultEvent, ...]:
    """The faults in the lines of a kernel log, oldest first.

    Takes time in proportion to the text, whatever it holds.

    Args:
        log: lines, oldest first.
        table: how the driver writes them.

    Returns:
        At most MOST_EVENTS, the latest.
    """
    events: deque[FaultEvent] = deque(maxlen=MOST_EVENTS)
    for restarts, line in _by_start(log):
        event = _event(line, table, restarts)
        if event is not None:
            events.append(event)
    return tuple(events)


def count_restarts(log: Iterable[str]) -> int:
    """How many starts of the host a log shows after its first line."""
    return max((restarts for restarts, _ in _by_start(log)), default=0)


def _by_start(log: Iterable[str]) -> Iterator[tuple[int, str]]:
    """The lines, each with the number of starts between the first line and it."""
    restarts, between = 0, False
    for whole in log:
        line = whole[:_LONGEST_LINE]
        if _STARTS.search(line):
            restarts, between = restarts + between, False
        elif line.strip():
            between = True
        yield restarts, line


def _event(line: str, table: FaultTable, restarts: int) -> FaultEvent | None:
    for known in table.log_patterns:
        found = known.pattern.search(line) if known.needle in line else None
        if found is None:
            continue
        fault = _fault(found, known, table)
        if fault is not None:
            return FaultEvent(
                fault=fault,
                board=found.groupdict().get("board"),
                time=_time(line),
                restarts=restarts,
                line=line.strip()[:_KEPT_LINE],
            )
    return None


def _fault(found: re.Match[str], known: LogPattern, table: FaultTable) -> Fault | None:
    groups = found.groupdict()
    code = groups.get("code") or known.code
    return None if code is None else table.find(known.family, code, groups.get("class"))


def _time(line: str) -> float | None:
    stamp = _STAMP.search(line)
    if stamp is not None:
        return float(stamp[1])
    record = _RECORD_STAMP.match(line)
    return None if record is None else int(record[1]) / 1e6
