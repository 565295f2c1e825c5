"""The cpu backend: what it says of memory, time, randomness and precision is so."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator

import pytest
import torch

import accelhal
from accelhal.errors import UnsupportedError, UsageError
from accelhal.facade import Device

MIB = 2**20

SLACK = MIB
"""The kernel updates a process's counters in batches of pages, each at its own time."""


@pytest.fixture
def cpu() -> Device:
    return accelhal.device("cpu")


def test_memory_follows_what_the_process_holds(cpu: Device) -> None:
    before = cpu.memory_allocated()
    held = torch.ones(64 * MIB, dtype=torch.uint8)
    grown = cpu.memory_allocated()
    assert grown - before >= 60 * MIB
    assert cpu.max_memory_allocated() >= grown - SLACK
    del held
    assert cpu.memory_allocated() < grown - 32 * MIB
    assert cpu.max_memory_allocated() >= grown - SLACK
    cpu.reset_peak_memory_stats()
    assert cpu.max_memory_allocated() < grown - 32 * MIB


def test_getters_do_not_move_the_peak(cpu: Device) -> None:
    held = torch.ones(32 * MIB, dtype=torch.uint8)
    peak = cpu.max_memory_allocated()
    del held
    for _ in range(3):
        stats = cpu.memory_stats()
        assert stats.peak_allocated is not None
        assert stats.peak_allocated >= peak - SLACK
    assert stats.reserved is None
    assert stats.fragmentation is None


def test_the_devices_memory_is_the_hosts(cpu: Device) -> None:
    free, total = cpu.mem_get_info()
    assert 0 < free <= total == cpu.properties.total_memory


def _report_memory(queue: multiprocessing.Queue[int]) -> None:
    held = b"\1" * (96 * MIB)  # no tensor work: torch's thread pool does not survive a fork
    queue.put(accelhal.device("cpu").memory_allocated())
    del held


def test_a_forked_child_sees_its_own_memory(cpu: Device) -> None:
    parent = cpu.memory_allocated()
    context = multiprocessing.get_context("fork")
    queue: multiprocessing.Queue[int] = context.Queue()
    child = context.Process(target=_report_memory, args=(queue,))
    child.start()
    answered = queue.get(timeout=60)
    child.join(timeout=60)
    assert answered >= 96 * MIB
    assert answered != parent


def test_events_measure_real_work(cpu: Device) -> None:
    start, middle, end = (cpu.Event(enable_timing=True) for _ in range(3))
    start.record()
    time.sleep(0.02)
    middle.record()
    end.record()
    assert start.elapsed_time(middle) >= 20.0
    assert start.elapsed_time(middle) <= start.elapsed_time(end)
    assert end.elapsed_time(start) < 0


def test_untimed_and_unrecorded_events_raise(cpu: Device) -> None:
    timed, untimed = cpu.Event(enable_timing=True), cpu.Event()
    untimed.record()
    with pytest.raises(UsageError, match="enable_timing=True"):
        untimed.elapsed_time(timed)
    with pytest.raises(UsageError, match="recorded"):
        timed.elapsed_time(timed)
    assert timed.query()


def test_streams_accept_every_order(cpu: Device) -> None:
    stream, other = cpu.Stream(), cpu.Stream()
    event = stream.record_event()
    other.wait_event(event)
    other.wait_stream(stream)
    stream.wait_stream(stream)
    event.wait(other)
    event.synchronize()
    stream.synchronize()
    assert stream.query()
    assert event.query()


def test_the_generator_repeats_and_restores(cpu: Device) -> None:
    cpu.manual_seed(5)
    state = cpu.get_rng_state()
    first = torch.rand(4)
    cpu.set_rng_state(state)
    assert torch.equal(torch.rand(4), first)
    cpu.manual_seed(5)
    assert torch.equal(torch.rand(4), first)


OPERATORS = ("matmul", "conv", "rnn")


@pytest.fixture
def restored_precision(cpu: Device) -> Iterator[None]:
    settings = [getattr(torch.backends.mkldnn, name) for name in OPERATORS]
    before = [setting.fp32_precision for setting in settings]
    yield
    for setting, precision in zip(settings, before, strict=True):
        setting.fp32_precision = precision


@pytest.mark.usefixtures("restored_precision")
def test_float32_precision_is_set_and_read_in_torchs_words(cpu: Device) -> None:
    assert cpu.float32_precision == "ieee"
    cpu.float32_precision = "tf32"
    assert cpu.float32_precision == "tf32"
    for name in OPERATORS:
        assert getattr(torch.backends.mkldnn, name).fp32_precision == "tf32"
    with pytest.raises(UsageError, match="no float32 precision 'fast'"):
        cpu.float32_precision = "fast"
    assert cpu.float32_precision == "tf32"
    cpu.float32_precision = "ieee"
    assert cpu.float32_precision == "ieee"


@pytest.mark.usefixtures("restored_precision")
@pytest.mark.parametrize("name", OPERATORS)
def test_one_reduced_operator_breaks_the_promise_of_ieee(cpu: Device, name: str) -> None:
    cpu.float32_precision = "ieee"
    getattr(torch.backends.mkldnn, name).fp32_precision = "bf16"
    assert cpu.float32_precision == "bf16"


def test_every_listed_type_is_held_and_multiplied(cpu: Device) -> None:
    dtypes = cpu.supported_dtypes()
    for dtype in dtypes.storage:
        assert torch.ones(4, dtype=dtype, device=cpu.torch_device).sum().item() == 4
    for dtype in dtypes.compute:
        left = torch.eye(8, dtype=dtype)
        torch.testing.assert_close(left @ left, left)
    for dtype in dtypes.autocast:
        with cpu.autocast(dtype):
            assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype is dtype


def test_what_a_processor_has_not_is_absent(cpu: Device) -> None:
    for call in (cpu.empty_cache, lambda: cpu.pin_memory(torch.ones(1))):
        with pytest.raises(UnsupportedError):
            call()
    assert cpu.board is None
    assert cpu.location.reason == "the processor is not a board"
    assert cpu.distributed_backend == "gloo"
