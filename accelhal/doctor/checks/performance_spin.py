"""Boards that are busy and do nothing: the sign of a collective that hangs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from accelhal.doctor.board_names import board_name
from accelhal.doctor.checks.performance_jobs import not_judged
from accelhal.doctor.facts import Facts
from accelhal.doctor.thresholds import (
    FULL_UTILIZATION,
    HELD_SHARE,
    SPIN_MEMORY,
    SPIN_POWER_SHARE,
    SPIN_TRAFFIC,
    WINDOW_S,
)
from accelhal.doctor.watching.job import no_process
from accelhal.doctor.watching.window import BoardWindow
from accelhal.facts import BoardReading, Finding, FindingState
from accelhal.spi.doctor import Check

Confidence = Literal["certain", "likely", "possible"]

_ID = "perf.spin"
_WATCH = f"accelhal doctor --watch 60 {_ID}"


@dataclass(frozen=True)
class _Signs:
    """What speaks for and against a kernel that only waits; None: not read.

    Attributes:
        busy: percent of the time, the least seen.
        watts: the most seen.
        limit: watts.
        traffic: bytes a second over PCIe, the most seen.
        memory: percent of the memory's time or bandwidth, the most seen.
    """

    busy: float | None
    watts: float | None
    limit: float | None
    traffic: float | None
    memory: float | None

    @property
    def waits(self) -> bool:
        """Whether it is busy, draws little, and nothing is seen to move."""
        if self.busy is None or self.watts is None or not self.limit:
            return False
        return (
            self.busy > FULL_UTILIZATION
            and self.watts < SPIN_POWER_SHARE * self.limit
            and (self.traffic or 0.0) <= SPIN_TRAFFIC
            and (self.memory or 0.0) <= SPIN_MEMORY
        )

    @property
    def complete(self) -> bool:
        """Whether traffic and memory were read."""
        return self.traffic is not None and self.memory is not None

    @property
    def evidence(self) -> dict[str, str]:
        """Each sign in words."""
        return {
            "utilisation": "not read" if self.busy is None else f"{self.busy:.0f} %",
            "power": f"{self.watts or 0:.0f} W of {self.limit or 0:.0f} W",
            "traffic over PCIe": "not read"
            if self.traffic is None
            else f"{self.traffic / 1e6:.1f} MB/s",
            "memory": "not read" if self.memory is None else f"in use {self.memory:.0f} %",
        }


def _spinning(facts: Facts) -> Iterator[Finding]:
    if facts.live and facts.watch_s:
        for window in facts.watched:
            yield _over_time(window, facts)
        return
    for reading in facts.readings():
        signs = _at_a_moment(reading)
        if not signs.waits or not _is_used(reading):
            continue
        pids = [process.pid for process in reading.processes or ()]
        if facts.live:  # one look tells too little, and a longer one is at hand
            yield _finding(
                "spin.suspected", FindingState.INFO, reading, signs, (_WATCH,), "possible"
            )
        else:
            yield _waiting(reading, signs, facts, pids, surely=False)


def _over_time(window: BoardWindow, facts: Facts) -> Finding:
    reason = no_process(window)
    reading = window.reading
    if reason:
        return not_judged(_ID, window, reason)
    signs = _through(window)
    if signs.waits:
        return _waiting(reading, signs, facts, sorted(window.pids or ()), surely=True)
    return _finding("spin.works", FindingState.OK, reading, signs)


def _waiting(
    reading: BoardReading, signs: _Signs, facts: Facts, pids: list[int], *, surely: bool
) -> Finding:
    """A failure where all signs are read and agree; a warning where some are not read."""
    commands = [f"py-spy dump --pid {pid}" for pid in pids[:4]]
    for spec in facts.specs:
        if spec.name == reading.board.backend:
            commands += facts.vendor_host(spec).hang_trials
    if not signs.complete and not surely:
        commands.append(_WATCH)
    if signs.complete:
        code, state = "spin.hangs", FindingState.FAIL
    else:
        code, state = "spin.waits", FindingState.WARN
    confidence: Confidence = "likely" if surely or signs.complete else "possible"
    return _finding(code, state, reading, signs, tuple(commands), confidence)


def _finding(
    code: str,
    state: FindingState,
    reading: BoardReading,
    signs: _Signs,
    commands: tuple[str, ...] = (),
    confidence: Confidence = "certain",
) -> Finding:
    return Finding(
        _ID,
        code,
        state,
        {
            "busy": round(signs.busy or 0.0),
            "watts": round(signs.watts or 0.0),
            "limit": round(signs.limit or 0.0),
            "percent": round(100 * (signs.watts or 0.0) / signs.limit) if signs.limit else 0,
        },
        board_name(reading),
        signs.evidence,
        commands,
        confidence=confidence,
    )


def _at_a_moment(reading: BoardReading) -> _Signs:
    seen, link = reading.telemetry, reading.pcie
    traffic = None
    if link is not None and link.received is not None and link.sent is not None:
        traffic = max(link.received, link.sent)
    return _Signs(
        busy=seen.utilization if seen else None,
        watts=seen.power if seen else None,
        limit=seen.power_limit if seen else None,
        traffic=traffic,
        memory=seen.memory_bandwidth_utilization if seen else None,
    )


def _through(window: BoardWindow) -> _Signs:
    """The signs over all samples: what was seen once to move speaks against a hang."""
    traffic = [max(pair) for pair in window.traffic]
    return _Signs(
        busy=min(window.values("utilization"), default=None),
        watts=max(window.values("power"), default=None),
        limit=max(window.values("power_limit"), default=None),
        traffic=max(traffic, default=None),
        memory=max(window.values("memory_bandwidth_utilization"), default=None),
    )


def _is_used(reading: BoardReading) -> bool:
    """Whether a process is on the board, or much of its memory is held."""
    seen = reading.telemetry
    if reading.processes:
        return True
    used, total = (seen.memory_used, seen.memory_total) if seen else (None, None)
    return bool(used and total and used > HELD_SHARE * total)


SPIN = Check(
    _ID,
    "Performance",
    "whether a busy board only waits: no power, no traffic, an idle memory",
    ("utilisation, power and traffic of the boards", "the processes on them"),
    _spinning,
    depends_on=("driver.nodes", "device.lost"),
    explanation=(
        f"A process is on the board, it is more than {FULL_UTILIZATION:.0f} % busy, draws less "
        f"than {SPIN_POWER_SHARE:.0%} of its power limit, moves nothing over PCIe and leaves its "
        f"memory idle, all for {WINDOW_S:.0f} s: its kernel polls for a peer that does not come, "
        "and the job will not end. Where traffic or memory cannot be read, the same is a warning: "
        "small kernels may draw as little. One look tells less than a window: it gives "
        "information on a host that can be watched (--watch 60), and a verdict in evidence. See "
        "with py-spy where each rank stands; the one that is not in the collective is the cause."
    ),
)
