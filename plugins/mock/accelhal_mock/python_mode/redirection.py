"""torch's generic classes (Stream, Event, Generator), asked for a board, make the boards' own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from accelhal_mock.python_mode.devices import index_of
from accelhal_mock.python_mode.installed import current_installation
from accelhal_mock.python_mode.random_numbers import BoardGenerator
from accelhal_mock.python_mode.streams import PRIVATEUSE1, Event, Stream
from accelhal_mock.python_mode.tensor import board_devices


def redirected(original: Any, make: Callable[..., Any]) -> Any:
    """A class that stands for `original` in every type check, and makes what `make` returns.

    Args:
        original: the class.
        make: called with the constructor's arguments; returns None to leave it to `original`.
    """

    class Redirected(type(original)):  # type: ignore[misc]
        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            if cls is not standing_in:
                return super().__call__(*args, **kwargs)
            made = make(*args, **kwargs)
            return original(*args, **kwargs) if made is None else made

        def __instancecheck__(cls, instance: Any) -> bool:
            if cls is standing_in:
                return isinstance(instance, original)
            return bool(super().__instancecheck__(instance))

        def __subclasscheck__(cls, subclass: type) -> bool:
            if cls is standing_in:
                return issubclass(subclass, original)
            return bool(super().__subclasscheck__(subclass))

    standing_in = Redirected(
        original.__name__,
        (original,),
        {"__doc__": original.__doc__, "__module__": original.__module__},
    )
    return standing_in


def make_stream(device: Any = None, priority: int = 0, **identity: Any) -> Stream | None:
    """`torch.Stream(device, priority)`; without a device it is the accelerator's."""
    if identity:
        return Stream(**identity) if identity.get("device_type") == PRIVATEUSE1 else None
    return Stream(device, priority) if _names_board(device) else None


def make_event(
    device: Any = None,
    *,
    enable_timing: bool = False,
    blocking: bool = False,
    interprocess: bool = False,
) -> Event | None:
    """`torch.Event(device, enable_timing=...)`; without a device it is the accelerator's."""
    return Event(enable_timing, blocking, interprocess) if _names_board(device) else None


def make_generator(device: Any = "cpu") -> BoardGenerator | None:
    """`torch.Generator(device)`."""
    if device is None or not _names_board(device):
        return None
    index = index_of(device)
    installation = current_installation()
    return BoardGenerator(board_devices[installation.machine.board(index).index])


def _names_board(device: Any) -> bool:
    if device is None or isinstance(device, int):
        return True
    return torch.device(device).type == current_installation().name
