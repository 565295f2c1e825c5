"""`with device:` and `with device.stream(s):`, restored per thread."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from accelhal.runtimes.context_stack import ContextStack

if TYPE_CHECKING:
    from accelhal.facade.device_object import Device

entered = ContextStack()
"""Devices and streams that each thread has entered."""


class StreamContext:
    """`with device.stream(s):`; holds no state of its own, so it may be shared and re-entered."""

    __slots__ = ("_device", "_stream")

    def __init__(self, device: Device, stream: Any) -> None:
        self._device = device
        self._stream = stream

    def __enter__(self) -> Any:
        if self._stream is None:
            entered.push(self, _nothing)
            return None
        device = self._device
        device_before = device._backend.ask("current_device")
        stream_before = device._call("current_stream")
        restore = partial(_restore_stream, device, stream_before, device_before)
        try:
            device._call("set_stream", self._stream)
            device._call("set_device")
        except BaseException:
            with suppress(Exception):  # the first error says what went wrong
                restore()
            raise
        entered.push(self, restore)
        return self._stream

    def __exit__(self, *exception: object) -> None:
        entered.pop(self)


def _nothing() -> None:
    """Restore nothing: the context changed nothing."""


def _restore_stream(device: Device, stream: Any, current: int) -> None:
    device._call("set_stream", stream)
    device._backend.ask("set_device", current)
