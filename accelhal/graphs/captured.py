"""One batch size of a model as a graph, with the buffers that it reads and writes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from accelhal.facade import Device
from accelhal.graphs.batch import Batch
from accelhal.graphs.capturing import alone, graph
from accelhal.graphs.outputs import OutputShape, compare_outputs


@dataclass(frozen=True)
class CaptureSettings:
    """How sizes are captured.

    Attributes:
        warmup: runs before the capture, in which libraries choose kernels and take workspaces.
        capture_error_mode: passed on to the vendor.
        stream: all sizes are captured on it: only so do they share memory in one pool.
    """

    warmup: int
    capture_error_mode: str
    stream: Any


@dataclass(frozen=True)
class WarmedUp:
    """A model that has run for a batch size, and may be captured.

    Attributes:
        batch: the call it was warmed up for.
        size: rows of the buffers.
        buffers: what the graph will read.
        shape: how the output depends on the batch.
        started: `time.perf_counter()` when the warm-up began.
    """

    batch: Batch
    size: int
    buffers: list[Any]
    shape: OutputShape
    started: float


@dataclass(eq=False)
class CapturedGraph:
    """A graph of the model for one batch size.

    Attributes:
        graph: the vendor's own.
        size: rows that a replay computes.
        inputs: the shapes it takes, in words.
        buffers: what it reads.
        results: leaves of the output: what it writes.
        shape: how the output depends on the batch.
        seconds: time of warm-up and capture.
        memory: bytes it took, or None where the device counts none.
        replays: times it was replayed.
    """

    graph: Any
    size: int
    inputs: str
    buffers: list[Any]
    results: list[Any]
    shape: OutputShape
    seconds: float
    memory: int | None
    replays: int = 0

    def replay(self, batch: Batch) -> list[Any]:
        """Compute a batch of `size` rows or fewer; the leaves of its output, in the graph's memory.

        Raises:
            UnsupportedError: the batch must be padded, and the output cannot be cut.
        """
        if batch.rows != self.size:
            self.shape.check_rows("padding")
        batch.fill(self.buffers)
        self.graph.replay()
        self.replays += 1
        return self.shape.cut(self.results, batch.rows, self.size)


def warm_up(
    device: Device, model: torch.nn.Module, batch: Batch, size: int, settings: CaptureSettings
) -> WarmedUp:
    """Run the model for a batch size, on the stream it will be captured on.

    Raises:
        Exception: whatever the model raises.
        UnsupportedError: the batch cannot be found in its output.
    """
    started = time.perf_counter()
    with _undifferentiated(device):
        whole = batch if batch.rows <= size else batch.part(0, size)
        buffers = whole.buffers(size)
        other = size - 1 or 2  # rows by which the batch is told from other dimensions
        fewer = (whole if whole.rows <= other else whole.part(0, other)).buffers(other)
        stream, before = settings.stream, device.current_stream()
        stream.wait_stream(before)
        with device.stream(stream):
            try:
                shape = compare_outputs(
                    _run(model, batch, buffers), size, _run(model, batch, fewer), other
                )
                for _ in range(settings.warmup - 1):
                    _run(model, batch, buffers)
            finally:
                before.wait_stream(stream)
    return WarmedUp(whole, size, buffers, shape, started)


def capture(
    device: Device, model: torch.nn.Module, ready: WarmedUp, settings: CaptureSettings, pool: Any
) -> CapturedGraph:
    """Capture the model for a batch size that it was warmed up for.

    Raises:
        Exception: whatever the model or the vendor raises in the capture; the device and its
            streams are as they were.
    """
    with alone(device):
        device.synchronize()
        before = _memory_held(device, empty=True)
        with (
            _undifferentiated(device),
            graph(device, pool, settings.stream, settings.capture_error_mode) as recorded,
        ):
            results = tree_leaves(_run(model, ready.batch, ready.buffers))
        after = _memory_held(device)
    grown = None if before is None or after is None else max(0, after - before)
    taken = sum(one.nbytes for one in ready.buffers if isinstance(one, torch.Tensor))
    return CapturedGraph(
        graph=recorded,
        size=ready.size,
        inputs=ready.batch.described(),
        buffers=ready.buffers,
        results=results,
        shape=ready.shape,
        seconds=time.perf_counter() - ready.started,
        memory=None if grown is None else taken + grown,
    )


def autocast_state(device: Device) -> tuple[bool, torch.dtype | None]:
    """Whether autocast is on for the device in the calling thread, and in which type."""
    kind = device.torch_device.type
    on = torch.is_autocast_enabled(kind)
    return on, torch.get_autocast_dtype(kind) if on else None


def _run(model: torch.nn.Module, batch: Batch, leaves: list[Any]) -> Any:
    args, kwargs = batch.arguments(leaves)
    return model(*args, **kwargs)


@contextmanager
def _undifferentiated(device: Device) -> Iterator[None]:
    """Context for the model's runs: no gradients, ordinary tensors, no cache of cast weights.

    Inference tensors could not be refilled outside inference mode. Weights that autocast had cast
    outside the graph would be freed under it, and would not follow the model's.
    """
    on, dtype = autocast_state(device)
    with ExitStack() as stack:
        stack.enter_context(torch.inference_mode(False))
        stack.enter_context(torch.no_grad())
        if on:
            kind = device.torch_device.type
            stack.enter_context(torch.autocast(kind, dtype, cache_enabled=False))
        yield


def _memory_held(device: Device, empty: bool = False) -> int | None:
    """Bytes that the process holds on the device; None where it counts none."""
    if device.supports("caching_allocator"):
        if empty:
            device.empty_cache()  # the capture would do so, and hide what it takes
        return device.memory_reserved()
    return device.memory_allocated() if device.supports("memory_stats") else None
