"""Importing packages in child processes, so that none can crash, hang or silence the doctor."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from accelhal.doctor.imports import ImportJob, ImportOutcome, ImportReport
from accelhal.host.torch_install import AUTOLOAD_VARIABLE

CHILDREN_AT_ONCE = 2

_TICK_S = 0.05
_KILL_LIMIT_S = 5.0
_OUTPUT_KEPT = 2000

_CHILD = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); "
    "from accelhal.doctor.import_child import main; main()"
)


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
    running: list[_Child] = []
    reports: dict[ImportJob, ImportReport] = {}
    with tempfile.TemporaryDirectory(prefix="accelhal-doctor-") as folder:
        try:
            while waiting or running:
                while waiting and len(running) < CHILDREN_AT_ONCE:
                    job = waiting.popleft()
                    on_start(job.package)
                    running.append(_Child(job, Path(folder) / job.package, limit_s))
                _read_output(running)
                for child in [c for c in running if c.over()]:
                    running.remove(child)
                    reports[child.job] = child.report()
        finally:
            for child in running:
                child.stop()
    return tuple(reports[job] for job in ordered)


class _Child:
    """One child process, in a session of its own so that its children can be ended with it."""

    def __init__(self, job: ImportJob, result: Path, limit_s: float) -> None:
        self.job = job
        self._result = result
        self._limit_s = limit_s
        self._began = time.monotonic()
        self._output = b""
        self._timed_out = False
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-X", "faulthandler", "-c", _CHILD),
                json.dumps([str(entry) for entry in sys.path]),
                *(str(result), str(limit_s), job.package, *job.device_types),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, AUTOLOAD_VARIABLE: "0"},
            start_new_session=True,
        )
        os.set_blocking(self.pipe.fileno(), False)
        self.printing = True

    @property
    def pipe(self) -> IO[bytes]:
        """What the child prints."""
        assert self._process.stdout is not None, "opened as a pipe"
        return self._process.stdout

    def read(self) -> None:
        """Keep the end of what it printed so far."""
        with suppress(BlockingIOError):
            chunk = os.read(self.pipe.fileno(), 65536)
            self._output = (self._output + chunk)[-_OUTPUT_KEPT:]
            self.printing = bool(chunk)

    def over(self) -> bool:
        """Whether it ended or its time is up; it is not reaped yet, so its group keeps its id."""
        ended = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        self._timed_out = ended is None and time.monotonic() - self._began > self._limit_s
        return ended is not None or self._timed_out

    def stop(self) -> int | None:
        """End the child and its process group; the exit status, or None if it cannot be killed."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        try:
            return self._process.wait(_KILL_LIMIT_S)
        except subprocess.TimeoutExpired:
            return None  # stuck in a driver call: not even SIGKILL ends that
        finally:
            self.pipe.close()

    def report(self) -> ImportReport:
        """What the result file and the exit status say."""
        self.read()
        seconds = time.monotonic() - self._began
        status = self.stop()
        lines = _result_lines(self._result)
        steps = [str(line["step"]) for line in lines if "step" in line]
        outcome, detail = _ending(lines, None if self._timed_out else status, self._limit_s)
        if self._timed_out and status is None:
            detail += "; it is stuck in the kernel and could not be ended"
        last = lines[-1] if outcome is ImportOutcome.LOADED else {}
        return ImportReport(
            job=self.job,
            outcome=outcome,
            step=steps[-1] if steps else "start",
            detail=detail,
            counts=last.get("counts", {}),
            count_errors=last.get("count_errors", {}),
            version=last.get("version", ""),
            output=self._output.decode("utf-8", "replace").strip(),
            seconds=seconds,
        )


def _read_output(children: Sequence[_Child]) -> None:
    """Wait one tick for output, so that no child blocks on a full pipe."""
    with selectors.DefaultSelector() as selector:
        for child in children:
            if child.printing:
                selector.register(child.pipe, selectors.EVENT_READ, child)
        for key, _ in selector.select(_TICK_S):
            key.data.read()


def _result_lines(path: Path) -> list[dict[str, Any]]:
    """The complete lines of a result file; a child that was killed may have cut the last one."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        return []
    lines = []
    for line in text.splitlines():
        with suppress(ValueError):
            lines.append(json.loads(line))
    return lines


def _ending(
    lines: Sequence[Mapping[str, Any]], status: int | None, limit_s: float
) -> tuple[ImportOutcome, str]:
    last = lines[-1] if lines else {}
    if status is None:
        return ImportOutcome.HUNG, f"no end within {limit_s:g} s"
    if status < 0:
        return ImportOutcome.KILLED, _signal_name(-status)
    if "error" in last:
        return ImportOutcome.RAISED, str(last["error"])
    if "counts" in last:
        return ImportOutcome.LOADED, ""
    return ImportOutcome.EXITED, f"exit status {status}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
