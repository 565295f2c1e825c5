"""The lane of a device with streams: batches are copied in and out while others are computed."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from accelhal.batching.collation import Arguments
from accelhal.batching.lane import DeviceLane, Launched, Work
from accelhal.tensor_nests import moved as to_device

if TYPE_CHECKING:
    from accelhal.facade import Device

NEEDED = ("streams", "events", "pin_memory")
"""Capabilities without which copies do not overlap with computing."""

BUFFERS_KEPT = 16
"""Buffers of one slot and kind; the shapes of a batch are few, or buckets make them so."""


class Buffers:
    """Tensors to be used again, by type and the shape behind the rows.

    Args:
        make: a new tensor of that shape and type.
    """

    def __init__(self, make: Callable[[tuple[int, ...], torch.dtype], torch.Tensor]) -> None:
        self._make = make
        self._kept: OrderedDict[object, torch.Tensor] = OrderedDict()

    def take(self, tag: object, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        """A tensor of that shape; equal tags get the same memory."""
        key = (tag, tuple(shape[1:]), dtype)
        rows = shape[0] if shape else 1
        kept = self._kept.get(key)
        if kept is None or (shape and len(kept) < rows):
            # An inference tensor could not be refilled by a caller outside inference mode.
            with torch.inference_mode(False):
                kept = self._make(tuple(shape), dtype)
            self._kept[key] = kept
            while len(self._kept) > BUFFERS_KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return kept[:rows] if shape else kept


class Slot:
    """What one batch under way needs: buffers on both sides, and events between its stages."""

    def __init__(self, device: Device) -> None:
        def pinned(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
            return device.pin_memory(torch.empty(shape, dtype=dtype))

        def on_device(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
            return torch.empty(shape, dtype=dtype, device=device.torch_device)

        self.host_in = Buffers(pinned)
        self.device_in = Buffers(on_device)
        self.host_out = Buffers(pinned)
        self.copied_in = device.Event()
        self.computed = device.Event()
        self.copied_out = device.Event(blocking=True)


class StagedLane(DeviceLane):
    """A ring of slots: pack into pinned memory, copy in, compute, copy out, each on its stream.

    Batches whose tensors lie on the device already, and those that record gradients, take the way
    of DeviceLane.

    Args:
        model: on the device.
        device: where it lies; it has the capabilities in `NEEDED`.
        depth: batches under way at once, and slots.
    """

    def __init__(self, model: Callable[..., Any], device: Device, depth: int) -> None:
        super().__init__(model, device)
        self.depth = depth
        self._free: deque[Slot] = deque()

    def start(self) -> None:
        """See Lane."""
        super().start()
        device = self._device
        self._copy_in, self._compute, self._copy_out = (device.Stream() for _ in range(3))
        self._free.extend(Slot(device) for _ in range(self.depth))

    def launch(self, work: Work) -> Launched:
        """See Lane."""
        if not _stageable(work):
            return super().launch(work)
        slot = self._free.popleft() if self._free else Slot(self._device)
        try:
            return self._launch(work, slot)
        except BaseException:
            with suppress(Exception):  # the first error says what went wrong
                self._settle()
            self._free.append(slot)
            raise

    def _launch(self, work: Work, slot: Slot) -> Launched:
        device, compute = self._device, self._compute
        taken = count()
        arguments = work.arguments(
            lambda shape, dtype: slot.host_in.take(next(taken), shape, dtype)
        )
        with device.stream(self._copy_in):
            leaves, tree = tree_flatten((arguments.args, arguments.kwargs))
            moved = [
                _copied(place, leaf, slot.device_in, of_host=True)
                for place, leaf in enumerate(leaves)
            ]
            slot.copied_in.record(self._copy_in)
        with device.stream(compute):
            compute.wait_stream(device.default_stream())  # where weights are loaded and moved
            compute.wait_event(slot.copied_in)
            args, kwargs = tree_unflatten(moved, tree)
            output = self._model(*args, **kwargs)
            slot.computed.record(compute)
        results, out_tree = tree_flatten(output)
        if any(isinstance(leaf, torch.Tensor) and leaf.requires_grad for leaf in results):
            return self._finish_with_gradients(output, arguments, slot)
        with device.stream(self._copy_out):
            self._copy_out.wait_event(slot.computed)
            copies = [
                _copied(place, leaf, slot.host_out, of_host=False)
                for place, leaf in enumerate(results)
            ]
            slot.copied_out.record(self._copy_out)

        def finish() -> Any:
            slot.copied_out.synchronize()
            # Out of the slot, which the next batch refills.
            owned = [leaf.clone() if isinstance(leaf, torch.Tensor) else leaf for leaf in copies]
            results.clear()
            moved.clear()
            self._free.append(slot)
            return tree_unflatten(owned, out_tree)

        return Launched(arguments, finish)

    def _finish_with_gradients(self, output: Any, arguments: Arguments, slot: Slot) -> Launched:
        self._settle()
        host = to_device(output, "cpu")
        self._free.append(slot)
        return Launched(arguments, lambda: host)

    def _settle(self) -> None:
        for stream in (self._copy_in, self._compute, self._copy_out):
            stream.synchronize()


def _copied(place: int, leaf: Any, buffers: Buffers, *, of_host: bool) -> Any:
    """A tensor of the host, or of a device, in a buffer at the other end; other leaves stay."""
    if not isinstance(leaf, torch.Tensor) or (leaf.device.type == "cpu") is not of_host:
        return leaf
    target = buffers.take(place, tuple(leaf.shape), leaf.dtype)
    with torch.no_grad():
        target.copy_(leaf, non_blocking=True)
    return target


def _stageable(work: Work) -> bool:
    """Whether all tensors lie on the host and no gradient of them is wanted."""
    for request in work.batch.requests:
        value = request.value
        leaves = (value,) if isinstance(value, torch.Tensor) else tree_leaves(value)
        for leaf in leaves:
            if leaf.device.type != "cpu" or (work.state.grad and leaf.requires_grad):
                return False
    return True
