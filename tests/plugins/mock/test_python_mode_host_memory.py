"""Asynchronous copies: pinned memory, poisoned results, buffers refilled too early."""

import sys
import threading

import pytest
import torch
from accelhal_mock.simulation import HazardError


@pytest.fixture(autouse=True)
def boards(mock_boards):
    return mock_boards(count=2, memory="64MiB", mode="python")


def pinned(*values):
    return torch.tensor(values).pin_memory()


# ---- from a board


def test_a_result_read_before_the_wait_is_reported():
    x = torch.arange(3.0, device="mock:0")
    host = x.to("cpu", non_blocking=True)
    for read in (
        lambda: host.sum(),
        lambda: host[1:].tolist(),
        lambda: host + 1,
        lambda: float(host[0]),
        lambda: host.numpy(),
        lambda: torch.cat([host, host]),
        lambda: repr(host),
    ):
        with pytest.raises(HazardError, match="host_early_read"):
            read()
    torch.mock.synchronize()
    assert type(host) is torch.Tensor
    assert host.tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize(
    "wait",
    [
        lambda stream, event: torch.mock.synchronize(),
        lambda stream, event: stream.synchronize(),
        lambda stream, event: event.synchronize(),
        lambda stream, event: torch.accelerator.synchronize(),
        lambda stream, event: torch.ones(1, device="mock:0").item(),
    ],
)
def test_every_wait_brings_the_result(wait):
    x = torch.arange(3.0, device="mock:0")
    host = x.to("cpu", non_blocking=True)
    stream = torch.mock.current_stream(0)
    wait(stream, stream.record_event())
    assert host.tolist() == [0.0, 1.0, 2.0]


def test_polling_an_event_brings_the_result():
    host = torch.arange(3.0, device="mock:0").to("cpu", non_blocking=True)
    event = torch.mock.current_stream(0).record_event()
    polls = 0
    while not event.query():
        polls += 1
        assert polls < 1000
    assert host.tolist() == [0.0, 1.0, 2.0]
    assert polls > 0


@pytest.mark.parametrize(
    ("dtype", "poison"),
    [
        (torch.float32, None),
        (torch.bfloat16, None),
        (torch.complex64, None),
        (torch.int64, -1),
        (torch.uint8, 255),
        (torch.bool, True),
    ],
)
def test_what_is_read_too_early_is_poison(mock_boards, dtype, poison):
    mock_boards(count=1, mode="python", hazards="off")
    x = torch.zeros(3, dtype=dtype, device="mock:0")
    host = x.to("cpu", non_blocking=True)
    if poison is None:
        assert host.isnan().all()
    else:
        assert host.tolist() == [poison] * 3
    torch.mock.synchronize()
    assert host.tolist() == [0] * 3


def test_metadata_of_a_pending_result_may_be_read():
    host = torch.ones(3, device="mock:0").to("cpu", non_blocking=True)
    assert host.shape == (3,)
    assert host.is_pinned()
    assert host.dtype is torch.float32
    assert len(host) == 3
    assert torch.empty_like(host).shape == (3,)


def test_a_copy_to_pageable_memory_waits():
    host = torch.empty(3)
    host.copy_(torch.ones(3, device="mock:0"), non_blocking=True)
    assert host.tolist() == [1.0] * 3


def test_a_copy_into_a_pinned_buffer_does_not():
    host = torch.zeros(4).pin_memory()
    host[:2].copy_(torch.ones(2, device="mock:0"), non_blocking=True)
    with pytest.raises(HazardError, match="host_early_read"):
        host.sum()
    torch.mock.synchronize()
    assert host.tolist() == [1.0, 1.0, 0.0, 0.0]


def test_blocking_copies_are_complete():
    x = torch.ones(3, device="mock:0")
    assert x.cpu().tolist() == [1.0] * 3
    assert not x.cpu().is_pinned()


# ---- to a board


@pytest.mark.parametrize(
    "refill",
    [
        lambda buffer: buffer.fill_(7),
        lambda buffer: buffer.copy_(torch.zeros(3)),
        lambda buffer: buffer.__setitem__(0, 7),
        lambda buffer: torch.add(torch.ones(3), 1, out=buffer),
        lambda buffer: buffer[1:].zero_(),
        lambda buffer: buffer.add_(1),
    ],
)
def test_a_pinned_buffer_refilled_too_early_is_reported(refill):
    buffer = pinned(1.0, 2.0, 3.0)
    x = buffer.to("mock:0", non_blocking=True)
    with pytest.raises(HazardError, match=r"host_refill.*synchronize"):
        refill(buffer)
    assert x.tolist() == [1.0, 2.0, 3.0]
    refill(buffer)
    assert type(buffer) is torch.Tensor


