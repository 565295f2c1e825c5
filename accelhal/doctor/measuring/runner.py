"""Measuring boards, each in a process of its own: loaded side by side, measured one by one."""

from __future__ import annotations

import json
import pickle
import tempfile
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from accelhal.doctor.board_names import board_name
from accelhal.doctor.child_process import ChildProcess, read_output, signal_name
from accelhal.doctor.measuring.outcomes import MeasuredBoard, Outcome
from accelhal.doctor.measuring.use import use_of
from accelhal.facts import BoardKey, BoardReading
from accelhal.facts.measured import BoardFigures

LOADED_AT_ONCE = 4
"""Children that import torch side by side, so that a board does not wait for it."""

START_LIMIT_S = 90.0
"""For importing torch and opening a backend, from a cold network file system."""

MEASURE_LIMIT_S = 60.0
"""For the figures of one board, which take two or three seconds."""

FIGURE_S = 0.25
"""For one figure."""

_PROGRAM = "accelhal.bench.board_child"
_READY = "waiting for its turn"
"""The step in which that program waits to be told to go on."""


def measure_boards(
    readings: Sequence[BoardReading],
    *,
    force: bool = False,
    seconds: float = FIGURE_S,
    start_limit_s: float = START_LIMIT_S,
    limit_s: float = MEASURE_LIMIT_S,
    on_start: Callable[[str], None] = lambda board: None,
) -> tuple[MeasuredBoard, ...]:
    """Measure the boards that are at rest, in their order; each pair of them once.

    Args:
        readings: the boards as they are now.
        force: whether to measure boards in use too.
        seconds: for each figure.
        start_limit_s: for a child to load torch and open the boards.
        limit_s: for a child to measure its board.
        on_start: told of each board before it is measured.
    """
    uses = {position: use_of(reading) for position, reading in enumerate(readings)}
    free = [position for position, use in uses.items() if force or not use]
    found = {
        position: MeasuredBoard(readings[position], Outcome.IN_USE, detail=use)
        for position, use in uses.items()
        if position not in free
    }
    waiting, loading = deque(free), deque[tuple[int, _Child]]()
    with tempfile.TemporaryDirectory(prefix="accelhal-doctor-") as folder:
        try:
            while waiting or loading:
                while waiting and len(loading) < LOADED_AT_ONCE:
                    position = waiting.popleft()
                    boards = [readings[i] for i in (position, *_behind(free, position))]
                    child = _Child(boards, Path(folder) / str(position), seconds, limit_s)
                    loading.append((position, child))
                position, first = loading[0]
                first.step_on(on_start)
                read_output([child.process for _, child in loading])
                if first.over(start_limit_s):
                    loading.popleft()
                    found[position] = first.report()
        finally:
            for _, child in loading:
                child.process.stop()
    return tuple(found[position] for position in range(len(readings)))


def _behind(free: Sequence[int], position: int) -> Sequence[int]:
    return [other for other in free if other > position]


class _Child:
    """The child that measures the first of some boards, and copies from it to the others."""

    def __init__(
        self, boards: Sequence[BoardReading], result: Path, seconds: float, limit_s: float
    ) -> None:
        self._reading = boards[0]
        self._figures = result.with_suffix(".figures")
        self._limit_s = limit_s
        self._going = False
        self._timed_out = False
        own = boards[0].board.backend
        keys = [_plain(b.board.key) for b in boards if b.board.key and b.board.backend == own]
        details = boards[0].details
        task = json.dumps(
            {
                "limit_s": limit_s,
                "seconds": seconds,
                "keys": keys,
                "cpus": (details.cpu_affinity if details else None) or (),
                "ready": _READY,
            }
        )
        self.process = ChildProcess(_PROGRAM, result, (str(self._figures), task), waits=True)

    def step_on(self, tell: Callable[[str], None]) -> None:
        """Let it measure once it waits for that."""
        if not self._going and _READY in self.process.steps:
            tell(board_name(self._reading))
            self._going = True
            self.process.go()

    def over(self, start_limit_s: float) -> bool:
        """Whether it ended, or its time is up."""
        if self.process.ended():
            return True
        self._timed_out = self.process.seconds > (self._limit_s if self._going else start_limit_s)
        return self._timed_out

    def report(self) -> MeasuredBoard:
        """What it wrote, and how it ended."""
        self.process.read()
        seconds = self.process.seconds
        status = self.process.stop()
        lines, steps = self.process.lines, self.process.steps
        last = lines[-1] if lines else {}
        step = steps[-1] if steps else "start"
        hung, failed = (Outcome.HUNG, Outcome.FAILED) if self._going else (Outcome.NOT_OPENED,) * 2
        if self._timed_out:
            stuck = "; it is stuck in the kernel and could not be ended" if status is None else ""
            detail = f"no end in {seconds:.0f} s{stuck}"
            return MeasuredBoard(self._reading, hung, detail=detail, step=step)
        figures = self._read()
        if figures is not None and "measured" in last:
            return MeasuredBoard(self._reading, Outcome.MEASURED, figures)
        if "hidden" in last:
            return MeasuredBoard(self._reading, Outcome.HIDDEN)
        if status is not None and status < 0:
            detail = signal_name(-status)
        else:
            detail = str(last.get("error", f"exit status {status}"))
        return MeasuredBoard(self._reading, failed, detail=detail, step=step)

    def _read(self) -> BoardFigures | None:
        with suppress(OSError, EOFError, pickle.UnpicklingError):
            found = pickle.loads(self._figures.read_bytes())
            return found if isinstance(found, BoardFigures) else None
        return None


def _plain(key: BoardKey) -> tuple[str, str, str]:
    return (key.backend, key.source, key.value)
