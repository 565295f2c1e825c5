"""Runs contenders in turn, round after round, so that all of them meet the same noise."""

from __future__ import annotations

import json
import os
import select
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.batching.contenders import FLOOR, IDEAL, PEERS
from benchmarks.batching.figures import Figures, medians
from benchmarks.batching.interpreters import Interpreters
from benchmarks.batching.workloads import Workload

ROOT = Path(__file__).resolve().parents[2]
_ANSWER_SECONDS = 120


class Left(Exception):
    """A contender that cannot be measured, and why."""


@dataclass(frozen=True)
class Timing:
    """How long and how often each contender runs each workload.

    Attributes:
        rounds: Rounds, of which the median is taken.
        warm: Seconds of a round before the clocks are read.
        seconds: Seconds between their readings.
        idle_seconds: The same while nobody calls, in one round: some wake up once a second.
    """

    rounds: int
    warm: float
    seconds: float
    idle_seconds: float


@dataclass
class Row:
    """One contender at one setting in one workload.

    Attributes:
        contender: Its module.
        setting: One of its own.
        knows_lengths: The setting is its answer to requests of several lengths.
        on_loop: The callers' event loop stands still while the model runs.
        rounds: What was measured.
        error: Why it was not, or not to the end.
    """

    contender: str
    setting: str
    knows_lengths: bool = False
    on_loop: bool = False
    rounds: list[Figures] = field(default_factory=list)
    error: str | None = None

    @property
    def median(self) -> Figures:
        return medians(self.rounds)


class Contender:
    """One batcher's process, and what it said of itself.

    Args:
        name: Module in `benchmarks.batching.contenders`.
        python: Interpreter that has its package.
    """

    def __init__(self, name: str, python: str) -> None:
        self.name = name
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        # One thread for a model's arithmetic, in every thread: what is compared are batchers.
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [python, "-m", "benchmarks.batching.child", name],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
        )

    def introduce(self) -> None:
        """Waits until it has imported its package.

        Raises:
            Left: It could not be imported there.
        """
        about = self._answer()
        if "error" in about:
            self.close()
            raise Left(about["error"])
        self._settings: dict[str, dict[str, Any]] = about["settings"]
        self._threads: bool = about["threads"]

    def settings(self, workload: Workload) -> list[str]:
        """The settings that the workload can be run at; none where it cannot."""
        if self.name == IDEAL:
            fits = workload.driver == "async"
        elif self.name == FLOOR:
            fits = workload.driver in ("async", "lone")
        else:
            fits = workload.driver != "threads" or self._threads
        on_loop = any(target.against == "peers on the loop" for target in workload.targets)
        return [
            name
            for name, about in self._settings.items()
            if fits and about["only"] in (None, workload.name) and on_loop >= about["on_loop"]
        ]

    def row(self, setting: str) -> Row:
        """A row for its rounds at a setting."""
        about = self._settings[setting]
        return Row(self.name, setting, about["only"] == "encoder", about["on_loop"])

    def run(self, workload: Workload, setting: str, timing: Timing) -> Figures:
        """One round.

        Raises:
            Left: It failed or did not end.
        """
        asked = {
            "workload": workload.name,
            "setting": setting,
            "warm": timing.warm,
            "seconds": timing.idle_seconds if workload.driver == "idle" else timing.seconds,
        }
        assert self._process.stdin is not None
        print(json.dumps(asked), file=self._process.stdin, flush=True)
        answer = self._answer()
        if "error" in answer:
            raise Left(answer["error"])
        return Figures(**answer["figures"])

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        # The child limits each round by itself; this is for one that does not even import.
        if not select.select([self._process.stdout], [], [], _ANSWER_SECONDS)[0]:
            self._process.kill()
            return {"error": f"its process said nothing for {_ANSWER_SECONDS} s"}
        line = self._process.stdout.readline()
        if line:
            return json.loads(line)
        self._process.wait(10)
        self._said.seek(0)
        said = self._said.read().decode(errors="replace").strip().splitlines()
        return {"error": said[-1] if said else f"exit status {self._process.returncode}"}

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()
        self._said.close()


def opened(
    names: Iterable[str], interpreters: Interpreters
) -> tuple[list[Contender], dict[str, str]]:
    """Each contender in an interpreter that has its package, and why others are left out."""
    pythons = {name: interpreters.having(PEERS.get(name)) for name in names}
    started = {name: Contender(name, python) for name, python in pythons.items() if python}
    left_out = {
        name: f"{PEERS[name]} is not installed" for name, python in pythons.items() if not python
    }
    contenders = []
    for name, one in started.items():
        try:
            one.introduce()
            contenders.append(one)
        except Left as reason:
            left_out[name] = str(reason)
    return contenders, left_out


def run_workload(
    workload: Workload,
    contenders: Sequence[Contender],
    timing: Timing,
    progress: Callable[[str], None],
) -> list[Row]:
    """All rounds of one workload: every contender once, then every contender again.

    Args:
        workload: What is run.
        contenders: Who takes part; those that cannot run it are passed over.
        timing: How long and how often.
        progress: Is told what runs now.
    """
    entries = [(one, one.row(setting)) for one in contenders for setting in one.settings(workload)]
    for number in range(1 if workload.driver == "idle" else timing.rounds):
        for contender, row in entries:
            if row.error is not None:
                continue
            progress(f"{workload.name}: round {number + 1}, {row.contender} ({row.setting})")
            try:
                row.rounds.append(contender.run(workload, row.setting, timing))
            except Left as reason:
                row.error = str(reason)
    return [row for _, row in entries]
