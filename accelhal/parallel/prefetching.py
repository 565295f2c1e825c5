"""prefetch: the next batches are copied to the device while the last one is computed."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sized
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast

import torch

from accelhal.errors import UsageError
from accelhal.facade import Device, device as device_named
from accelhal.parallel.waiting import check_limit, wait_until
from accelhal.tensor_nests import mapped, moved, moves_itself

Batch = TypeVar("Batch")

DEPTH = 2
"""Batches on the device at once beside the one in use: one complete, one being copied."""

TIMEOUT_S = 300.0
"""Limit for the copy of one batch and the use of one before it."""


def prefetch(
    loader: Iterable[Batch],
    device: Device | torch.device | str,
    *,
    depth: int = DEPTH,
    timeout: float = TIMEOUT_S,
) -> Prefetched[Batch]:
    """Batches of a loader on a device, copied ahead on a stream of their own.

    Host tensors are packed into a ring of pinned buffers and copied without waiting; the current
    stream waits for each copy by an event. What is no tensor is left as it is. On a device without
    streams, and on the host, batches are moved when they are asked for. No thread is started: let
    the loader have workers where making a batch takes long.

    Args:
        loader: of nests of tensors, such as a DataLoader; read once for each `for` loop.
        device: where to.
        depth: batches that are copied ahead, 1 or more.
        timeout: seconds that the copy of one batch, or the use of an earlier one, may take.

    Raises:
        UsageError: `depth` or `timeout` is no number above 0.
    """
    if not isinstance(depth, int) or isinstance(depth, bool) or depth < 1:
        raise UsageError(
            f"depth must be 1 or more batches, not {depth!r}", operation="prefetch", hint="depth=2"
        )
    check_limit(timeout, "prefetch", TIMEOUT_S)
    return Prefetched(loader, device_named(device), depth, timeout)


class Prefetched(Generic[Batch]):
    """The loader's batches on the device. Each `for` loop has buffers of its own, and frees them.

    Args:
        loader: of batches.
        device: where to.
        depth: batches that are copied ahead.
        timeout: seconds that one of them may take.
    """

    def __init__(self, loader: Iterable[Batch], device: Device, depth: int, timeout: float) -> None:
        self._loader = loader
        self._device = device
        self._depth = depth
        self._timeout = timeout

    def __len__(self) -> int:
        return len(cast(Sized, self._loader))

    def __iter__(self) -> Iterator[Batch]:
        device = self._device
        source = iter(self._loader)
        copies = device.torch_device.type != "cpu" and all(
            map(device.supports, ("streams", "events"))
        )
        try:
            if copies:
                yield from _Ring(device, self._depth, self._timeout).run(source)
            else:
                for batch in source:
                    yield moved(batch, device.torch_device)
        finally:
            close = getattr(source, "close", None)
            if close is not None:
                close()


class _Slot:
    """Pinned memory for one batch, and what must be over before it is filled again.

    Attributes:
        copied: the copy out of it is done.
        used: what the program launched with the batch is done; None before it was launched.
    """

    def __init__(self, device: Device) -> None:
        self.copied = device.Event()
        self.used: Any = None
        self._device = device
        self._buffers: dict[tuple[int, torch.dtype], torch.Tensor] = {}
        self._taken = 0
        self._theirs: list[torch.Tensor] = []

    def reset(self) -> None:
        """Let the buffers be filled anew, from the first on."""
        self._taken = 0
        self._theirs.clear()

    def pinned(self, leaf: torch.Tensor) -> torch.Tensor:
        """The leaf's values in pinned memory: its own, where it lies there already."""
        if leaf.is_pinned():
            self._theirs.append(leaf)  # it must live until it is copied
            return leaf
        key = (self._taken, leaf.dtype)
        self._taken += 1
        kept = self._buffers.get(key)
        if kept is None or kept.numel() < leaf.numel():
            # An inference tensor could not be refilled by a caller outside inference mode.
            with torch.inference_mode(False):
                kept = self._device.pin_memory(torch.empty(leaf.numel(), dtype=leaf.dtype))
            self._buffers[key] = kept
        # In the leaf's own memory format: convolutions are slow, and views wrong, in another.
        strides = torch.empty_like(leaf, device="meta").stride()
        return kept[: leaf.numel()].as_strided(leaf.shape, strides).copy_(leaf)


