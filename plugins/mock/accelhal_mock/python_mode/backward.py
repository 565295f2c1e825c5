"""Backward passes: on the calling thread, and ordered after the streams of the forward pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from accelhal_mock.python_mode.installed import current_installation
from accelhal_mock.simulation import Board


def run_backward(engine: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Run the autograd engine with one thread, whatever the devices.

    torch runs each backward operator in its forward operator's stream and orders the streams
    itself. Here they all run in the caller's current streams, which wait for the others first.
    """
    for board in current_installation().machine.boards:
        _wait_for_other_streams(board)
    multithreading = torch._C._is_multithreading_enabled()
    torch._C._set_multithreading_enabled(False)
    try:
        return engine(*args, **kwargs)
    finally:
        torch._C._set_multithreading_enabled(multithreading)


def _wait_for_other_streams(board: Board) -> None:
    every = board.streams()
    if len(every) == 1:
        return
    current = board.current_stream()
    for stream in every:
        unseen = stream.epoch > current.clock.get(stream.id, 0)
        if stream is not current and unseen and stream.capture is current.capture:
            current.wait_stream(stream)
