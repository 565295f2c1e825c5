"""One sampler for all boards: readings in a ring buffer, and rates from counters."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import TracebackType
from typing import Any, Literal

from accelhal.errors import BackendNotFoundError, UsageError, described
from accelhal.facts import BoardKey, MemoryErrors, PcieLink, Telemetry
from accelhal.management.planes import open_management
from accelhal.management.remote import read_each
from accelhal.registry import backends
from accelhal.spi import BackendSpec

Reading = Literal["telemetry", "pcie", "memory_errors"]

STOP_LIMIT_S = 1.0
"""How long `stop` waits for a reading under way; a driver that hangs is left behind."""

_COUNTERS: Mapping[type, tuple[str, ...]] = {
    PcieLink: ("replays",),
    MemoryErrors: ("corrected", "uncorrected", "corrected_total", "uncorrected_total", "repaired"),
}


@dataclass(frozen=True)
class Sample:
    """What was read of one board at one moment.

    Attributes:
        time: seconds of time.monotonic(), when the readings were taken.
        readings: method of Management -> its result, or the exception in its place.
    """

    time: float
    readings: Mapping[str, Any]

    @property
    def telemetry(self) -> Telemetry:
        """The sensors; empty with the reason where they could not be read."""
        found = self.readings.get("telemetry")
        if isinstance(found, Telemetry):
            return found
        reason = "not sampled" if found is None else described(found)
        return Telemetry(reasons={"*": reason})


class Sampler:
    """Reads boards every `period_s` seconds in the background; a context manager.

    One thread a backend: a driver that hangs stops no other. A reading that takes longer than the
    period delays the next, it does not pile up.

    Args:
        boards: the boards to read.
        period_s: seconds between readings.
        history: readings kept of each board; older ones are dropped.
        readings: what to read each time.

    Raises:
        UsageError: no period, no history or no reading.
        BackendNotFoundError: a board's backend is not installed.
    """

    def __init__(
        self,
        boards: Iterable[BoardKey],
        period_s: float = 1.0,
        history: int = 600,
        readings: Sequence[Reading] = ("telemetry",),
    ) -> None:
        if not period_s > 0 or history < 1 or not readings:
            raise UsageError(
                f"a sampler with period_s={period_s!r}, history={history!r}, "
                f"readings={readings!r} would read nothing",
                operation="Sampler",
                hint="give a period above 0 s, a history of at least 1 and one reading",
            )
        self._period_s = period_s
        self._readings = tuple(readings)
        self._samples: dict[BoardKey, deque[Sample]] = {
            board: deque(maxlen=history) for board in boards
        }
        self._stopping = threading.Event()
        self._threads = [
            threading.Thread(
                target=self._run, args=(spec,), name=f"accelhal sampler {spec.name}", daemon=True
            )
            for spec in _specs(self._samples)
        ]

    def __enter__(self) -> Sampler:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Begin to read. A sampler is started once."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End the threads; what was read stays."""
        self._stopping.set()
        deadline = time.monotonic() + STOP_LIMIT_S
        for thread in self._threads:
            if thread.is_alive():
                thread.join(max(0.0, deadline - time.monotonic()))

    def latest(self) -> dict[BoardKey, Sample]:
        """The newest sample of each board that was read at all."""
        return {board: ring[-1] for board, ring in self._samples.items() if ring}

    def samples(self, board: BoardKey) -> list[Sample]:
        """What is kept of the board, oldest first.

        Raises:
            UsageError: this sampler does not read the board.
        """
        if board not in self._samples:
            raise UsageError(f"this sampler does not read {board}", operation="samples")
        return list(self._samples[board])

    def rates(self, board: BoardKey, window_s: float = 60.0) -> dict[str, float]:
        """Counter -> counts per second over the last `window_s` seconds of samples.

        A counter that falls was reset; what it lost is not counted.
        """
        since = time.monotonic() - window_s
        return counter_rates([s for s in self.samples(board) if s.time >= since])

    def _run(self, spec: BackendSpec) -> None:
        boards = [board for board in self._samples if board.backend == spec.name]
        while True:
            started = time.monotonic()
            found = self._read(spec, boards)
            for number, board in enumerate(boards):
                readings = {name: answers[number] for name, answers in found.items()}
                self._samples[board].append(Sample(started, readings))
            if self._stopping.wait(max(0.0, started + self._period_s - time.monotonic())):
                return

    def _read(self, spec: BackendSpec, boards: Sequence[BoardKey]) -> dict[str, list[Any]]:
        try:
            management = open_management(spec)
        except Exception as error:  # a plugin raises what it likes
            return {name: [error] * len(boards) for name in self._readings}
        return read_each(management, self._readings, boards)


def _specs(boards: Iterable[BoardKey]) -> list[BackendSpec]:
    known = {backend.name: backend.spec for backend in backends()}
    found = []
    for name in dict.fromkeys(board.backend for board in boards):
        spec = known.get(name)
        if spec is None:
            raise BackendNotFoundError(
                f"no installed backend {name!r} reads the boards to sample",
                backend=name,
                operation="Sampler",
                hint="take the boards from accelhal.boards()",
            )
        found.append(spec)
    return found


def counter_rates(samples: Sequence[Sample]) -> dict[str, float]:
    """Counter -> counts per second over samples in the order of time; empty for fewer than two."""
    rates: dict[str, float] = {}
    for kind, names in _COUNTERS.items():
        series = [
            (sample.time, reading)
            for sample in samples
            for reading in sample.readings.values()
            if isinstance(reading, kind)
        ]
        for name in names:
            known = [(at, getattr(r, name)) for at, r in series if getattr(r, name) is not None]
            if len(known) < 2 or known[-1][0] <= known[0][0]:
                continue
            steps = pairwise(known)
            grown = sum(max(0, after - before) for (_, before), (_, after) in steps)
            rates[name] = grown / (known[-1][0] - known[0][0])
    return rates
