"""Lanes that are lost, standby, and what callers see of errors."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch

from accelhal.batching import Arguments, DynamicBatcher, Launched, ReleaseReason, Work
from accelhal.errors import (
    AccelhalWarning,
    DeviceLostError,
    DeviceOutOfMemoryError,
    ErrorKind,
    UsageError,
)

from .conftest import LIMIT

Make = Callable[..., DynamicBatcher]


class DyingLane:
    """A lane that doubles what it is given, and is lost at its n-th batch."""

    depth = 1
    batch_sizes = ()

    def __init__(self, name: str, dies_at: int | None = None, depth: int = 1) -> None:
        self.name = name
        self.depth = depth
        self.closed = False
        self.calls = 0
        self._dies_at = dies_at

    def start(self) -> None:
        self.thread = threading.current_thread()

    def launch(self, work: Work) -> Launched:
        self.calls += 1
        if self._dies_at is not None and self.calls >= self._dies_at:
            raise DeviceLostError("gone", device=self.name)
        arguments: Arguments = work.arguments()
        return Launched(arguments, lambda: [2 * item for item in arguments.args[0]])

    def kind_of(self, error: BaseException) -> ErrorKind:
        lost = isinstance(error, DeviceLostError)
        return ErrorKind.DEVICE_LOST if lost else ErrorKind.UNKNOWN

    def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.filterwarnings("ignore::accelhal.errors.AccelhalWarning")
def test_a_standby_lane_takes_over_and_nothing_is_lost(make: Make, depth: int) -> None:
    first, second = DyingLane("a", dies_at=5, depth=depth), DyingLane("b")
    batcher = make(lanes=[first], standby=[second], collate="list", max_batch_size=8)
    assert batcher.stats().lanes[1].state == "standby"
    assert batcher.map(range(400)) == [2 * n for n in range(400)]
    stats = batcher.stats()
    assert [lane.state for lane in stats.lanes] == ["lost", "running"]
    assert stats.failovers >= 1
    assert stats.reasons[ReleaseReason.RETRY] >= 1
    assert batcher.healthy
    assert batcher.close()
    assert second.closed


@pytest.mark.filterwarnings("ignore::accelhal.errors.AccelhalWarning")
def test_another_running_lane_takes_the_batch_of_a_lost_one(make: Make) -> None:
    lanes = [DyingLane("a", dies_at=1), DyingLane("b")]
    batcher = make(lanes=lanes, collate="list", max_batch_size=4)
    for _ in range(50):
        assert batcher.map(range(40)) == [2 * n for n in range(40)]
    assert batcher.healthy


def test_without_any_lane_left_all_are_told(make: Make) -> None:
    batcher = make(lanes=[DyingLane("a", dies_at=1)], collate="list")

    def lose() -> None:
        with pytest.raises(DeviceLostError, match="lane a was lost"):
            batcher.submit(1).result(LIMIT)
        batcher._crew._runners[0]._thread.join(LIMIT)

    with pytest.warns(AccelhalWarning, match="lane a was lost"):
        lose()
    assert not batcher.healthy
    with pytest.raises(DeviceLostError):
        batcher.submit(2)


@pytest.mark.filterwarnings("ignore::accelhal.errors.AccelhalWarning")
def test_a_batch_that_kills_every_lane_is_given_up(make: Make) -> None:
    lanes = [DyingLane("a", dies_at=1), DyingLane("b", dies_at=1), DyingLane("c")]
    batcher = make(lanes=lanes[:1], standby=lanes[1:], collate="list")
    with pytest.raises(DeviceLostError):
        batcher.submit(1).result(LIMIT)
    assert batcher.submit(2).result(LIMIT) == 4


@pytest.mark.filterwarnings("ignore::accelhal.errors.AccelhalWarning")
def test_what_may_not_run_twice_is_not_given_to_another_lane(make: Make) -> None:
    batcher = make(
        lanes=[DyingLane("a", dies_at=1)],
        standby=[DyingLane("b")],
        collate="list",
        idempotent=False,
    )
    with pytest.raises(DeviceLostError):
        batcher.submit(1).result(LIMIT)
    assert batcher.submit(2).result(LIMIT) == 4


@pytest.mark.filterwarnings("ignore::accelhal.errors.AccelhalWarning")
def test_a_lane_that_cannot_start_is_lost(make: Make) -> None:
    class Unstartable(DyingLane):
        def start(self) -> None:
            raise OSError("no such board")

    batcher = make(lanes=[Unstartable("a")], standby=[DyingLane("b")], collate="list")
    assert batcher.submit(3).result(LIMIT) == 6


@pytest.mark.filterwarnings("ignore::accelhal.errors.AccelhalWarning")
def test_a_lane_lost_while_isolating_hands_on_what_is_left(make: Make) -> None:
    class DiesIsolating(DyingLane):
        def launch(self, work: Work) -> Launched:
            self.calls += 1
            if self.calls == 1:
                raise ValueError("first the batch fails")
            return super().launch(work)

    batcher = make(
        lanes=[DiesIsolating("a", dies_at=4)],
        standby=[DyingLane("b")],
        collate="list",
        max_batch_size=8,
        max_queue_delay=3600,
    )
    futures = [batcher.submit(n) for n in range(8)]
    assert [future.result(LIMIT) for future in futures] == [2 * n for n in range(8)]
    assert batcher.drain(LIMIT)
    assert batcher.stats().in_flight == 0


def test_callers_of_one_failed_batch_get_errors_of_their_own(make: Make) -> None:
    def model(items: list[Any]) -> list[Any]:
        raise ValueError("all of it")

    batcher = make(model, collate="list", on_error="fail", max_batch_size=4, max_queue_delay=3600)
    futures = [batcher.submit(n) for n in range(4)]
    errors = [future.exception(LIMIT) for future in futures]
    assert [str(error) for error in errors] == ["all of it"] * 4
    assert len(set(map(id, errors))) == 4
    assert batcher.stats().model_calls == 1


def test_an_error_does_not_keep_the_batch_in_memory(make: Make) -> None:
    def model(items: list[Any]) -> list[Any]:
        raise ValueError

    batcher = make(model, collate="list")
    error = batcher.submit(1).exception(LIMIT)
    frames = []
    trace = error.__traceback__ if error else None
    while trace is not None:
        frames.append(trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    assert frames == ["model"]


def test_one_request_too_large_for_memory_is_told_so(make: Make) -> None:
    def model(x: torch.Tensor) -> torch.Tensor:
        raise torch.OutOfMemoryError("out of memory: tried to allocate 3 GiB")

    batcher = make(model)
    with pytest.raises(DeviceOutOfMemoryError, match="3 GiB") as caught:
        batcher(torch.zeros(2))
    assert isinstance(caught.value, torch.OutOfMemoryError)
    assert isinstance(caught.value.__cause__, torch.OutOfMemoryError)


def test_a_request_of_a_foreign_shape_is_told_which_the_model_serves(make: Make) -> None:
    batcher = make(torch.nn.Linear(3, 2))
    good = [batcher.submit(torch.zeros(3)) for _ in range(5)]
    for future in good:
        future.result(LIMIT)
    with pytest.raises(UsageError, match=r"float32\[4\].*") as caught:
        batcher(torch.zeros(4))
    assert "float32[3]" in str(caught.value)
    assert isinstance(caught.value.__cause__, RuntimeError)
    with pytest.raises(UsageError, match=r"int64\[3\]"):
        batcher(torch.zeros(3, dtype=torch.int64))
    assert batcher(torch.zeros(3)).shape == (2,)


def test_the_models_own_error_for_a_shape_it_serves_is_left_as_it_is(make: Make) -> None:
    def model(x: torch.Tensor) -> torch.Tensor:
        if x.min() < 0:
            raise RuntimeError("negative")
        return x

    batcher = make(model)
    batcher(torch.ones(2))
    with pytest.raises(RuntimeError, match=r"^negative$"):
        batcher(-torch.ones(2))