def test_reading_a_pinned_source_is_allowed():
    buffer = pinned(1.0, 2.0)
    buffer.to("mock:0", non_blocking=True)
    assert buffer.sum() == 3
    assert buffer.to("mock:1", non_blocking=True).tolist() == [1.0, 2.0]


def test_a_refill_through_another_view_is_reported_at_the_wait():
    buffer = pinned(1.0, 2.0, 3.0, 4.0)
    first, second = buffer.detach(), buffer.detach()
    first.to("mock:0", non_blocking=True)
    second.fill_(7)
    with pytest.raises(HazardError, match="another view"):
        torch.mock.synchronize()
    torch.mock.synchronize()


def test_pageable_memory_may_be_refilled_at_once():
    buffer = torch.ones(3)
    x = buffer.to("mock:0", non_blocking=True)
    buffer.fill_(7)
    assert x.tolist() == [1.0] * 3


def test_a_double_buffered_loop_is_clean():
    buffers = [torch.empty(4).pin_memory() for _ in range(2)]
    events = [torch.mock.Event() for _ in buffers]
    stream = torch.mock.Stream()
    total = 0.0
    for step in range(6):
        buffer, event = buffers[step % 2], events[step % 2]
        event.synchronize()
        buffer.fill_(float(step))
        with torch.mock.stream(stream):
            x = buffer.to("mock:0", non_blocking=True)
            event.record()
        torch.mock.current_stream().wait_stream(stream)
        x.record_stream(torch.mock.current_stream())
        total += x.sum().item()
    assert total == 4 * sum(range(6))


def test_a_tensor_is_pinned_once():
    buffer = torch.ones(3).pin_memory()
    assert buffer.pin_memory() is buffer
    assert buffer[1:].is_pinned()
    assert not torch.ones(3).is_pinned()


# ---- several threads


def in_threads(*works):
    """Run all at once, switching between them often; re-raises what one of them raises."""
    failures: list[BaseException] = []
    interval = sys.getswitchinterval()

    def guarded(work):
        try:
            work()
        except BaseException as error:
            failures.append(error)

    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
    finally:
        sys.setswitchinterval(interval)
    assert not any(thread.is_alive() for thread in threads)
    if failures:
        raise failures[0]


def test_each_of_two_threads_may_refill_what_its_own_wait_covered():
    """One thread's wait looks at the other's buffers while that refills and copies them anew."""

    def serve(index: int) -> None:
        buffer, stream = torch.zeros(64).pin_memory(), torch.mock.Stream(f"mock:{index}")
        with torch.mock.stream(stream):
            for step in range(300):
                buffer.detach().fill_(step)
                buffer.detach()[:32].to(f"mock:{index}", non_blocking=True)
                done = torch.mock.Event()
                done.record(stream)
                done.synchronize()

    in_threads(lambda: serve(0), lambda: serve(1))


def test_a_result_is_there_after_a_wait_though_another_thread_waited_for_it_too():
    finished = threading.Event()

    def copy() -> None:
        try:
            for step in range(1000):
                host = torch.full((64,), float(step), device="mock:0").to("cpu", non_blocking=True)
                torch.mock.synchronize(0)
                assert type(host) is torch.Tensor
                assert host.eq(step).all(), host
        finally:
            finished.set()

    def wait() -> None:
        while not finished.is_set():
            torch.mock.synchronize(0)

    in_threads(copy, wait)


def test_a_source_is_let_go_though_another_thread_waited_for_the_copy():
    finished = threading.Event()
    sources = [torch.ones(64).pin_memory() for _ in range(1000)]

    def copy() -> None:
        try:
            for source in sources:
                source.to("mock:0", non_blocking=True)
        finally:
            finished.set()

    def wait() -> None:
        while not finished.is_set():
            torch.mock.synchronize(0)

    in_threads(copy, wait)
    torch.mock.synchronize(0)
    assert {type(source) for source in sources} == {torch.Tensor}
