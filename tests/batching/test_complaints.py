"""Twenty complaints about other batchers: each test is one, and fails on the batcher named."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from accelhal.batching import BatchRecord, DynamicBatcher, ReleaseReason
from accelhal.batching.costs import CostTable
from accelhal.batching.observers import VainWaits
from accelhal.batching.sizes import BatchSizes
from accelhal.errors import (
    AccelhalWarning,
    BatchSizeMismatchError,
    DeadlineExceededError,
)

from .conftest import LIMIT, HeldModel

Make = Callable[..., DynamicBatcher]


def echo(items: list[Any]) -> list[Any]:
    return list(items)


def test_1_a_cancelled_waiter_does_not_stop_batching(busy: Make, held: HeldModel) -> None:
    """ray#41057, #42593; langgraph#5504; aiodataloader#44."""
    batcher = busy(max_batch_size=4)

    async def ask() -> list[Any]:
        doomed = [asyncio.ensure_future(batcher.asubmit(n)) for n in range(4)]
        await asyncio.sleep(0)
        for one in doomed[::2]:
            one.cancel()
        held.release()
        await asyncio.wait(doomed, timeout=LIMIT)
        return await asyncio.wait_for(asyncio.gather(*map(batcher.asubmit, range(9))), LIMIT)

    assert [answer[0] for answer in asyncio.run(ask())] == list(range(9))


def test_2_an_error_in_a_hook_costs_only_itself(make: Make) -> None:
    """ray#66140: an exception in a user's size function stopped batching for good."""

    class Broken:
        def on_batch(self, record: BatchRecord) -> None:
            raise RuntimeError("broken hook")

    def use() -> None:
        batcher = make(echo, collate="list", observers=[Broken()])
        assert batcher.map(range(50)) == list(range(50))
        assert batcher.drain(LIMIT)
        assert batcher.healthy
        assert batcher.close()

    with pytest.warns(AccelhalWarning, match=r"Broken.on_batch raised RuntimeError: broken hook"):
        use()


