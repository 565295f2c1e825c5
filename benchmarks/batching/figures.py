"""What one round of one contender gave, and the clocks it was read from."""

from __future__ import annotations

import os
import resource
import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from benchmarks.batching.work import MAX_BATCH_SIZE, Tally

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Figures:
    """One round, or the medians of several.

    Attributes:
        cpu_us: CPU time of the whole process for a request, in microseconds.
        per_second: Requests answered in a second.
        tokens_per_second: Tokens without padding, where the model has them: unlike requests, the
            same work for a batcher that lets long requests wait.
        p50_ms: Median latency, where it was measured.
        p99_ms: 99th percentile of latency, where it was measured.
        fill: Mean share of the batch size that batches reached.
        efficiency: Tokens over tokens with padding, where the model has them.
        wakeups_per_second: Voluntary context switches while idle.
        cpu_share: CPU time of the whole process over wall time.
        others_share: CPU time of all other processes over that of the machine.
        stranded: Callers that had no answer some seconds after the last request.
    """

    cpu_us: float | None = None
    per_second: float | None = None
    tokens_per_second: float | None = None
    p50_ms: float | None = None
    p99_ms: float | None = None
    fill: float | None = None
    efficiency: float | None = None
    wakeups_per_second: float | None = None
    cpu_share: float | None = None
    others_share: float | None = None
    stranded: float | None = None


def medians(rounds: Sequence[Figures]) -> Figures:
    """The median of each figure over the rounds that have it."""
    columns: dict[str, float | None] = {}
    for name in Figures.__dataclass_fields__:
        values = [value for one in rounds if (value := asdict(one)[name]) is not None]
        columns[name] = statistics.median(values) if values else None
    return Figures(**columns)


def _machine_busy_seconds() -> float:
    with open("/proc/stat", encoding="ascii") as stat:
        user, nice, system, _idle, _iowait, irq, softirq, *_ = map(int, stat.readline().split()[1:])
    return (user + nice + system + irq + softirq) / _TICKS


@dataclass(frozen=True)
class Reading:
    """All clocks and counters at one moment."""

    wall: float
    cpu: float
    machine: float
    wakeups: int
    tally: Tally

    @classmethod
    def now(cls, tally: Tally) -> Reading:
        wakeups = resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw
        machine = _machine_busy_seconds()
        return cls(time.perf_counter(), time.process_time(), machine, wakeups, tally.copy())

    def figures(
        self,
        later: Reading,
        requests: int | None,
        latencies: Sequence[float] = (),
        stranded: int | None = None,
    ) -> Figures:
        """What happened between this reading and a later one.

        Args:
            later: The reading at the end.
            requests: How many were answered in between; none for an idle round.
            latencies: Of each request, in seconds, where they were taken.
            stranded: Callers left without an answer, where that was looked at.
        """
        wall, cpu = later.wall - self.wall, later.cpu - self.cpu
        others = max(0.0, later.machine - self.machine - cpu) / wall / (os.cpu_count() or 1)
        if requests is None:
            # The measuring thread's own sleep is one of the switches.
            wakeups = max(0, later.wakeups - self.wakeups - 1) / wall
            return Figures(wakeups_per_second=wakeups, cpu_share=cpu / wall, others_share=others)
        batches = later.tally.batches - self.tally.batches
        rows = later.tally.rows - self.tally.rows
        tokens = later.tally.tokens - self.tally.tokens
        padded = later.tally.padded_tokens - self.tally.padded_tokens
        cuts = statistics.quantiles(latencies, n=100) if len(latencies) > 1 else None
        return Figures(
            cpu_us=cpu / requests * 1e6 if requests else None,
            per_second=requests / wall,
            p50_ms=cuts[49] * 1e3 if cuts else None,
            p99_ms=cuts[98] * 1e3 if cuts else None,
            fill=rows / batches / MAX_BATCH_SIZE if batches else None,
            tokens_per_second=tokens / wall if padded else None,
            efficiency=tokens / padded if padded else None,
            cpu_share=cpu / wall,
            others_share=others,
            stranded=stranded,
        )
