"""Sampling all boards for some seconds, and who was on them before and after."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from accelhal.doctor.watching.window import BoardWindow
from accelhal.facts import BoardKey, BoardReading, Telemetry
from accelhal.management.planes import open_management
from accelhal.management.remote import read_each
from accelhal.management.sampler import Reading, Sample, Sampler
from accelhal.registry import backends
from accelhal.spi import BackendSpec

PERIOD_S = 1.0
"""Seconds between samples: what drivers average utilisation over."""

SAMPLED: tuple[Reading, ...] = ("telemetry", "pcie", "memory_errors")

_TICK_S = 0.5


class Samples(Protocol):
    """What is read of boards in the background while its context lasts."""

    def samples(self, board: BoardKey) -> list[Sample]:
        """What is kept of the board, oldest first."""


MakeSampler = Callable[[Sequence[BoardKey], float, int], AbstractContextManager[Samples]]


def _sampler(boards: Sequence[BoardKey], period_s: float, history: int) -> Sampler:
    return Sampler(boards, period_s, history, SAMPLED)


def watch_boards(
    readings: Sequence[BoardReading],
    *,
    seconds: float,
    period_s: float = PERIOD_S,
    on_tick: Callable[[float], None] = lambda seconds: None,
    make_sampler: MakeSampler = _sampler,
    clock: Callable[[], float] = time.monotonic,
    wait: Callable[[float], None] = time.sleep,
) -> tuple[BoardWindow, ...]:
    """The boards that a driver lists, over a window of `seconds`.

    Args:
        readings: the boards as they are now.
        seconds: how long to look.
        period_s: seconds between samples.
        on_tick: told how many seconds are over, about twice a second.
        make_sampler: what reads them: boards, period, samples to keep.
        clock: seconds that go by.
        wait: lets them.
    """
    boards = {
        reading.board.key: reading
        for reading in readings
        if reading.board.key is not None and reading.board.source != "pci"
    }
    if not boards:
        return ()
    before = _processes(list(boards))
    with make_sampler(list(boards), period_s, math.ceil(seconds / period_s) + 1) as sampler:
        began = clock()
        while (passed := clock() - began) < seconds:
            on_tick(passed)
            wait(min(_TICK_S, seconds - passed))
    on_tick(seconds)
    after, answers = _processes(list(boards)), _answers(list(boards))
    return tuple(
        BoardWindow(
            reading,
            tuple(sampler.samples(key)),
            _through(before[key], after[key]),
            answers[key],
            seconds,
        )
        for key, reading in boards.items()
    )


def _through(before: frozenset[int] | None, after: frozenset[int] | None) -> frozenset[int] | None:
    return None if before is None or after is None else before & after


def _processes(boards: Sequence[BoardKey]) -> dict[BoardKey, frozenset[int] | None]:
    """Who is on each board; None where the driver does not tell."""
    return {
        board: frozenset(process.pid for process in found)
        if isinstance(found, (list, tuple))
        else None
        for board, found in _ask("processes", boards).items()
    }


def _answers(boards: Sequence[BoardKey]) -> dict[BoardKey, bool]:
    """Whether the driver answers for each board now."""
    return {
        board: isinstance(found, Telemetry) and "*" not in found.reasons
        for board, found in _ask("telemetry", boards).items()
    }


def _ask(method: str, boards: Sequence[BoardKey]) -> dict[BoardKey, object]:
    """The method's result for each board, or the exception in its place."""
    found: dict[BoardKey, object] = {}
    specs = _specs()
    for backend in dict.fromkeys(board.backend for board in boards):
        own = [board for board in boards if board.backend == backend]
        try:
            answers = read_each(open_management(specs[backend]), (method,), own)[method]
        except Exception as error:  # a plugin raises what it likes
            answers = [error] * len(own)
        found |= dict(zip(own, answers, strict=True))
    return found


def _specs() -> Mapping[str, BackendSpec]:
    return {backend.name: backend.spec for backend in backends() if backend.spec is not None}
