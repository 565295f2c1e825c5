"""What one call through `accelhal.Device` costs over the call beneath it, in one run.

`synchronize` is compared with torch's own; the getters with the runtime's method. The getters'
work varies more than a microsecond from call to call, so the facade's share is also measured over
a runtime that does nothing.
"""

from __future__ import annotations

import statistics
import timeit
from collections.abc import Callable

import torch

import accelhal
from accelhal.facade import Device
from accelhal.registry import OpenBackend
from accelhal.runtimes.cpu import CpuRuntime
from accelhal.runtimes.cpu_spec import SPEC

CALLS = 20_000
ROUNDS = 15


class IdleRuntime(CpuRuntime):
    """Answers at once, so that what is measured is the facade."""

    def memory_allocated(self, index: int) -> int:
        return 0

    def synchronize(self, index: int) -> None:
        return None


def microseconds(first: Callable[[], object], second: Callable[[], object]) -> tuple[float, float]:
    """Smallest time of each, rounds taken in turn so that both meet the same noise."""
    pairs = [
        (timeit.timeit(first, number=CALLS), timeit.timeit(second, number=CALLS))
        for _ in range(ROUNDS)
    ]
    return min(a for a, _ in pairs) / CALLS * 1e6, min(b for _, b in pairs) / CALLS * 1e6


def main() -> None:
    cpu = accelhal.device("cpu")
    runtime = CpuRuntime()
    idle_runtime = IdleRuntime()
    idle = Device(OpenBackend(SPEC, idle_runtime, "benchmark"), 0)
    rows = {
        "synchronize / torch.cpu.synchronize": (cpu.synchronize, torch.cpu.synchronize),
        "synchronize / idle runtime": (idle.synchronize, lambda: idle_runtime.synchronize(0)),
        "memory_allocated / idle runtime": (
            idle.memory_allocated,
            lambda: idle_runtime.memory_allocated(0),
        ),
        "mem_get_info / runtime": (cpu.mem_get_info, lambda: runtime.mem_get_info(0)),
    }
    print(f"{'call':<38}{'facade':>10}{'beneath':>10}{'over':>10}{'ratio':>8}")
    over = []
    for name, (facade, beneath) in rows.items():
        ours, theirs = microseconds(facade, beneath)
        over.append(ours - theirs)
        print(f"{name:<38}{ours:>7.2f} us{theirs:>7.2f} us{over[-1]:>7.2f} us{ours / theirs:>8.1f}")
    print(f"median over: {statistics.median(over):.2f} us")


if __name__ == "__main__":
    main()
