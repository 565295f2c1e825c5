"""Whether kernels fill the compute units with threads, where an exporter's output tells."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

from accelhal.doctor.board_names import board_name
from accelhal.doctor.facts import Facts
from accelhal.doctor.thresholds import (
    FULL_UTILIZATION,
    LOW_OCCUPANCY,
    WORKING_POWER_SHARE,
)
from accelhal.facts import BoardReading, Finding, FindingState
from accelhal.spi import BackendSpec
from accelhal.spi.doctor import Check

_ID = "perf.occupancy"


def _occupancy(facts: Facts) -> Iterator[Finding]:
    for spec in facts.specs:
        shares = _shares(spec, facts)
        for reading in facts.readings(spec.name):
            seen = shares.get(reading.board.index)
            if seen:
                yield _judged(reading, 100 * fmean(seen))
            elif facts.live and facts.watch_s and reading.processes:
                yield Finding(
                    _ID,
                    "occupancy.not_read",
                    FindingState.UNKNOWN,
                    device=board_name(reading),
                    commands=facts.vendor_host(spec).profilers,
                )


def _shares(spec: BackendSpec, facts: Facts) -> dict[int | None, list[float]]:
    """Board -> what the lines say of it, from 0 to 1."""
    pattern = facts.vendor_host(spec).occupancy
    found: dict[int | None, list[float]] = {}
    if pattern is None:
        return found
    for told in map(pattern.search, facts.record.messages):
        if told is not None:
            found.setdefault(int(told["index"]), []).append(float(told["share"]))
    return found


def _judged(reading: BoardReading, percent: float) -> Finding:
    params: dict[str, str | int | float] = {"percent": round(percent)}
    if percent >= LOW_OCCUPANCY:
        code, state = "occupancy.high", FindingState.OK
    elif _works_on_little(reading):
        code, state = "occupancy.low", FindingState.WARN
    else:
        code, state = "occupancy.other_work", FindingState.INFO
    return Finding(_ID, code, state, params, board_name(reading), confidence="likely")


def _works_on_little(reading: BoardReading) -> bool:
    """Whether a process keeps it always busy, and yet it draws little."""
    seen = reading.telemetry
    if seen is None or not reading.processes or seen.power is None or not seen.power_limit:
        return False
    busy = (seen.utilization or 0.0) >= FULL_UTILIZATION
    return busy and seen.power < WORKING_POWER_SHARE * seen.power_limit


OCCUPANCY = Check(
    _ID,
    "Performance",
    "whether kernels fill the compute units with threads",
    ("an exporter's or profiler's output", "utilisation and power of the boards"),
    _occupancy,
    depends_on=("driver.nodes", "device.lost", "perf.spin"),
    explanation=(
        f"Below {LOW_OCCUPANCY:.0f} % is a warning only where a process keeps the board always "
        f"busy and it draws less than {WORKING_POWER_SHARE:.0%} of its power limit: a matrix "
        "product runs well at a quarter of the threads. Driver libraries do not report occupancy; "
        "an exporter of the vendor's profiling counters does, and its output is evidence (--from). "
        "Under --watch the check names the vendor's profiler. Larger blocks, fewer registers and "
        "larger batches fill more threads."
    ),
)
