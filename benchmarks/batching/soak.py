"""Wears our batcher out: `python -m benchmarks.batching.soak --minutes 10`, from the root.

Threads and coroutines ask with several lengths; some give up, some set deadlines, some send poison,
a crowd overfills the queue, and lanes lose their device and are replaced. Every answer is checked
to be its caller's own. Exits with 1 when a request is left without an answer, is answered twice, or
gets another's answer or fault.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections import Counter
from dataclasses import dataclass

import click
import torch

from accelhal import DynamicBatcher
from accelhal.batching.lane import DirectLane
from benchmarks.batching.soak_callers import COROUTINES, THREADS, Callers
from benchmarks.batching.soak_ledger import Ledger
from benchmarks.batching.soak_model import Model

LANES = 2
QUEUE = 384
_END_SECONDS = 90.0


@dataclass(frozen=True)
class Minute:
    """One minute's figures."""

    served_per_second: float
    cpu_us: float
    rss_mib: float
    deaths: int
    outcomes: Counter[str]


def _rss_mib() -> float:
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def _one_minute(model: Model, ledger: Ledger, seconds: float, deaths: int) -> Minute:
    """Let it run for `seconds`, and kill so many lanes meanwhile."""
    before = ledger.snapshot()
    start, cpu = time.monotonic(), time.process_time()
    for death in range(deaths):
        time.sleep(max(0.0, start + seconds * (death + 0.5) / deaths - time.monotonic()))
        model.kill_a_lane()
    time.sleep(max(0.0, start + seconds - time.monotonic()))
    outcomes = ledger.snapshot() - before
    wall, cpu = time.monotonic() - start, time.process_time() - cpu
    served = outcomes["served"]
    return Minute(served / wall, cpu / max(1, served) * 1e6, _rss_mib(), deaths, outcomes)


def _told(number: int, minute: Minute) -> str:
    others = ", ".join(
        f"{count} {name}" for name, count in sorted(minute.outcomes.items()) if name != "served"
    )
    return (
        f"{number:>6}{minute.served_per_second:>10,.0f}/s{minute.cpu_us:>9.1f} us"
        f"{minute.rss_mib:>9.1f} MiB{minute.deaths:>7}  {others}"
    )


@click.command(help="Mixed load on one batcher for minutes; every answer is checked.")
@click.option("--minutes", default=10, type=click.IntRange(1), show_default=True)
@click.option("--seconds", default=60.0, type=click.FloatRange(1), help="Length of a minute.")
@click.option("--deaths", default=3, type=click.IntRange(0), help="Lanes lost in each minute.")
def main(minutes: int, seconds: float, deaths: int) -> None:
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", message="batching: lane .* was lost")  # each loss is told
    model, ledger = Model(), Ledger()
    spare = minutes * deaths
    batcher = DynamicBatcher(
        max_batch_size=32,
        collate="pad",
        pad_value=0,
        lengths="lengths",
        max_queue_size=QUEUE,
        lanes=[DirectLane(model, f"lane {number}") for number in range(LANES)],
        standby=[DirectLane(model, f"spare {number}") for number in range(spare)],
    )
    callers = Callers(batcher, ledger)
    print(f"{THREADS} threads, {COROUTINES} coroutines, {LANES} lanes, {os.cpu_count()} CPUs")
    print(f"load average {os.getloadavg()[0]:.2f} before")
    print(f"{'minute':>6}{'served':>12}{'CPU':>12}{'RSS':>13}{'deaths':>7}  other outcomes")
    callers.start()
    seen = []
    for number in range(1, minutes + 1):
        seen.append(_one_minute(model, ledger, seconds, deaths))
        print(_told(number, seen[-1]), flush=True)
    stuck = callers.stop(_END_SECONDS)
    stats = batcher.stats()
    if not batcher.close():
        print("the batcher's threads have not ended")
        stuck += 1
    sys.exit(_verdict(ledger, seen, stuck, stats.failovers))


def _verdict(ledger: Ledger, seen: list[Minute], stuck: int, failovers: int) -> int:
    first, last = seen[0], seen[-1]
    print(f"load average {os.getloadavg()[0]:.2f} after; {failovers} batches run again elsewhere")
    print("all: " + ", ".join(f"{n} {name}" for name, n in sorted(ledger.snapshot().items())))
    drift = last.served_per_second / first.served_per_second - 1
    print(
        f"last minute against first: throughput {drift:+.1%} (at most 5 % less is wanted), "
        f"CPU a request {last.cpu_us / first.cpu_us - 1:+.1%}, "
        f"RSS {last.rss_mib - first.rss_mib:+.1f} MiB"
    )
    for fault in ledger.faults:
        print(f"FAULT: {fault}")
    print(f"{ledger.unanswered} unanswered, {stuck} stuck")
    return int(bool(ledger.faults or ledger.unanswered or stuck))


if __name__ == "__main__":
    main()
