"""What each policy of BatchSplitter makes of unequal devices, and what prefetching saves.

Everything is in simulated time: the figures are the same on every machine. Efficiency is what all
devices give together over the sum of what each gives alone: accelhal.parallel.splitting.simulation.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import accelhal_mock
import torch

import accelhal
from accelhal.parallel.prefetching import prefetch
from accelhal.parallel.splitting.simulation import Scenario, efficiency, pull_efficiency

POLICIES = ("equal", "weighted", "ewma", "guided", "pull", "auto")
SEEDS = range(5)

CHEAP = {"launch": 0.25, "half": 0.0}
DEAR = {"launch": 1.0, "half": 4.0}
DEARER = {"launch": 8.0, "half": 4.0}

SCENARIOS = {
    "1:0.5 cheap, 2 %": Scenario(**CHEAP),
    "1:0.5 cheap, 10 %": Scenario(**CHEAP, sigma=0.1),
    "1:0.5 cheap, 5 %, slow one -30 % for a third": Scenario(**CHEAP, sigma=0.05, slowdown=0.7),
    "1:0.5 cheap, 5 %, profile 30 % wrong": Scenario(**CHEAP, sigma=0.05, profile=(1, 0.65)),
    "1:0.5 dear, 2 %": Scenario(**DEAR),
    "1:0.5 dear, 10 %": Scenario(**DEAR, sigma=0.1),
    "1:0.5 dear, 5 %, profile 30 % wrong": Scenario(**DEAR, sigma=0.05, profile=(1, 0.65)),
    "1:0.8 cheap, 10 %": Scenario(speeds=(1, 0.8), **CHEAP, sigma=0.1),
    "1:0.8 dear, 10 %": Scenario(speeds=(1, 0.8), **DEAR, sigma=0.1),
    "1:0.8 dear, 5 %, profile 30 % wrong": Scenario(
        speeds=(1, 0.8), **DEAR, sigma=0.05, profile=(1, 1.04)
    ),
    "1:0.5 launch 8, 5 %": Scenario(**DEARER, sigma=0.05),
    "1:0.9:0.4:0.3 cheap, 5 %": Scenario(speeds=(1, 0.9, 0.4, 0.3), **CHEAP, sigma=0.05),
}


def mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)


def policies() -> None:
    print(f"{'':46}" + "".join(f"{policy:>10}" for policy in POLICIES))
    for name, scenario in SCENARIOS.items():
        figures = (
            mean(efficiency(replace(scenario, seed=seed), policy) for seed in SEEDS)
            for policy in POLICIES
        )
        print(f"{name:46}" + "".join(f"{figure:10.3f}" for figure in figures))
    for ratio in (0.5, 0.8):
        scenario = Scenario(speeds=(1, ratio), sigma=0.1)
        figure = mean(pull_efficiency(replace(scenario, seed=seed)) for seed in SEEDS)
        print(f"1:{ratio} cheap, 10 %, whole batches without a barrier: {figure:.3f}")


def overlap() -> None:
    accelhal_mock.install(count=1, mode="python", memory="256MiB", hazards="raise")
    board = accelhal.device("mock:0")
    clock = accelhal_mock.machine().clock
    weight = torch.ones(1024, 1024, device=board.torch_device)
    batches = [torch.ones(64, 1024) for _ in range(50)]

    def seconds(loader: Iterable[torch.Tensor], products: int) -> float:
        before = clock.now()
        for batch in loader:
            batch = batch.to(board.torch_device)
            for _ in range(products):
                batch @ weight
        board.synchronize()
        return clock.now() - before

    for products in (1, 4):
        naive, ahead = seconds(batches, products), seconds(prefetch(batches, board), products)
        print(f"prefetch, {products} products a batch: {naive / ahead:.2f} x the plain loop")


if __name__ == "__main__":
    policies()
    overlap()
