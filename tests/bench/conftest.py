"""Models that fail on demand, and a backend whose events and memory counts are its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch
from fake_spec import fake_spec

import accelhal
from accelhal.bench import Workload
from accelhal.runtimes.cpu import CpuRuntime
from accelhal.spi import Support

WIDTH = 4


class Probed(torch.nn.Module):
    """A linear layer that lets a test look at, or break, each call."""

    def __init__(self, on_call: Callable[[torch.Tensor], Any] = lambda x: None) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(WIDTH, WIDTH)
        self.on_call = on_call

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.on_call(x)
        return self.linear(x)


MakeWorkload = Callable[..., Workload]


@pytest.fixture
def workload() -> MakeWorkload:
    def make(on_call: Callable[[torch.Tensor], Any] = lambda x: None, name: str = "probed"):
        return Workload(name, Probed(on_call), lambda size: torch.randn(size, WIDTH))

    return make


class CountingEvent:
    """An event on a clock that moves 2 ms with every record."""

    now = 0.0

    def record(self) -> None:
        CountingEvent.now += 2.0
        self.at = CountingEvent.now

    def synchronize(self) -> None:
        pass

    def elapsed_time(self, end: CountingEvent) -> float:
        return end.at - self.at


class BoardRuntime(CpuRuntime):
    """The processor, with native events and a memory count of its own."""

    peak = 512

    def capabilities(self, index: int) -> Mapping[str, Support]:
        return {"events": Support.NATIVE, "memory_stats": Support.NATIVE}

    def properties(self, index: int) -> accelhal.DeviceProperties:
        return accelhal.DeviceProperties("Toy", "toys", total_memory=2048)

    def create_event(self, index: int, enable_timing: bool = False, blocking: bool = False) -> Any:
        assert enable_timing
        return CountingEvent()

    def reset_peak_memory_stats(self, index: int) -> None:
        pass

    def max_memory_allocated(self, index: int) -> int:
        return self.peak


@pytest.fixture
def board(fresh_registry: None) -> accelhal.Device:
    """A simulated board that times and counts by itself."""
    accelhal.register(fake_spec("toy", BoardRuntime, simulated=True))
    return accelhal.device("toy")
