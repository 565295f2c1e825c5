"""What a call of GraphedModule costs over the bare replay of its graph, in one run.

On simulated boards a replay computes on the host, so the cost over it depends on the model. What
is accelhal's own (reading the batch, looking whether the model changed, locks) grows only with the
number of its tensors: the last column is its time over the same copies and replay written by hand.
Times are the thread's on the processor, which other work on the machine disturbs least.
"""

from __future__ import annotations

import time
import timeit
from collections.abc import Callable

import torch

import accelhal
from accelhal.facade import Device
from accelhal.graphs import GraphedModule, graph

CALLS = 50
ROUNDS = 9
WIDTH = 16
ROWS = 8


def by_hand(device: Device, model: torch.nn.Module, x: torch.Tensor) -> tuple[object, ...]:
    """A bare replay; and the replay with its input copied in and its output copied out."""
    static = x.clone()
    model(static)
    with graph(device) as recorded:
        result = model(static)

    def with_copies() -> torch.Tensor:
        static.copy_(x)
        recorded.replay()
        return result.clone()

    return recorded.replay, with_copies


def microseconds(*functions: Callable[[], object]) -> list[float]:
    """Smallest time of each, rounds taken in turn so that all meet the same noise."""
    rounds = [
        [timeit.timeit(one, timer=time.thread_time, number=CALLS) for one in functions]
        for _ in range(ROUNDS)
    ]
    return [min(times) / CALLS * 1e6 for times in zip(*rounds, strict=True)]


def main() -> None:
    import accelhal_mock

    accelhal_mock.install(count=1, memory="256MiB", mode="python")
    device = accelhal.device("mock:0")
    print(f"{'linear layers':<15}{'eager':>10}{'replay':>10}{'by hand':>10}{'call':>10}", end="")
    print(f"{'call/replay':>13}{'call/by hand':>14}{'eager/call':>12}{'own':>9}")
    for depth in (1, 8, 64):
        layers = [torch.nn.Linear(WIDTH, WIDTH) for _ in range(depth)]
        model = torch.nn.Sequential(*layers).eval().to(device.torch_device)
        x = torch.randn(ROWS, WIDTH, device=device.torch_device)
        with torch.inference_mode():
            replay, with_copies = by_hand(device, model, x)
            graphed = GraphedModule(model, (ROWS,))
            assert torch.equal(graphed(x), model(x))
            times = microseconds(
                lambda model=model, x=x: model(x),
                replay,
                with_copies,
                lambda graphed=graphed, x=x: graphed(x),
            )
        print(f"{depth:<15}" + "".join(f"{one:>7.0f} us" for one in times), end="")
        eager, bare, hand, call = times
        print(
            f"{call / bare:>13.2f}{call / hand:>14.2f}{eager / call:>12.2f}{call - hand:>6.0f} us"
        )


if __name__ == "__main__":
    main()
