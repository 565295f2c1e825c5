"""A stand-in for a torch device module: torch.cuda's interface over plain bookkeeping.

Every parameter is positional-only, because the vendors name them differently; and every call is
checked against the signature of torch.cuda's own function.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import torch


@dataclass(eq=False)
class Stream:
    device: int
    priority: int


class Event:
    def __new__(cls, enable_timing=False, blocking=False, interprocess=False) -> Any:
        return super().__new__(cls)

    def __init__(self, enable_timing=False, blocking=False, interprocess=False) -> None:
        self.flags = (enable_timing, blocking)

    def record(self, stream=None) -> None:
        self.stream = stream

    def elapsed_time(self, end_event) -> float:
        return 0.0


@dataclass
class DeviceModule:
    """What one process sees of `count` devices."""

    count: int = 2
    available: bool = True
    initialized: bool = True
    bf16: frozenset[int] = frozenset({0})
    property_fields: dict[str, Any] = field(default_factory=dict)
    stats: dict[str, int] = field(default_factory=dict)
    calls: list[tuple[Any, ...]] = field(default_factory=list)
    current: int = 0
    fraction: dict[int, float] = field(default_factory=dict)
    rng: dict[int, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.Event: type = Event
        self.streams = {index: Stream(index, 0) for index in range(self.count)}

    def __getattribute__(self, name: str) -> Any:
        value = object.__getattribute__(self, name)
        if name.startswith("_") or not inspect.ismethod(value) or not hasattr(torch.cuda, name):
            return value
        return object.__getattribute__(self, "_checked")(name, value)

    def _checked(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            inspect.signature(getattr(torch.cuda, name)).bind(*args)
            self.calls.append((name, *args))
            return method(*args)

        return call

    def is_available(self) -> bool:
        return self.available

    def is_initialized(self) -> bool:
        return self.initialized

    def device_count(self) -> int:
        return self.count

    def current_device(self) -> int:
        return self.current

    def set_device(self, index: int, /) -> None:
        self.current = index

    @contextlib.contextmanager
    def device(self, index: int, /) -> Iterator[None]:
        before, self.current = self.current, index
        try:
            yield
        finally:
            self.current = before

    def get_device_properties(self, index: int, /) -> SimpleNamespace:
        return SimpleNamespace(
            **{"name": f"board {index}", "total_memory": 1000 + index, **self.property_fields}
        )

    def is_bf16_supported(self) -> bool:
        return self.current in self.bf16

    def synchronize(self, index: int, /) -> None:
        """Nothing is pending."""

    def Stream(self, index: int, priority: int, /) -> Stream:
        return Stream(index, priority)

    def current_stream(self, index: int, /) -> Stream:
        return self.streams[index]

    def default_stream(self, index: int, /) -> Stream:
        return Stream(index, 0)

    def set_stream(self, stream: Stream, /) -> None:
        self.streams[stream.device] = stream

    def mem_get_info(self, index: int, /) -> tuple[int, int]:
        return 400 + index, 1000 + index

    def memory_allocated(self, index: int, /) -> int:
        return 10 + index

    def max_memory_allocated(self, index: int, /) -> int:
        return 20 + index

    def memory_reserved(self, index: int, /) -> int:
        return 30 + index

    def max_memory_reserved(self, index: int, /) -> int:
        return 40 + index

    def memory_stats(self, index: int, /) -> dict[str, int]:
        return self.stats

    def reset_peak_memory_stats(self, index: int, /) -> None:
        if not self.initialized:
            raise RuntimeError("Allocator not initialized for device: did you call init?")

    def empty_cache(self) -> None:
        """Nothing is cached."""

    def set_per_process_memory_fraction(self, fraction: float, index: int, /) -> None:
        self.fraction[index] = fraction

    def can_device_access_peer(self, index: int, peer: int, /) -> bool:
        return index < peer

    def manual_seed(self, seed: int, /) -> None:
        self.rng[self.current] = seed

    def get_rng_state(self, index: int, /) -> Any:
        return self.rng.get(index)

    def set_rng_state(self, state: Any, index: int, /) -> None:
        self.rng[index] = state
