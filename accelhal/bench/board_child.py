"""The program of a child process: wait for the turn, measure one board, write down its figures."""

from __future__ import annotations

import json
import os
import pickle
import resource
import signal
import sys
from pathlib import Path
from typing import Any

from accelhal.errors import described
from accelhal.facts import BoardKey
from accelhal.management.planes import end_driver_processes


def main() -> None:
    """Arguments: file for the steps, file for the pickled figures, and a task in JSON.

    Of the task's keys the first is the board's; to the others it copies. In the step that the task
    calls "ready", torch is loaded and no board has work; it ends with standard input, which ends
    too where the parent is gone.
    """
    steps_path, figures_path, task = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash must not leave gigabytes behind
    with Path(steps_path).open("w", encoding="utf-8") as steps:

        def write(**line: Any) -> None:
            steps.write(json.dumps(line) + "\n")
            steps.flush()

        try:
            _measure(json.loads(task), Path(figures_path), write)
        except BaseException as error:  # vendor packages raise OSError, AssertionError, SystemExit
            write(error=described(error))
    end_driver_processes()
    os._exit(0)  # vendor clean-up at exit may hang, and is not what was asked


def _measure(task: dict[str, Any], figures_path: Path, write: Any) -> None:
    _stay_near(set(task["cpus"]))
    write(step="import torch")
    from accelhal.bench.board_figures import measure_board, visible_boards

    own, *others = [BoardKey(*key) for key in task["keys"]]
    write(step="open the boards")
    visible = visible_boards(own.backend, [own, *others])
    write(step=task["ready"])
    sys.stdin.read()
    signal.alarm(int(task["limit_s"]) + 5)  # ends this process should its parent be gone
    if own not in visible:
        write(hidden=True)
        return
    peers = {key: visible[key] for key in others if key in visible}
    figures = measure_board(
        visible[own], peers, seconds=task["seconds"], on_step=lambda step: write(step=step)
    )
    figures_path.write_bytes(pickle.dumps(figures))
    write(measured=True)


def _stay_near(cpus: set[int]) -> None:
    """Run on the CPUs near the board, so that copies do not cross the host."""
    allowed = cpus & os.sched_getaffinity(0)
    if allowed:
        os.sched_setaffinity(0, allowed)
