"""What split layers cost beside a hand-written pair and beside DTensor, all in one run.

    python benchmarks/parallel_layers.py

First two processes over gloo, a thread each: the forward pass of a feed-forward pair and of a
transformer block. Then one process whose collectives do nothing (torch's "fake" group): what the
host spends, which is what a board's queue waits for. Each round runs every variant once, in turn; a
ratio is the median over the rounds of the ratio within a round.
"""

from __future__ import annotations

import copy
import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module as torch_parallelize,
)

import accelhal.distributed
from accelhal.distributed import Launch, launch
from accelhal.parallel import parallelize_module

WORLD = 2
SHAPES = ((256, 1024, 1, 8), (512, 2048, 4, 32), (1024, 4096, 8, 64))
"""Width, width within the feed-forward pair, batch, length."""

HEADS = 8
ROUNDS = 120
LARGE_ROUNDS = 40
WARM_UP = 5

Models = Mapping[str, nn.Module]
HAND = "hand-written"


class Mlp(nn.Module):
    """A feed-forward pair."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(nn.functional.gelu(self.up(x)))


class Block(nn.Module):
    """A transformer block of six linear layers."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.head = width // HEADS
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))
        self.o = nn.Linear(width, width)
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mlp = Mlp(width, inner)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm_1(x)
        q, k, v = (
            layer(y).unflatten(-1, (-1, self.head)).transpose(-2, -3)
            for layer in (self.q, self.k, self.v)
        )
        attended = nn.functional.scaled_dot_product_attention(q, k, v)
        x = x + self.o(attended.transpose(-2, -3).flatten(-2))
        return x + self.mlp(self.norm_2(x))


# ---- the pair as one writes it by hand


class Copy(torch.autograd.Function):
    """The identity, whose gradients are summed over the ranks."""

    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        gradient = gradient.clone()
        dist.all_reduce(gradient)
        return gradient


class Reduce(torch.autograd.Function):
    """The sum over the ranks."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class HandColumn(nn.Module):
    """Split by output features."""

    def __init__(self, whole: nn.Linear, rank: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(whole.weight.detach().chunk(WORLD)[rank].clone())
        self.bias = nn.Parameter(whole.bias.detach().chunk(WORLD)[rank].clone())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.linear(Copy.apply(x), self.weight, self.bias)


class HandRow(nn.Module):
    """Split by input features."""

    def __init__(self, whole: nn.Linear, rank: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(whole.weight.detach().chunk(WORLD, 1)[rank].clone())
        self.bias = nn.Parameter(whole.bias.detach().clone())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return Reduce.apply(nn.functional.linear(x, self.weight)) + self.bias


def names(model: nn.Module) -> dict[str, str]:
    columns, rows = ("up", "q", "k", "v"), ("down", "o")
    return {
        name: "colwise" if name.rpartition(".")[2] in columns else "rowwise"
        for name, _ in model.named_modules()
        if name.rpartition(".")[2] in columns + rows
    }


def by_hand(model: nn.Module, rank: int) -> nn.Module:
    for name, style in names(model).items():
        whole = model.get_submodule(name)
        part = (HandColumn if style == "colwise" else HandRow)(whole, rank)
        parent, _, child = name.rpartition(".")
        setattr(model.get_submodule(parent), child, part)
    return model


def variants(model: nn.Module, mesh: DeviceMesh, rank: int) -> dict[str, nn.Module]:
    plan = names(model)
    styles = {"colwise": ColwiseParallel, "rowwise": RowwiseParallel}
    by_dtensor = {name: styles[style]() for name, style in plan.items()}
    return {
        HAND: by_hand(copy.deepcopy(model), rank),
        "accelhal": parallelize_module(copy.deepcopy(model), mesh, plan),
        "DTensor": torch_parallelize(copy.deepcopy(model), mesh, by_dtensor),
        "one device": model,
    }


# ---- measuring


def ratios(
    calls: Mapping[str, Callable[[], object]],
    rounds: int,
    clock: Callable[[], float],
    together: Callable[[], object],
) -> tuple[dict[str, float], float]:
    """Median ratio of each to the hand-written one, and the latter's median in microseconds."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for step in range(WARM_UP + rounds):
        for name, call in calls.items():
            together()
            begun = clock()
            call()
            if step >= WARM_UP:
                times[name].append(clock() - begun)
    hand = times[HAND]
    found = {
        name: statistics.median(one / other for one, other in zip(own, hand, strict=True))
        for name, own in times.items()
    }
    return found, statistics.median(hand) * 1e6


