"""Whether a board is in use, by everything that its driver shows."""

from __future__ import annotations

from accelhal.doctor.thresholds import BUSY_PERCENT, HELD_SHARE
from accelhal.facts import BoardReading


def use_of(reading: BoardReading) -> str:
    """What uses the board, as a sentence; empty for a board at rest.

    A container hides the processes of others: utilisation and memory held speak for them.
    """
    if reading.processes:
        pids = ", ".join(str(process.pid) for process in reading.processes[:4])
        one = len(reading.processes) == 1
        return f"process {pids} is on it" if one else f"processes {pids} are on it"
    telemetry = reading.telemetry
    if telemetry is None or (telemetry.utilization is None and telemetry.memory_used is None):
        return "its driver shows neither processes nor utilisation"
    if (telemetry.utilization or 0.0) > BUSY_PERCENT:
        return f"somebody unseen keeps it {telemetry.utilization:.0f} % busy"
    used, total = telemetry.memory_used, telemetry.memory_total
    if used and total and used > HELD_SHARE * total:
        return f"somebody unseen holds {used / total:.0%} of its memory"
    return ""
