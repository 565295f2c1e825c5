"""`with graph(device) as g:`: a capture that leaves the device as it was, however it ends."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from accelhal.errors import DeviceTimeoutError, UsageError
from accelhal.facade import Device, device as open_device

if TYPE_CHECKING:
    import torch

CAPTURE_WAIT_S = 600.0
"""Longest wait for another thread's capture, in seconds."""

_capturing = threading.RLock()
_of_thread = threading.local()


def refuse_inside_capture(device: Device, what: str) -> None:
    """Refuse what cannot be part of a capture that this thread has begun with `graph`.

    Raises:
        UsageError: this thread is in the body of `with graph(...)`.
    """
    if getattr(_of_thread, "depth", 0):
        raise UsageError(
            f"{what} is called inside a capture, and graphs do not nest",
            backend=device.backend,
            device=str(device),
            operation="graph",
            hint="capture the model itself: GraphedModule.model",
        )


@contextmanager
def alone(device: Device) -> Iterator[None]:
    """Context in which no other thread of the process captures.

    torch allows one capture at a time in a process; and waiting for a device, or emptying its
    cache, would spoil a capture that is under way in another thread.

    Raises:
        DeviceTimeoutError: another thread captures for longer than CAPTURE_WAIT_S.
    """
    if not _capturing.acquire(timeout=CAPTURE_WAIT_S):
        raise DeviceTimeoutError(
            f"another thread has been capturing a graph for {CAPTURE_WAIT_S:g} s",
            backend=device.backend,
            device=str(device),
            operation="graph",
            hint="a body of `with graph(...)` must end before another capture begins",
        )
    try:
        yield
    finally:
        _capturing.release()


@contextmanager
def graph(
    device: Device | str | torch.device | None = None,
    pool: Any = None,
    stream: Any = None,
    capture_error_mode: str = "global",
) -> Iterator[Any]:
    """Record the work of the body into a new graph instead of running it.

        with accelhal.graphs.graph(device) as recorded:
            y = model(x)
        recorded.replay()

    The work must have run once before, on a side stream, so that nothing is set up inside the
    capture; `GraphedModule` does so by itself. Current device and stream are what they were
    afterwards, also where the body or the vendor's own context fails half-way. Captures of other
    threads wait until this one has ended.

    Args:
        device: where the work runs; the one that `accelhal.device()` chooses when None.
        pool: memory shared with other graphs: `device.graph_pool_handle()`, or another graph's
            `pool()`. Only graphs captured on one stream share memory in it, and they must not
            replay at the same time.
        stream: stream of this device to capture on; a new one when None.
        capture_error_mode: which threads' unsafe calls end the capture: "global", "thread_local"
            or "relaxed". Always passed on, by name: the vendors' defaults and orders differ.

    Yields:
        The vendor's own graph, with `replay()`, `reset()` and `pool()`.

    Raises:
        UnsupportedError: the device has no graphs or no streams.
        UsageError: an unknown mode, or another device's stream.
        DeviceTimeoutError: another thread captures for longer than CAPTURE_WAIT_S.
    """
    target = open_device(device)
    recorded = target.Graph()
    with alone(target), target.stream(target.current_stream()):
        context = target.graph(
            recorded, pool=pool, stream=stream, capture_error_mode=capture_error_mode
        )
        context.__enter__()
        try:
            with _inside():
                yield recorded
        except BaseException:
            with suppress(Exception):  # the body's error says what went wrong
                context.__exit__(*sys.exc_info())
            _discard(recorded)
            raise
        try:
            context.__exit__(None, None, None)
        except BaseException:
            _discard(recorded)
            raise


@contextmanager
def _inside() -> Iterator[None]:
    _of_thread.depth = getattr(_of_thread, "depth", 0) + 1
    try:
        yield
    finally:
        _of_thread.depth -= 1


def _discard(recorded: Any) -> None:
    with suppress(Exception):  # some refuse to reset what was never captured
        recorded.reset()