def test_2_a_lane_whose_loop_fails_goes_on(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    batcher = make(echo, collate="list")
    shop = batcher._crew._runners[0]._shop
    broken = iter([1])

    def padded(rows: int) -> int:
        return rows

    def noting(record: BatchRecord) -> None:
        if next(broken, None):
            raise MemoryError("in the loop itself")

    monkeypatch.setattr(shop.sizes, "padded", padded)
    monkeypatch.setattr(shop.observers, "tell", noting)
    assert batcher(1) == 1
    assert batcher(2) == 2
    assert batcher.stats().restarts == 1
    assert batcher.healthy


def test_3_a_model_error_leaves_the_batcher_serving(make: Make) -> None:
    """infinity#242, #483."""
    calls = []

    def model(items: list[Any]) -> list[Any]:
        calls.append(items)
        if len(calls) == 1:
            raise OSError("once")
        return items

    batcher = make(model, collate="list")
    with pytest.raises(OSError, match="once"):
        batcher(1)
    assert batcher.healthy
    assert batcher(2) == 2


def test_4_one_bad_request_is_isolated_in_few_calls(busy: Make, held: HeldModel) -> None:
    """LitServe#340, mlx-vlm#1346, BatchIt#4."""
    calls = []

    def model(items: list[Any]) -> list[Any]:
        calls.append(len(items))
        if 13 in items:
            raise ValueError(13)
        return items

    batcher = DynamicBatcher(model, collate="list", max_queue_delay=3600)
    futures = [batcher.submit(n) for n in range(32)]
    errors = [future.exception(LIMIT) for future in futures]
    assert batcher.close()
    assert [n for n, error in enumerate(errors) if error is not None] == [13]
    assert len(calls) == 11  # one by one it would be 33


def test_5_a_deadline_is_told_while_the_device_is_busy(busy: Make, held: HeldModel) -> None:
    """triton#7512: a time-out of 10 s was told after 90 s, when the running batch had ended."""
    batcher = busy()
    with pytest.raises(DeadlineExceededError):
        batcher.submit(1, timeout=0.01).result(LIMIT)  # the lane is held all the while
    assert held.batches == [["first"]]

    async def ask() -> None:
        await asyncio.wait_for(batcher.asubmit(2, timeout=0.01), LIMIT)

    with pytest.raises(DeadlineExceededError):
        asyncio.run(ask())
    assert batcher.stats().expired == 2


def test_6_nothing_is_bound_to_a_batch_before_the_lane_is_free(busy: Make, held: HeldModel) -> None:
    """triton#5783, #6796: batches were fetched ahead, and the queue's size was wrong."""
    batcher = busy(max_batch_size=8)
    futures = [batcher.submit(n) for n in range(20)]
    assert batcher.stats().queued == 20
    futures[0].cancel()
    assert batcher.stats().queued == 19
    held.release()
    for future in futures[1:]:
        future.result(LIMIT)
    assert [len(items) for items in held.batches] == [1, 8, 8, 3]


def test_7_nothing_is_left_behind_after_many_deadlines(make: Make) -> None:
    """triton#8870: counters drifted with each time-out, and throughput decayed over minutes."""
    batcher = make(echo, collate="list", max_queue_size=64, overflow="block")
    rng = random.Random(7)
    for _ in range(20):
        futures = [batcher.submit(n, timeout=rng.choice([1e-6, 60.0])) for n in range(64)]
        for n, future in enumerate(futures):
            assert future.exception(LIMIT) is not None or future.result() == n
    assert batcher.drain(LIMIT)
    dispatcher = batcher._dispatcher
    assert (dispatcher.backlog.rows, len(list(dispatcher.backlog))) == (0, 0)
    assert not dispatcher.in_flight
    assert batcher.stats().queued == 0
    assert len(dispatcher._timer._heap) <= 20 * 64


def test_8_what_waits_is_batched_and_what_does_not_is_not_delayed(
    busy: Make, held: HeldModel
) -> None:
    """triton#7318, #3624, #7271."""
    batcher = busy(max_batch_size=8)
    futures = [batcher.submit(n) for n in range(5)]
    held.release()
    for future in futures:
        future.result(LIMIT)
    assert batcher("late")[0] == "late"
    assert [len(items) for items in held.batches] == [1, 5, 1]
    assert set(batcher.stats().reasons) == {ReleaseReason.IDLE}


def test_9_requests_of_different_lengths_are_batched(make: Make) -> None:
    """triton#270, #3395, #6937, #8156; BentoML#2913."""
    shapes = []

    def model(x: torch.Tensor, *, lengths: torch.Tensor) -> torch.Tensor:
        shapes.append(tuple(x.shape))
        return x.sum(1) + 0 * lengths

    batcher = make(
        model,
        collate="pad",
        pad_value=0,
        lengths="lengths",
        length_buckets=None,
        max_batch_size=4,
        max_queue_delay=3600,
    )
    futures = [batcher.submit(torch.ones(n)) for n in (3, 1, 4, 2)]
    assert [future.result(LIMIT).item() for future in futures] == [3, 1, 4, 2]
    assert shapes == [(4, 4)]


def test_10_the_padding_value_is_the_users(make: Make) -> None:
    """tensorflow/serving#1279, tensor2tensor#1489: padded with what happened to come first."""
    seen = []

    def model(fields: dict[str, torch.Tensor], *, real: torch.Tensor) -> torch.Tensor:
        seen.append((fields["ids"].tolist(), fields["kinds"].tolist(), real.tolist()))
        return fields["ids"].sum(1)

    batcher = make(
        model,
        collate="pad",
        pad_value={"ids": -1, "kinds": 7},
        mask="real",
        length_buckets=None,
        max_batch_size=2,
        max_queue_delay=3600,
    )
    futures = [
        batcher.submit({"ids": torch.full((n,), 5), "kinds": torch.full((n,), 3)}) for n in (1, 3)
    ]
    for future in futures:
        future.result(LIMIT)
    ids, kinds, real = seen[0]
    assert ids == [[5, -1, -1], [5, 5, 5]]
    assert kinds == [[3, 7, 7], [3, 3, 3]]
    assert real == [[True, False, False], [True, True, True]]


def test_11_allowed_sizes_do_not_hurt_a_lone_request() -> None:
    """serving#1529, #416: a lone request was padded to the one large size, blindly."""
    costs = CostTable()
    sizes = BatchSizes((1, 8, 32), "cheapest", costs)
    assert sizes.padded(1) == 1
    assert sizes.take("key", 9) == 9  # nothing is known yet: pad up
    costs.add("key", 8, 0.008)
    costs.add("key", 32, 0.030)
    assert sizes.take("key", 9) == 8  # 1 ms a row, against 3.3 ms padded up
    assert sizes.take("key", 31) == 31  # 0.97 ms a row


def test_11_the_sizes_of_batches_are_told(busy: Make, held: HeldModel) -> None:
    batcher = busy(max_batch_size=8)
    futures = [batcher.submit(n) for n in range(19)]
    held.release()
    for future in futures:
        future.result(LIMIT)
    assert batcher.drain(LIMIT)
    assert batcher.stats().batch_rows == {1: 1, 8: 2, 3: 1}


def test_12_a_request_of_many_rows_is_split_and_rejoined(make: Make) -> None:
    """serving#1401, triton#6120, #4547, bentoml#3859."""
    sizes = []

    def model(x: torch.Tensor) -> torch.Tensor:
        sizes.append(len(x))
        return x * 2

    batcher = make(model, max_batch_size=8)
    x = torch.arange(60.0).reshape(20, 3)
    assert torch.equal(batcher(x, rows=20), x * 2)
    assert torch.equal(batcher.submit(x, rows=20).result(LIMIT), x * 2)

    async def ask() -> torch.Tensor:
        return await asyncio.wait_for(batcher.asubmit(x, rows=20), LIMIT)

    assert torch.equal(asyncio.run(ask()), x * 2)
    assert max(sizes) <= 8


def test_12_rows_count_in_the_size_of_a_batch(busy: Make, held: HeldModel) -> None:
    batcher = busy(max_batch_size=8)
    futures = [batcher.submit(n, rows=3) for n in range(4)]
    held.release()
    for future in futures:
        future.result(LIMIT)
    assert held.batches[1:] == [[0, 1], [2, 3]]


def test_13_every_caller_gets_its_own_result_under_load(make: Make) -> None:
    """MLServer#1306, #903, #514; TorchServe#730, #2853, #1235."""

    class Item:
        pass

    batcher = make(echo, collate="list", max_batch_size=7, max_queue_size=10_000)
    wrong: list[Any] = []

    def caller() -> None:
        for _ in range(150):
            item = Item()
            if batcher(item) is not item:
                wrong.append(item)

    async def acaller() -> None:
        for _ in range(150):
            item = Item()
            if await batcher.asubmit(item) is not item:
                wrong.append(item)

    async def many() -> None:
        await asyncio.wait_for(asyncio.gather(*(acaller() for _ in range(16))), LIMIT * 2)

    threads = [threading.Thread(target=caller) for _ in range(4)]
    for thread in threads:
        thread.start()
    asyncio.run(many())
    for thread in threads:
        thread.join(LIMIT * 2)
        assert not thread.is_alive()
    assert wrong == []
    assert batcher.drain(LIMIT)
    assert batcher.stats().requests == 20 * 150


def test_13_a_count_that_does_not_match_is_told(make: Make) -> None:
    batcher = make(lambda x: torch.zeros(len(x) + 1, 2))
    with pytest.raises(BatchSizeMismatchError, match=r"shape \[2, 2\] for a batch of 1 rows"):
        batcher(torch.zeros(2))


def test_14_a_prediction_sheds_only_who_set_a_deadline(make: Make) -> None:
    """bentoml#3200, #3646, #4128: the adaptive dispatcher cancelled everything."""
    batcher = make(echo, collate="list")
    key = (batcher._state(), ())
    batcher._dispatcher.costs.add(key, 1, 1e6)  # "a batch takes eleven days"
    assert batcher(1) == 1
    batcher._dispatcher.costs._of(key).seconds = 1e6
    with pytest.raises(DeadlineExceededError, match="dropped"):
        batcher.submit(2, timeout=3600).result(LIMIT)


def test_14_a_wrong_prediction_does_not_shut_the_door(make: Make) -> None:
    batcher = make(echo, collate="list")
    key = (batcher._state(), ())
    batcher._dispatcher.costs.add(key, 1, 1e6)
    for _ in range(200):  # each drop lowers the estimate by a tenth
        error = batcher.submit(1, timeout=60).exception(LIMIT)
        if error is None:
            return
        assert isinstance(error, DeadlineExceededError)
    pytest.fail("the estimate was never doubted")


def test_15_the_delay_counts_from_arrival(busy: Make, held: HeldModel) -> None:
    """batched PR#20, pytorch/serve#2478: the window began when the batcher came round."""
    batcher = busy(max_batch_size=8, max_queue_delay=0.01)
    object.__setattr__(batcher._settings, "max_queue_delay", 3600.0)
    future = batcher.submit(1)
    now = time.monotonic()
    batcher._dispatcher.clock = lambda: now + 3601  # it has waited its time at the busy lane
    held.release()
    assert future.result(LIMIT)[0] == 1


def test_16_waiting_in_vain_is_warned_of_once() -> None:
    """ray#43288, mosec#338: a hidden cap kept batches from ever being filled."""

    def record(reason: ReleaseReason) -> BatchRecord:
        return BatchRecord("host", 16, 16, 16, 16, 16, 0.002, 0.001, reason, 0, False)

    observer = VainWaits(32, 0.002)

    def tell(reason: ReleaseReason, times: int) -> None:
        for _ in range(times):
            observer.on_batch(record(reason))

    tell(ReleaseReason.DELAY, 49)
    tell(ReleaseReason.FULL, 1)
    with pytest.warns(AccelhalWarning, match="at most 16 of 32 rows") as caught:
        tell(ReleaseReason.DELAY, 200)
    assert len(caught) == 1


def test_17_idle_threads_are_not_scheduled(make: Make) -> None:
    """mlx-lm#1500, #674, lmql#125: an idle batcher kept a core busy."""
    batcher = make(echo, collate="list", max_queue_delay=0.001, name="idle-test")
    batcher.submit(1, timeout=3600).result(LIMIT)  # the timer's thread lives too
    assert batcher.drain(LIMIT)
    threads = [t for t in threading.enumerate() if t.name.startswith("idle-test")]
    assert len(threads) == 2

    def switches() -> list[str]:
        return [
            line
            for thread in threads
            for line in Path(f"/proc/self/task/{thread.native_id}/status").read_text().splitlines()
            if line.startswith("voluntary_ctxt_switches")
        ]

    before = None
    for _ in range(100):  # until both have gone to sleep
        before, last = switches(), before
        if before == last:
            break
        time.sleep(0.02)
    time.sleep(0.05)
    assert switches() == before


def test_18_exhausted_memory_halves_and_is_remembered(busy: Make, held: HeldModel) -> None:
    """infinity#517, mhcflurry#366, pytorch#18853: found out anew each time."""
    sizes = []

    def model(x: torch.Tensor) -> torch.Tensor:
        sizes.append(len(x))
        if len(x) > 5:
            raise torch.OutOfMemoryError("out of memory")
        return x + 1

    batcher = DynamicBatcher(model, max_batch_size=16, max_queue_delay=3600)
    futures = [batcher.submit(torch.tensor([float(n)])) for n in range(16)]
    assert [future.result(LIMIT).item() for future in futures] == [n + 1.0 for n in range(16)]
    assert sizes == [16, 8, 4, 4, 8, 4, 4]
    futures = [batcher.submit(torch.tensor([float(n)])) for n in range(16)]
    for future in futures:
        future.result(LIMIT)
    assert sizes[7:] == [4, 4, 4, 4]
    assert batcher.drain(LIMIT)
    assert list(batcher.stats().ceilings.values()) == [4]
    assert batcher.stats().out_of_memory == 1
    assert batcher.close()


def test_19_a_kept_row_does_not_keep_the_whole_output(make: Make) -> None:
    """sglang#19109, mlx-lm#1701."""
    batcher = make(lambda x: x.repeat(1, 4096), max_batch_size=8, max_queue_delay=3600)
    futures = [batcher.submit(torch.ones(1)) for _ in range(8)]
    row = futures[0].result(LIMIT)
    assert row.untyped_storage().nbytes() == row.numel() * row.element_size()


def test_20_priority_and_deadline_travel_with_the_request(busy: Make, held: HeldModel) -> None:
    """triton#7116, tensorrtllm_backend#422: dropped on the way."""
    batcher = busy(max_batch_size=2, priority_levels=3)
    futures = [batcher.submit(f"{p}{n}", priority=p) for n in range(2) for p in (2, 1, 0)]
    held.release()
    for future in futures:
        future.result(LIMIT)
    assert held.batches[1:] == [["00", "01"], ["10", "11"], ["20", "21"]]
