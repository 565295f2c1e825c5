"""The graphs of one model on one device: which are captured, when, and which one serves a batch."""

from __future__ import annotations

import threading
import traceback
import weakref
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import torch

from accelhal.errors import (
    ErrorKind,
    UnsupportedError,
    described,
    warn,
)
from accelhal.facade import Device
from accelhal.graphs.batch import Batch
from accelhal.graphs.budget import Places
from accelhal.graphs.captured import (
    CapturedGraph,
    CaptureSettings,
    autocast_state,
    capture,
    warm_up,
)
from accelhal.graphs.capturing import alone, refuse_inside_capture
from accelhal.graphs.model_state import ModelState, in_training
from accelhal.graphs.report import CapturedSize, FailedSize


@dataclass(eq=False)
class _Table:
    """Graphs of one shape of inputs."""

    inputs: str
    graphs: dict[int, CapturedGraph] = field(default_factory=dict)
    failed: dict[int, FailedSize] = field(default_factory=dict)
    error: Exception | None = None


class GraphSet:
    """Graphs of a model, by the shapes of its inputs and by batch size.

    One replay at a time, on the host by a lock and on the device by an event: the graphs share
    memory.

    Args:
        model: the model, in evaluation mode.
        device: where it lies.
        batch_sizes: ascending.
        max_graphs: the most graphs to hold; None for what the device can hold.
        warmup: runs before a capture.
        capture_error_mode: passed on to the vendor.
        copy_outputs: hand out copies; else the graphs' own memory.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        device: Device,
        batch_sizes: tuple[int, ...],
        max_graphs: int | None,
        warmup: int,
        capture_error_mode: str,
        copy_outputs: bool,
    ) -> None:
        self._model = model
        self._device = device
        self._batch_sizes = batch_sizes
        self._copy_outputs = copy_outputs
        self._settings = CaptureSettings(warmup, capture_error_mode, device.Stream())
        self._places = Places(device, max_graphs)
        weakref.finalize(self, self._places.give_back)
        self._lock = threading.RLock()
        self._tables: dict[Hashable, _Table] = {}
        self._state: ModelState | None = None
        self._pool: Any = None
        self._done = device.Event()
        self._last_stream: Any = None
        self.recaptures = 0

    # ---- what callers do

    def run(self, batch: Batch) -> Any:
        """The model's output for a batch.

        Raises:
            UnsupportedError: no graph can serve it.
            UsageError: a module of the model is in training mode, or this thread is capturing.
            Exception: what the model raises when it is warmed up.
        """
        refuse_inside_capture(self._device, "a GraphedModule")
        with self._lock, self._device:
            return self._following_model(self._serve, batch)

    def capture_all(self, batch: Batch) -> None:
        """Capture every size, largest first, for inputs of a batch's shapes; failures are noted.

        Raises:
            UsageError: a module of the model is in training mode, or this thread is capturing.
            Exception: what the model raises when it is warmed up.
        """
        refuse_inside_capture(self._device, "a GraphedModule")
        with self._lock, self._device:
            self._following_model(self._capture_every_size, batch)

    def drop(self) -> None:
        """Let go of every graph, and forget what failed; the next call captures anew."""
        with self._lock, self._device:
            if self._places.taken:
                with alone(self._device):
                    self._device.synchronize()
            for table in self._tables.values():
                for graph in table.graphs.values():
                    graph.graph.reset()
            self._tables.clear()
            self._places.give_back()
            self._state = None
            self._pool = None

    def captured(self) -> tuple[CapturedSize, ...]:
        """The graphs that are held."""
        with self._lock:
            return tuple(
                CapturedSize(one.size, one.inputs, one.seconds, one.memory, one.replays)
                for table in self._tables.values()
                for one in table.graphs.values()
            )

    def failed(self) -> tuple[FailedSize, ...]:
        """The sizes that could not be captured."""
        with self._lock:
            return tuple(one for table in self._tables.values() for one in table.failed.values())

    # ---- choosing

    def _serve(self, batch: Batch) -> Any:
        table = self._table(batch)
        graph = self._graph_for(table, batch)
        if batch.rows <= graph.size:
            return graph.shape.rebuilt(self._replay(graph, batch, self._copy_outputs))
        graph.shape.check_rows("splitting the batch")
        parts = []
        for start in range(0, batch.rows, graph.size):
            part = batch.part(start, min(start + graph.size, batch.rows))
            parts.append(self._replay(self._graph_for(table, part), part, True))
        return graph.shape.rebuilt(graph.shape.joined(parts))

    def _capture_every_size(self, batch: Batch) -> None:
        table = self._table(batch)
        for size in reversed(self._batch_sizes):
            if size not in table.graphs and size not in table.failed:
                self._capture(table, batch, size)

    def _table(self, batch: Batch) -> _Table:
        key = (batch.key, autocast_state(self._device))
        table = self._tables.get(key)
        if table is None:
            table = self._tables[key] = _Table(batch.described())
        return table

    def _graph_for(self, table: _Table, batch: Batch) -> CapturedGraph:
        """The smallest graph that holds the batch, captured if need be, or else the largest.

        The largest size is captured before any other: the others then fit into its memory, and it
        can serve every batch once the budget is used up.
        """
        while True:
            sizes = [size for size in self._batch_sizes if size not in table.failed]
            if not sizes:
                reasons = dict.fromkeys(one.reason for one in table.failed.values())
                raise self._no_graph(table, "; ".join(reasons))
            fitting = next((size for size in sizes if size >= batch.rows), sizes[-1])
            missing = [size for size in (sizes[-1], fitting) if size not in table.graphs]
            if not missing:
                return table.graphs[fitting]
            if not self._capture(table, batch, missing[0]) and missing[0] not in table.failed:
                break
        if not table.graphs:
            self._forget_if_empty(table)
            raise self._no_graph(table, self._places.refusal)
        held = sorted(table.graphs)
        return table.graphs[next((size for size in held if size >= batch.rows), held[-1])]

    def _no_graph(self, table: _Table, reason: str) -> UnsupportedError:
        error = UnsupportedError(
            f"{self._device} has no graph of {type(self._model).__name__} for {table.inputs}: "
            f"{reason}",
            backend=self._device.backend,
            device=str(self._device),
            operation="graph",
            capability="graphs",
            hint='fallback="eager" runs such calls without a graph',
        )
        error.__cause__ = table.error
        return error

    # ---- capturing

    def _capture(self, table: _Table, batch: Batch, size: int) -> bool:
        """Capture one size; False where no place is left, or where it fails, which is noted.

        Errors of the model itself, and those that spoil the device, are raised.
        """
        if not self._places.take():
            return False
        try:
            graph = self._captured(batch, size)
        except BaseException as error:
            self._places.give_back(1)
            if not self._places.taken:
                self._pool = None  # a pool that has lost its last graph may not be used again
            if not isinstance(error, _CaptureError):
                self._forget_if_empty(table)
                raise
            cause = error.cause
            _let_go_of_frames(cause)
            table.failed[size] = FailedSize(size, table.inputs, described(cause))
            table.error = cause
            warn(f"{self._device}: no graph of batch size {size}: {described(cause)}")
            return False
        table.graphs[size] = graph
        return True

    def _captured(self, batch: Batch, size: int) -> CapturedGraph:
        try:
            ready = warm_up(self._device, self._model, batch, size, self._settings)
        except Exception as error:
            kind = self._device.classify_error(error)
            if kind is ErrorKind.OUT_OF_MEMORY or isinstance(error, UnsupportedError):
                raise _CaptureError(error) from None
            raise
        # Not before the warm-up: lazily built tables are in their place after it.
        state = ModelState(self._model)
        if state.trains():
            raise in_training(self._model)
        if self._state is not None and not self._state.holds():
            raise _ModelChangedError
        if self._pool is None:
            self._pool = self._device.graph_pool_handle()
        try:
            graph = capture(self._device, self._model, ready, self._settings, self._pool)
        except Exception as error:
            if self._device.classify_error(error).sticky:
                raise
            raise _CaptureError(error) from None
        if not state.holds():
            with suppress(Exception):
                graph.graph.reset()
            raise _CaptureError(_replaces_its_tensors())
        self._state = state
        return graph

    def _following_model(self, work: Callable[[Batch], Any], batch: Batch) -> Any:
        """Do `work` with graphs of the model as it is: those of what it was are dropped."""
        if self._state is not None:
            if self._state.trains():
                raise in_training(self._model)
            if not self._state.holds():
                self._drop_old()
        try:
            return work(batch)
        except _ModelChangedError:
            self._drop_old()
        try:
            return work(batch)
        except _ModelChangedError:
            raise _replaces_its_tensors() from None

    def _drop_old(self) -> None:
        self.drop()
        self.recaptures += 1

    def _forget_if_empty(self, table: _Table) -> None:
        if not table.graphs and not table.failed:
            self._tables = {key: one for key, one in self._tables.items() if one is not table}

    # ---- replaying

    def _replay(self, graph: CapturedGraph, batch: Batch, copy: bool) -> list[Any]:
        stream = self._device.current_stream()
        if self._last_stream is not None and stream != self._last_stream:
            stream.wait_event(self._done)
        try:
            leaves = graph.replay(batch)
            if copy:
                leaves = [
                    leaf.clone() if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves
                ]
            return leaves
        finally:
            self._done.record(stream)
            self._last_stream = stream


class _CaptureError(Exception):
    """A size cannot be captured, for a reason that spoils nothing else."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


class _ModelChangedError(Exception):
    """The model put tensors in another's place as it ran: earlier graphs read the old ones."""


def _replaces_its_tensors() -> UnsupportedError:
    return UnsupportedError(
        "the model puts new tensors in the place of its own each time it runs",
        operation="graph",
        capability="graphs",
        hint="let its forward change them in place",
    )


def _let_go_of_frames(error: BaseException | None) -> None:
    """Free what an error's frames hold: tensors for which there was no memory."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__context__
