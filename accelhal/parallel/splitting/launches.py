"""Rows sent to a device, computed there on a stream of its own, and watched from the host."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from accelhal.facade import Device
from accelhal.parallel.splitting.parts import Part
from accelhal.tensor_nests import moved


class Launch:
    """A part under way.

    Attributes:
        part: which rows.
        output: of the model; complete once `is_done()`.
        began: when the host launched it, in seconds of `time.perf_counter`.
    """

    def __init__(
        self,
        part: Part,
        began: float,
        output: Any,
        *,
        seconds: float | None = None,
        events: tuple[Any, Any] | None = None,
        kept: Sequence[torch.Tensor] = (),
    ) -> None:
        self.part = part
        self.began = began
        self.output = output
        self._seconds = seconds
        self._events = events
        self._kept = kept

    def is_done(self) -> bool:
        """Whether the device has finished; raises what went wrong on it."""
        return self._events is None or bool(self._events[1].query())

    def finish(self) -> float:
        """Let go of the inputs; the seconds from launch to end, on the device's clock."""
        self._kept = ()
        if self._events is not None:
            start, end = self._events
            self._seconds, self._events = float(start.elapsed_time(end)) / 1e3, None
        return self._seconds or 0.0


class Launcher:
    """Launches on one device: on a side stream where the device has streams, else at once.

    Args:
        device: where.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        on_board = device.torch_device.type != "cpu"
        self.asynchronous = on_board and all(map(device.supports, ("streams", "events")))
        self._pins = on_board and device.supports("pin_memory") is not None
        self._stream = device.Stream() if self.asynchronous else None

    def launch(
        self, call: Callable[..., Any], batch: Any, part: Part, target: torch.device
    ) -> Launch:
        """Move a part's rows here and compute them.

        Args:
            call: the model on this device.
            batch: (arguments, keyword arguments) of the part's rows, wherever they lie.
            part: which they are.
            target: where outputs go; those that record gradients stay until they are joined.
        """
        began = time.perf_counter()
        stream = self._stream
        if stream is None:
            with self.device:
                args, kwargs = self._moved(batch, [])
                output = call(*args, **kwargs)
                self.device.synchronize()
            return Launch(part, began, output, seconds=time.perf_counter() - began)
        before = self.device.current_stream()
        start, end = self.device.Event(enable_timing=True), self.device.Event(enable_timing=True)
        kept: list[torch.Tensor] = []
        with self.device.stream(stream):
            stream.wait_stream(before)  # weights and inputs may have been written there
            start.record(stream)
            args, kwargs = self._moved(batch, kept)
            output = call(*args, **kwargs)
            if not torch.is_grad_enabled():
                kept += [leaf for leaf in tree_leaves(output) if isinstance(leaf, torch.Tensor)]
                output = moved(output, target, non_blocking=True)
            end.record(stream)
        return Launch(part, began, output, events=(start, end), kept=kept)

    def collect(self, output: Any, target: torch.device) -> Any:
        """A finished launch's output on `target`, safe to use on the current stream."""
        if self._stream is not None:
            current = self.device.current_stream()
            for leaf in tree_leaves(output):
                if isinstance(leaf, torch.Tensor) and leaf.device == self.device.torch_device:
                    leaf.record_stream(current)
        return moved(output, target)

    def _moved(self, batch: Any, kept: list[torch.Tensor]) -> Any:
        """The batch here; `kept` holds the pinned memory that copies read."""

        def move(leaf: Any) -> Any:
            if not isinstance(leaf, torch.Tensor):
                return leaf
            if not self._pins or leaf.device.type != "cpu" or leaf.requires_grad:
                return leaf.to(self.device.torch_device)
            with torch.inference_mode(False):  # its refills stay countable
                pinned = self.device.pin_memory(leaf)
            kept.append(pinned)
            return pinned.to(self.device.torch_device, non_blocking=True)

        return tree_map(move, batch)
