"""What is measured: who calls which model how, and the target against which rival."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Driver = Literal["async", "lone", "threads", "idle"]
Against = Literal["peers", "FIFO peers", "peers on the loop", "floor", "ideal", "none"]


@dataclass(frozen=True)
class Target:
    """What our figure must be, as a ratio to a rival's of the same run, or by itself.

    Attributes:
        figure: Field of the medians that is compared.
        bound: The largest ratio where less is better, else the smallest; none where the ratio is
            for information.
        less_is_better: Which way the figure is read.
        against: The best figure of the peers at any setting that leaves the callers' loop free as
            ours does; of those that also take requests first come first served whatever their
            length; of those that run the model on the loop; the floor's, the least that a thread
            for the model can do; the ideal loop's; or none.
    """

    figure: str
    bound: float | None
    less_is_better: bool
    against: Against = "peers"


@dataclass(frozen=True)
class Workload:
    """One way of calling one model."""

    name: str
    title: str
    model: str
    driver: Driver
    callers: int
    targets: tuple[Target, ...]


# The targets are the project's own; they stand here once.
WORKLOADS = (
    Workload(
        "noop",
        "no-op model, 256 asyncio callers",
        "noop",
        "async",
        256,
        (
            Target("cpu_us", 0.5, less_is_better=True),
            Target("cpu_us", None, less_is_better=True, against="peers on the loop"),
            Target("cpu_us", None, less_is_better=True, against="floor"),
        ),
    ),
    Workload(
        "mlp",
        "small MLP, 256 asyncio callers",
        "mlp",
        "async",
        256,
        (
            Target("cpu_us", 0.45, less_is_better=True),
            Target("cpu_us", None, less_is_better=True, against="peers on the loop"),
            Target("cpu_us", None, less_is_better=True, against="floor"),
        ),
    ),
    Workload(
        "few",
        "small MLP, 16 asyncio callers for batches of 32",
        "mlp",
        "async",
        16,
        (
            Target("per_second", 1.4, less_is_better=False),
            Target("per_second", None, less_is_better=False, against="peers on the loop"),
            Target("per_second", None, less_is_better=False, against="floor"),
        ),
    ),
    Workload(
        "lone",
        "no-op model, one asyncio caller",
        "noop",
        "lone",
        1,
        (
            Target("p50_ms", 0.9, less_is_better=True),
            Target("p50_ms", None, less_is_better=True, against="peers on the loop"),
            Target("p50_ms", None, less_is_better=True, against="floor"),
        ),
    ),
    Workload(
        "device",
        "simulated device (1 ms + 10 us an item), 256 asyncio callers",
        "device",
        "async",
        256,
        (
            Target("per_second", 0.98, less_is_better=False, against="ideal"),
            Target("per_second", None, less_is_better=False, against="floor"),
        ),
    ),
    Workload(
        "encoder",
        "encoder, 4 to 128 tokens, 256 asyncio callers",
        "encoder",
        "async",
        256,
        (
            Target(
                "tokens_per_second",
                3.0,
                less_is_better=False,
                against="FIFO peers",
            ),
            Target("tokens_per_second", 1.0, less_is_better=False),
            Target("efficiency", 0.85, less_is_better=False, against="none"),
        ),
    ),
    Workload(
        "threads",
        "no-op model, 32 threads",
        "noop",
        "threads",
        32,
        (Target("cpu_us", 0.8, less_is_better=True),),
    ),
    Workload(
        "idle",
        "no caller, after 100 requests",
        "noop",
        "idle",
        0,
        (Target("wakeups_per_second", 0.0, less_is_better=True, against="none"),),
    ),
)
BY_NAME = {one.name: one for one in WORKLOADS}
