"""One row: a model placed on the device, run at one batch size, and what it took."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch

from accelhal.bench.clock import Clock, Step
from accelhal.bench.memory import PeakMemory
from accelhal.bench.results import Row, RowStatus
from accelhal.bench.settings import Settings
from accelhal.bench.timing import time_steps
from accelhal.bench.workload import Batch, Workload, call, move, seeded
from accelhal.errors import ErrorKind, described
from accelhal.facade import Device

LEARNING_RATE = 1e-3

Autocast = Callable[[], AbstractContextManager[Any]]


@dataclass(frozen=True)
class Bench:
    """A device made ready to measure rows on."""

    device: Device
    clock: Clock
    memory: PeakMemory
    settings: Settings
    autocast: Autocast


def autocast_for(device: Device, dtype: str) -> Autocast:
    """The context each step runs in; checked here, so that a device without it is told at once.

    Raises:
        UnsupportedError: the device has no autocast.
        UsageError: it has none in `dtype`.
    """
    if dtype == "float32":
        return nullcontext
    element: torch.dtype = getattr(torch, dtype)
    device.autocast(element)
    return lambda: device.autocast(element)


def measure_row(bench: Bench, workload: Workload, batch_size: int) -> tuple[Row, ErrorKind | None]:
    """The row, and the kind of the error where it has one."""
    failure: ErrorKind | None = None
    try:
        row = _measure(bench, workload, batch_size)
    except (Exception, SystemExit) as error:  # a model may raise anything; it costs its own row
        failure = bench.device.classify_error(error)
        full = failure is ErrorKind.OUT_OF_MEMORY
        status = RowStatus.OUT_OF_MEMORY if full else RowStatus.FAILED
        row = Row(batch_size, status, reason=described(error))
    # The traceback held the model's tensors; only here is it gone.
    if failure is not None:
        gc.collect()
    if failure is None or not failure.sticky:
        _empty_cache(bench.device)
    return row, failure


def retire(bench: Bench, workload: Workload) -> None:
    """Take a model off the device, so that the next one finds it empty."""
    workload.module.cpu()
    _empty_cache(bench.device)


def _measure(bench: Bench, workload: Workload, batch_size: int) -> Row:
    device, settings = bench.device, bench.settings
    with device:
        module = workload.module.to(device.torch_device).train(settings.train)
        bench.memory.reset()
        with seeded():
            batch = move(workload.make_batch(batch_size), device.torch_device)
        if settings.train:
            step = _training(module, batch, bench.autocast)
            timing = time_steps(step, bench.clock, settings.seconds)
        else:
            with torch.inference_mode():
                step = _inference(module, batch, bench.autocast)
                timing = time_steps(step, bench.clock, settings.seconds)
        peak, total = bench.memory.read(), bench.memory.total
    return Row(
        batch_size,
        RowStatus.MEASURED,
        iterations=timing.iterations,
        throughput_samples_per_s=timing.batches_per_s * batch_size,
        latency_min_ms=timing.latency.min,
        latency_p50_ms=timing.latency.p50,
        latency_p95_ms=timing.latency.p95,
        latency_p99_ms=timing.latency.p99,
        peak_memory_bytes=peak,
        peak_memory_percent=100 * peak / total if peak is not None and total else None,
    )


def _inference(module: torch.nn.Module, batch: Batch, autocast: Autocast) -> Step:
    def step() -> None:
        with autocast():
            call(module, batch)

    return step


def _training(module: torch.nn.Module, batch: Batch, autocast: Autocast) -> Step:
    optimizer = torch.optim.SGD(module.parameters(), lr=LEARNING_RATE)

    def step() -> None:
        optimizer.zero_grad()
        with autocast():
            output = _first_tensor(call(module, batch))
        # Any loss gives the same work; this one has a minimum, so the weights stay finite.
        output.float().square().mean().backward()
        optimizer.step()

    return step


def _first_tensor(output: Any) -> torch.Tensor:
    if isinstance(output, Mapping):
        output = tuple(output.values())
    if isinstance(output, Sequence) and output and not isinstance(output, str):
        return _first_tensor(output[0])
    if not isinstance(output, torch.Tensor):
        raise TypeError(f"the model returned a {type(output).__name__}, which has no gradient")
    return output


def _empty_cache(device: Device) -> None:
    """Give back what a row left in the allocator, so that the next one starts like the first."""
    if device.supports("caching_allocator"):
        device.empty_cache()
