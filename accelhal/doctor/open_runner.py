"""Opening devices in child processes, so that none can hang or end the doctor."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from accelhal.doctor.child_process import ChildProcess, read_output, signal_name
from accelhal.doctor.imports import OpenJob, OpenReport
from accelhal.host.torch_install import AUTOLOAD_VARIABLE

HANGS_BORNE = 2
"""Devices of one type that may hang; the rest is left out, for each costs the whole limit."""


def open_in_children(
    jobs: Iterable[OpenJob],
    *,
    limit_s: float,
    on_start: Callable[[str], None] = lambda device: None,
) -> tuple[OpenReport, ...]:
    """Open each device of each type once; reports in the jobs' order.

    The devices of a type share a child process until one hangs or ends it; the next child goes on
    behind that device.

    Args:
        jobs: the devices.
        limit_s: seconds that one child may take.
        on_start: told of each child's first device.
    """
    return tuple(_opened(job, limit_s, on_start) for job in jobs if job.count)


def _opened(job: OpenJob, limit_s: float, on_start: Callable[[str], None]) -> OpenReport:
    opened: list[int] = []
    failed: dict[int, str] = {}
    output, first, hangs = "", 0, 0
    while first < job.count and hangs < HANGS_BORNE:
        on_start(f"{job.device_type}:{first}")
        lines, ending, printed, hung = _run(job, first, limit_s)
        opened += [line["opened"] for line in lines if "opened" in line]
        failed |= {line["failed"]: line["error"] for line in lines if "failed" in line}
        if any("done" in line for line in lines):
            break
        begun = [line["index"] for line in lines if "index" in line]
        last = begun[-1] if begun else job.count  # it came to none: another child would not either
        reason = next((line["error"] for line in lines if _is_whole(line)), ending)
        failed.setdefault(last if begun else first, reason)
        output, first, hangs = printed, last + 1, hangs + hung
    seen = {*opened, *failed}
    return OpenReport(job, tuple(opened), failed, job.count - len(seen), output)


def _run(job: OpenJob, first: int, limit_s: float) -> tuple[list[dict[str, Any]], str, str, bool]:
    """The lines of one child, how it ended, what it printed last, and whether it hung."""
    with tempfile.TemporaryDirectory(prefix="accelhal-doctor-") as folder:
        child = ChildProcess(
            "accelhal.doctor.open_child",
            Path(folder) / "result",
            (str(limit_s), job.package, job.device_type, str(first), str(job.count)),
            environ={AUTOLOAD_VARIABLE: "0"},
        )
        hung = False
        try:
            while not (child.ended() or hung):
                read_output([child])
                hung = child.seconds > limit_s and not child.ended()
            child.read()
        finally:
            status = child.stop()
        return child.lines, _ending(None if hung else status, limit_s), child.output, hung


def _ending(status: int | None, limit_s: float) -> str:
    if status is None:
        return f"no answer within {limit_s:g} s"
    return (
        f"the process ended with {signal_name(-status)}" if status < 0 else f"exit status {status}"
    )


def _is_whole(line: dict[str, Any]) -> bool:
    """Whether the line tells of an error of the child itself, not of one device."""
    return "error" in line and "failed" not in line