@dataclass
class _Ahead:
    """A batch on its way to the device, or the loader's error in its place.

    Attributes:
        batch: complete once the slot's copies are done, but for objects that move themselves.
        tensors: those of it that were copied.
        slot: what they are copied from.
        error: of the loader.
    """

    batch: Any = None
    tensors: list[torch.Tensor] = field(default_factory=list)
    slot: _Slot | None = None
    error: Exception | None = None


class _Ring:
    """One loop over a loader: `depth` batches ahead of the one that is in use."""

    def __init__(self, device: Device, depth: int, timeout: float) -> None:
        self._device = device
        self._depth = depth
        self._timeout = timeout
        self._stream = device.Stream()
        self._pins = device.supports("pin_memory") is not None
        # One more than are ahead: that of the batch in use is filled again once it was used.
        self._slots = deque(_Slot(device) for _ in range(depth + 1))

    def run(self, source: Iterator[Any]) -> Iterator[Any]:
        """The batches, each ready for the current stream; the loader's error comes in its place."""
        ahead: deque[_Ahead] = deque()
        more = True
        try:
            while True:
                while more and len(ahead) < self._depth:
                    following = self._next(source)
                    more = following is not None and following.error is None
                    if following is not None:
                        ahead.append(following)
                if not ahead:
                    return
                slot = ahead[0].slot
                yield self._ready(ahead.popleft())
                if slot is not None:
                    slot.used = self._device.Event()
                    slot.used.record(self._device.current_stream())
        finally:
            ahead.clear()
            with suppress(Exception):  # of a lost device; what led here is raised
                for one in self._slots:
                    self._wait(one.copied)

    def _next(self, source: Iterator[Any]) -> _Ahead | None:
        try:
            batch = next(source)
        except StopIteration:
            return None
        except Exception as error:
            return _Ahead(error=error)
        slot = self._slots[0]
        self._slots.rotate(-1)
        for event in (slot.copied, slot.used):
            if event is not None:
                self._wait(event)
        slot.reset()
        following = _Ahead(slot=slot)
        records = torch.is_grad_enabled()
        # Whoever takes the batch may be outside the inference mode in which it is copied ahead.
        with (
            self._device.stream(self._stream),
            torch.inference_mode(False),
            torch.set_grad_enabled(records),
        ):
            following.batch = mapped(lambda leaf: self._copied(leaf, following), batch)
            slot.copied.record(self._stream)
        return following

    def _copied(self, leaf: Any, following: _Ahead) -> Any:
        target = self._device.torch_device
        if not isinstance(leaf, torch.Tensor) or leaf.device == target:
            return leaf
        assert following.slot is not None, "it is being filled"
        source = leaf
        if self._pins and _can_be_packed(leaf):
            source = following.slot.pinned(leaf)
        copied = source.to(target, non_blocking=leaf.device.type == "cpu")
        following.tensors.append(copied)
        return copied

    def _ready(self, following: _Ahead) -> Any:
        if following.error is not None:
            raise following.error
        assert following.slot is not None, "a batch has a slot, or an error in its place"
        stream = self._device.current_stream()
        stream.wait_event(following.slot.copied)
        for tensor in following.tensors:
            tensor.record_stream(stream)
        # What such objects allocate cannot be recorded: they move now, on the current stream.
        target = self._device.torch_device
        return mapped(lambda leaf: leaf.to(target) if moves_itself(leaf) else leaf, following.batch)

    def _wait(self, event: Any) -> None:
        wait_until(event.query, self._timeout, self._device, "an earlier batch")


def _can_be_packed(leaf: torch.Tensor) -> bool:
    """Whether it is ordinary host memory; gradients of a batch are the program's own affair."""
    return leaf.device.type == "cpu" and leaf.layout is torch.strided and not leaf.requires_grad
