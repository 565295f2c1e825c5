"""What python mode of the simulated boards costs: time per call, as multiples of plain CPU tensors.

    python benchmarks/mock_costs.py [--rounds 40]

Plain and simulated calls take turns; the smallest processor time of each counts, so that a busy
host spoils the ratios little. One thread, so that torch's own time is the same in both.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import accelhal_mock
import torch

Work = Callable[[], object]

CALLS = {
    "empty": 200,
    "add": 200,
    "add_": 200,
    "view": 200,
    "mm 64x64": 200,
    "add 1M": 20,
    "linear 8x64": 200,
    "copy from host": 200,
    "copy to host": 200,
    "training step": 20,
}
"""Calls in one timing: few enough that some timings are undisturbed."""


def workload(device: str) -> dict[str, Work]:
    """The measured calls, on one device."""
    small, other = torch.ones(16, device=device), torch.ones(16, device=device)
    matrix = torch.ones(64, 64, device=device)
    large = torch.ones(1024, 1024, device=device)
    linear = torch.nn.Linear(64, 64).to(device)
    inputs = torch.ones(8, 64, device=device)
    labels = torch.zeros(8, dtype=torch.long, device=device)
    net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10)).to(
        device
    )
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    host = torch.ones(16)

    def step() -> None:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(inputs), labels).backward()
        optimizer.step()

    return {
        "empty": lambda: torch.empty(16, device=device),
        "add": lambda: small + other,
        "add_": lambda: small.add_(other),
        "view": lambda: small[2:],
        "mm 64x64": lambda: matrix @ matrix,
        "add 1M": lambda: large + large,
        "linear 8x64": lambda: linear(inputs),
        "copy from host": lambda: host.to(device, copy=True),
        "copy to host": lambda: small.to("cpu", copy=True),
        "training step": step,
    }


def best_times(works: dict[str, Work], calls: int, rounds: int) -> dict[str, float]:
    """Smallest time per call of each work, in microseconds; the works take turns."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(rounds):
        for name, work in works.items():
            begin = time.thread_time()
            for _ in range(calls):
                work()
            best[name] = min(best[name], (time.thread_time() - begin) / calls * 1e6)
    return best


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=40)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    machine = accelhal_mock.install(count=1, mode="python", hazards="off").machine
    plain, board = workload("cpu"), workload("mock:0")
    print(f"{'':16}{'plain us':>10}{'hazards off':>14}{'hazards on':>14}")
    for name, calls in CALLS.items():

        def with_hazards(work: Work = board[name]) -> object:
            machine.hazards.active = True
            try:
                return work()
            finally:
                machine.hazards.active = False

        works = {"plain": plain[name], "off": board[name], "on": with_hazards}
        for work in works.values():
            work()
        times = best_times(works, calls, rounds)
        print(
            f"{name:16}{times['plain']:>10.1f}"
            f"{times['off'] / times['plain']:>13.1f}x{times['on'] / times['plain']:>13.1f}x"
        )


if __name__ == "__main__":
    main()