def table(title: str, columns: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> None:
    print(f"\n{title}\n{'':<26}" + "".join(f"{column:>16}" for column in columns))
    for name, cells in rows:
        print(f"{name:<26}" + "".join(f"{cell:>16}" for cell in cells), flush=True)


def kinds(width: int, inner: int) -> dict[str, nn.Module]:
    torch.manual_seed(0)
    return {"pair": Mlp(width, inner), "block": Block(width, inner)}


def forward(model: nn.Module, x: torch.Tensor, mode: Callable[[], AbstractContextManager[object]]):
    def call() -> torch.Tensor:
        with mode():
            return model(x)

    return call


def step(model: nn.Module, x: torch.Tensor) -> Callable[[], object]:
    parameters = list(model.parameters())

    def call() -> None:
        for parameter in parameters:
            parameter.grad = None
        model(x).sum().backward()

    return call


def over_gloo() -> None:
    me = accelhal.distributed.init("cpu")
    torch.set_num_threads(1)
    mesh = accelhal.distributed.mesh()
    for title, mode in (("no_grad", torch.no_grad), ("inference_mode", torch.inference_mode)):
        rows = []
        for width, inner, batch, length in SHAPES:
            for kind, model in kinds(width, inner).items():
                x = torch.randn(batch, length, width)
                calls = {
                    name: forward(one, x, mode)
                    for name, one in variants(model, mesh, me.rank).items()
                }
                rounds = LARGE_ROUNDS if width > 512 else ROUNDS
                found, hand = ratios(calls, rounds, time.perf_counter, dist.barrier)
                rows.append((f"{kind} {width}, {inner}, {batch}x{length}", cells(found, hand)))
        if me.rank == 0:
            table(f"forward, {title}, {WORLD} ranks over gloo", COLUMNS, rows)
    accelhal.distributed.shutdown()


COLUMNS = ("hand-written", "accelhal/hand", "DTensor/hand", "DTensor/accelhal", "hand/one device")


def cells(found: Mapping[str, float], hand: float) -> list[str]:
    return [
        f"{hand:.0f} us",
        f"{found['accelhal']:.2f}",
        f"{found['DTensor']:.2f}",
        f"{found['DTensor'] / found['accelhal']:.1f}",
        f"{1 / found['one device']:.2f}",
    ]


def on_the_host() -> None:
    from torch.testing._internal.distributed.fake_pg import FakeStore

    torch.set_num_threads(1)
    dist.init_process_group("fake", rank=0, world_size=WORLD, store=FakeStore())
    mesh = init_device_mesh("cpu", (WORLD,))
    rows = []
    for kind, model in kinds(64, 256).items():
        models = variants(model, mesh, 0)
        for shape in ((8, 64), (1, 8, 64)):
            if kind == "block" and len(shape) == 2:
                continue
            x = torch.randn(shape)
            wanted = torch.randn(shape, requires_grad=True)
            for what, calls in {
                "forward, no_grad": {n: forward(m, x, torch.no_grad) for n, m in models.items()},
                "forward, inference": {
                    n: forward(m, x, torch.inference_mode) for n, m in models.items()
                },
                "forward + backward": {n: step(m, wanted) for n, m in models.items()},
            }.items():
                found, hand = ratios(calls, 2 * ROUNDS, time.thread_time, lambda: None)
                rows.append((f"{kind} {len(shape)}-D {what}", cells(found, hand)))
    table("host time, collectives free", COLUMNS, rows)
    dist.destroy_process_group()


def main() -> None:
    if "RANK" in os.environ:
        over_gloo()
        return
    launch(Launch((__file__,), WORLD, device="cpu"))
    on_the_host()


if __name__ == "__main__":
    main()
