"""What callers pass and get: tensors, nests, rows, any thread, any loop, in the caller's modes."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
import torch

from accelhal.batching import DynamicBatcher
from accelhal.errors import UsageError

from .conftest import LIMIT, HeldModel

Make = Callable[..., DynamicBatcher]


def test_one_model_serves_threads_and_loops_alike(make: Make) -> None:
    batcher = make(lambda x: x * 2, max_batch_size=4)

    async def ask() -> list[torch.Tensor]:
        futures = [batcher.asubmit(torch.tensor([float(n)])) for n in range(10)]
        return await asyncio.wait_for(asyncio.gather(*futures), LIMIT)

    answers: dict[str, list[float]] = {}

    def in_a_loop(name: str) -> None:
        answers[name] = [x.item() for x in asyncio.run(ask())]

    threads = [threading.Thread(target=in_a_loop, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    mapped = batcher.map([torch.tensor([float(n)]) for n in range(10)])
    for thread in threads:
        thread.join(LIMIT)
    expected = [2.0 * n for n in range(10)]
    assert answers == {"a": expected, "b": expected}
    assert [x.item() for x in mapped] == expected


def test_a_batch_of_several_loops_and_threads_answers_all(busy: Make, held: HeldModel) -> None:
    batcher = busy(max_batch_size=64)
    asked = threading.Barrier(3)
    answers: dict[str, Any] = {}

    def in_a_loop(name: str) -> None:
        async def ask() -> list[Any]:
            futures = [batcher.asubmit(f"{name}{n}") for n in range(5)]
            await asyncio.to_thread(asked.wait, LIMIT)
            return await asyncio.wait_for(asyncio.gather(*futures), LIMIT)

        answers[name] = [answer[0] for answer in asyncio.run(ask())]

    threads = [threading.Thread(target=in_a_loop, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    future = batcher.submit("thread")
    asked.wait(LIMIT)
    held.release()
    for thread in threads:
        thread.join(LIMIT)
    assert future.result(LIMIT)[0] == "thread"
    assert answers == {name: [f"{name}{n}" for n in range(5)] for name in "ab"}
    assert len(held.batches[1]) == 11


def test_nests_go_in_and_come_out(make: Make) -> None:
    def model(x: dict[str, Any]) -> tuple[torch.Tensor, dict[str, Any]]:
        return x["a"] + x["b"][0].unsqueeze(1), {"twice": x["a"] * 2, "none": None}

    batcher = make(model)
    values = [{"a": torch.full((3,), float(n)), "b": (n,)} for n in range(6)]
    for n, (total, rest) in enumerate(batcher.map(values)):
        assert torch.equal(total, torch.full((3,), 2.0 * n))
        assert torch.equal(rest["twice"], torch.full((3,), 2.0 * n))
        assert rest["none"] is None


def test_numbers_are_collated_as_torch_would(make: Make) -> None:
    seen = []

    def model(x: tuple[torch.Tensor, ...]) -> torch.Tensor:
        seen.append([leaf.dtype for leaf in x])
        return x[0]

    batcher = make(model)
    batcher((1, 2.5, True))
    assert seen == [[torch.int64, torch.float32, torch.bool]]


def test_requests_of_rows_and_samples_share_a_batch(make: Make) -> None:
    shapes = []

    def model(x: torch.Tensor) -> torch.Tensor:
        shapes.append(tuple(x.shape))
        return x * 2

    batcher = make(model, max_batch_size=6, max_queue_delay=3600)
    sample = batcher.submit(torch.ones(2))
    rows = batcher.submit(torch.ones(3, 2) * 2, rows=3)
    one_row = batcher.submit(torch.ones(1, 2) * 3, rows=1)
    last = batcher.submit(torch.ones(2) * 4)
    assert torch.equal(sample.result(LIMIT), torch.ones(2) * 2)
    assert torch.equal(rows.result(LIMIT), torch.ones(3, 2) * 4)
    assert torch.equal(one_row.result(LIMIT), torch.ones(1, 2) * 6)
    assert torch.equal(last.result(LIMIT), torch.ones(2) * 8)
    assert shapes == [(6, 2)]


def test_values_of_different_types_are_never_mixed(make: Make) -> None:
    dtypes = []

    def model(x: torch.Tensor) -> torch.Tensor:
        dtypes.append(x.dtype)
        return x

    batcher = make(model, max_batch_size=8)
    kinds = [torch.float32, torch.int64, torch.float16, torch.bool]
    values = [torch.ones(2, dtype=kinds[n % 4]) for n in range(16)]
    for value, result in zip(values, batcher.map(values), strict=True):
        assert result.dtype is value.dtype


def test_map_gives_results_in_order_and_waits_for_room(make: Make) -> None:
    batcher = make(lambda items: items, collate="list", max_queue_size=3, max_batch_size=2)
    assert batcher.map(range(100)) == list(range(100))
    assert batcher.map([]) == []


def test_map_raises_the_first_error_or_returns_all(make: Make) -> None:
    def model(items: list[Any]) -> list[Any]:
        if any(item % 2 for item in items):
            raise ValueError("odd")
        return items

    batcher = make(model, collate="list")
    with pytest.raises(ValueError, match="odd"):
        batcher.map(range(5))
    answers = batcher.map(range(5), return_exceptions=True)
    assert [answer for answer in answers if isinstance(answer, int)] == [0, 2, 4]
    assert [type(answer) for answer in answers[1::2]] == [ValueError] * 2


class Modes:
    """A model that notes the modes it ran in."""

    def __init__(self) -> None:
        self.seen: list[tuple[bool, bool, bool, torch.dtype]] = []

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        product = torch.nn.functional.linear(x, torch.ones(2, x.shape[1]))
        self.seen.append(
            (
                torch.is_grad_enabled(),
                torch.is_inference_mode_enabled(),
                torch.is_autocast_enabled("cpu"),
                product.dtype,
            )
        )
        return product


def test_the_model_runs_in_its_callers_modes(make: Make) -> None:
    model = Modes()
    batcher = make(model)
    x = torch.ones(3)
    modes = []

    def here() -> tuple[bool, bool, bool]:
        return (
            torch.is_grad_enabled(),
            torch.is_inference_mode_enabled(),
            torch.is_autocast_enabled("cpu"),
        )

    for context in (
        nullcontext(),
        torch.no_grad(),
        torch.inference_mode(),
        torch.autocast("cpu", torch.bfloat16),
        nullcontext(),
    ):
        with context:
            modes.append(here())
            result = batcher(x)
            if modes[-1][1]:
                assert result.is_inference()
    assert [seen[:3] for seen in model.seen] == modes
    float32, bfloat16 = torch.float32, torch.bfloat16
    assert [seen[3] for seen in model.seen] == [float32, float32, float32, bfloat16, float32]


def test_callers_in_different_modes_are_not_batched_together(make: Make) -> None:
    model = Modes()
    gate = threading.Event()

    def waiting(x: torch.Tensor) -> torch.Tensor:
        assert gate.wait(LIMIT)
        return model(x)

    batcher = make(waiting)
    first = batcher.submit(torch.ones(3))
    with torch.no_grad():
        others = [batcher.submit(torch.ones(3)) for _ in range(2)]
    more = [batcher.submit(torch.ones(3)) for _ in range(2)]
    gate.set()
    for future in (first, *others, *more):
        future.result(LIMIT)
    assert {seen[0] for seen in model.seen} == {True, False}
    assert all(f.result().requires_grad is False for f in others)


def test_gradients_flow_back_to_the_caller(make: Make) -> None:
    batcher = make(lambda x: x * x, max_batch_size=2, max_queue_delay=3600)
    inputs = [torch.tensor([3.0], requires_grad=True), torch.tensor([4.0], requires_grad=True)]
    for future in [batcher.submit(x) for x in inputs]:
        future.result(LIMIT).sum().backward(retain_graph=True)
    assert [x.grad.item() for x in inputs if x.grad is not None] == [6.0, 8.0]


def test_the_lanes_thread_has_as_many_torch_threads_as_its_maker(make: Make) -> None:
    before = torch.get_num_threads()
    try:
        seen = []
        for count in (1, 3):
            torch.set_num_threads(count)
            make(lambda x: seen.append(torch.get_num_threads()) or x)(torch.ones(1))
        assert seen == [1, 3]
    finally:
        torch.set_num_threads(before)


def test_two_batchers_share_nothing(make: Make) -> None:
    one = make(lambda items: ["one"] * len(items), collate="list")
    other = make(lambda items: ["other"] * len(items), collate="list")
    futures = [(one if n % 2 else other).submit(n) for n in range(40)]
    assert [f.result(LIMIT) for f in futures] == ["other", "one"] * 20
    assert one.stats().requests == other.stats().requests == 20


def test_allowed_sizes_are_padded_with_the_last_row(make: Make) -> None:
    seen = []

    def model(x: torch.Tensor) -> torch.Tensor:
        seen.append(x[:, 0].tolist())
        return x

    batcher = make(model, allowed_batch_sizes=(1, 4, 8), max_queue_delay=0.01)
    results = batcher.map([torch.tensor([float(n)]) for n in range(3)])
    assert [r.item() for r in results] == [0.0, 1.0, 2.0]
    assert all(len(rows) in (1, 4, 8) for rows in seen)
    for rows in seen:
        assert rows == sorted(rows)  # repeats of the last stand at the end
    assert batcher.stats().padded_rows == sum(map(len, seen))


def test_batch_down_leaves_the_rest_for_the_next(busy: Make, held: HeldModel) -> None:
    batcher = busy(allowed_batch_sizes=(1, 4, 8), batch_padding_policy="batch_down")
    futures = [batcher.submit(n) for n in range(6)]
    held.release()
    for future in futures:
        future.result(LIMIT)
    assert [len(items) for items in held.batches[1:]] == [4, 1, 1]


def test_sizes_that_the_model_names_are_taken_up(make: Make) -> None:
    class Captured:
        batch_sizes = (2, 4)

        def __call__(self, x: torch.Tensor) -> torch.Tensor:
            assert len(x) in self.batch_sizes
            return x + 1

    batcher = make(Captured(), max_batch_size=64)
    assert [x.item() for x in batcher.map([torch.tensor([float(n)]) for n in range(9)])] == [
        n + 1.0 for n in range(9)
    ]


def test_an_observer_is_told_of_each_batch(busy: Make, held: HeldModel) -> None:
    class Told:
        def __init__(self) -> None:
            self.records: list[Any] = []

        def on_batch(self, record: Any) -> None:
            self.records.append(record)

    told = Told()
    batcher = busy(observers=[told], max_batch_size=4)
    futures = [batcher.submit(n) for n in range(6)]
    held.release()
    for future in futures:
        future.result(LIMIT)
    assert batcher.drain(LIMIT)
    batcher.close()
    assert [(r.rows, r.reason.value, r.failed) for r in told.records] == [
        (1, "idle", 0),
        (4, "full", 0),
        (2, "idle", 0),
    ]
    assert all(r.queue_wait >= 0 and r.service >= 0 for r in told.records)


def test_asubmit_outside_of_a_loop_is_refused(make: Make) -> None:
    batcher = make(lambda items: items, collate="list")
    with pytest.raises(UsageError, match="event loop"):
        batcher.asubmit(1)


def test_a_lane_that_is_gone_leaves_other_threads_modes_alone() -> None:
    batcher = DynamicBatcher(Modes())
    with torch.inference_mode():
        batcher(torch.ones(3))
    assert batcher.close(timeout=LIMIT)
    kept = weakref.ref(batcher)
    with torch.no_grad():
        del batcher
        gc.collect()
        assert kept() is None
        assert not torch.is_grad_enabled()
