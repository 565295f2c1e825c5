"""Batchers that are closed after each test, and models that wait until they are told."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from accelhal.batching import DynamicBatcher

LIMIT = 20.0
"""Seconds that any wait of these tests may take."""


class HeldModel:
    """A list function that runs no batch before `release()`, and remembers those it ran."""

    def __init__(self) -> None:
        self.batches: list[list[Any]] = []
        self.entered = threading.Semaphore(0)
        self._gate = threading.Event()

    def __call__(self, items: list[Any]) -> list[Any]:
        self.batches.append(list(items))
        self.entered.release()
        assert self._gate.wait(LIMIT)
        return [(item, "done") for item in items]

    def wait_until_entered(self) -> None:
        assert self.entered.acquire(timeout=LIMIT)

    def release(self) -> None:
        self._gate.set()


@pytest.fixture
def make() -> Iterator[Callable[..., DynamicBatcher]]:
    """DynamicBatcher, closed at the end of the test."""
    made: list[DynamicBatcher] = []

    def batcher(*args: Any, **options: Any) -> DynamicBatcher:
        made.append(DynamicBatcher(*args, **options))
        return made[-1]

    yield batcher
    for one in made:
        assert one.close(drain=False, timeout=LIMIT)


@pytest.fixture
def held() -> Iterator[HeldModel]:
    """A model that waits; released at the latest when the test ends."""
    model = HeldModel()
    yield model
    model.release()


@pytest.fixture
def busy(
    make: Callable[..., DynamicBatcher], held: HeldModel
) -> Iterator[Callable[..., DynamicBatcher]]:
    """A batcher whose lane is busy with the request "first" until `held.release()`."""

    def batcher(**options: Any) -> DynamicBatcher:
        one = make(held, collate="list", **options)
        one.submit("first")
        held.wait_until_entered()
        return one

    yield batcher
    held.release()


@pytest.fixture
def quick_switches() -> Iterator[None]:
    """Threads that are interrupted at nearly every step."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)
