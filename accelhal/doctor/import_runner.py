"""Importing packages in child processes, so that none can crash, hang or silence the doctor."""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from accelhal.doctor.child_process import ChildProcess, read_output, signal_name
from accelhal.doctor.imports import ImportJob, ImportOutcome, ImportReport
from accelhal.host.torch_install import AUTOLOAD_VARIABLE

CHILDREN_AT_ONCE = 2


def import_in_children(
    jobs: Iterable[ImportJob],
    *,
    limit_s: float,
    on_start: Callable[[str], None] = lambda package: None,
) -> tuple[ImportReport, ...]:
    """Import each package in a process of its own, two at a time; reports in the jobs' order.

    torch's autoload is off in the children, so that each answers for one package alone. Every child
    is ended with its process group when its limit is over, or when this call is interrupted.
    """
    ordered = list(jobs)
    waiting = deque(ordered)
    running: dict[ImportJob, ChildProcess] = {}
    reports: dict[ImportJob, ImportReport] = {}
    with tempfile.TemporaryDirectory(prefix="accelhal-doctor-") as folder:
        try:
            while waiting or running:
                while waiting and len(running) < CHILDREN_AT_ONCE:
                    job = waiting.popleft()
                    on_start(job.package)
                    running[job] = _started(job, Path(folder) / job.package, limit_s)
                read_output(list(running.values()))
                for job, child in list(running.items()):
                    if child.ended() or child.seconds > limit_s:
                        del running[job]
                        reports[job] = _report(job, child, limit_s)
        finally:
            for child in running.values():
                child.stop()
    return tuple(reports[job] for job in ordered)


def _started(job: ImportJob, result: Path, limit_s: float) -> ChildProcess:
    return ChildProcess(
        "accelhal.doctor.import_child",
        result,
        (str(limit_s), job.package, *job.device_types),
        environ={AUTOLOAD_VARIABLE: "0"},
    )


def _report(job: ImportJob, child: ChildProcess, limit_s: float) -> ImportReport:
    """What the result file and the exit status say."""
    timed_out = not child.ended()
    child.read()
    seconds = child.seconds
    status = child.stop()
    lines, steps = child.lines, child.steps
    outcome, detail = _ending(lines, None if timed_out else status, limit_s)
    if timed_out and status is None:
        detail += "; it is stuck in the kernel and could not be ended"
    last = lines[-1] if outcome is ImportOutcome.LOADED else {}
    return ImportReport(
        job=job,
        outcome=outcome,
        step=steps[-1] if steps else "start",
        detail=detail,
        counts=last.get("counts", {}),
        count_errors=last.get("count_errors", {}),
        arch_lists={name: tuple(one) for name, one in last.get("arch_lists", {}).items()},
        version=last.get("version", ""),
        output=child.output,
        seconds=seconds,
    )


def _ending(
    lines: Sequence[Mapping[str, Any]], status: int | None, limit_s: float
) -> tuple[ImportOutcome, str]:
    last = lines[-1] if lines else {}
    if status is None:
        return ImportOutcome.HUNG, f"no end within {limit_s:g} s"
    if status < 0:
        return ImportOutcome.KILLED, signal_name(-status)
    if "error" in last:
        return ImportOutcome.RAISED, str(last["error"])
    if "counts" in last:
        return ImportOutcome.LOADED, ""
    return ImportOutcome.EXITED, f"exit status {status}"
