"""Which board a `device` argument means, and the calls that make one current."""

from __future__ import annotations

from typing import Any

import torch

from accelhal.runtimes.context_stack import ContextStack
from accelhal_mock.python_mode.installed import current_installation
from accelhal_mock.simulation import Board

_entered = ContextStack()


def index_of(device: Any) -> int | None:
    """Index that a device argument names, or None where it leaves it to what is current.

    Raises:
        ValueError: it names another device type.
    """
    if device is None or isinstance(device, int):
        return device
    found = torch.device(device) if isinstance(device, str) else device
    name = current_installation().name
    if not isinstance(found, torch.device) or found.type != name:
        raise ValueError(f"Expected a {name} device, but got: {device}")
    return found.index


def board_of(device: Any = None) -> Board:
    """The board that a device argument means.

    Raises:
        ValueError: it names another device type.
        torch.AcceleratorError: there is no such board.
    """
    return current_installation().machine.board(index_of(device))


def device_count() -> int:
    """How many boards there are now."""
    installation = current_installation()
    return len(installation.machine.boards) if installation.active else 0


def is_available() -> bool:
    """Whether there is a board."""
    return device_count() > 0


def current_device() -> int:
    """Index of the calling thread's current board."""
    return current_installation().machine.current_device()


def set_device(device: Any) -> None:
    """Make a board current for the calling thread; a negative index changes nothing."""
    index = index_of(device)
    if index is not None and index >= 0:
        current_installation().machine.set_device(index)


def exchange_device(index: int) -> int:
    """Make a board current, and return the one that was; -1 and no change for an index below 0."""
    if index < 0:
        return -1
    before = current_device()
    set_device(index)
    return before


class device:  # noqa: N801  (torch.cuda.device)
    """Context in which a board is current; None or a negative index changes nothing."""

    def __init__(self, device: Any) -> None:
        self.idx = index_of(device)

    def __enter__(self) -> None:
        before = current_device()
        if self.idx is not None:
            set_device(self.idx)
        _entered.push(self, lambda: set_device(before))

    def __exit__(self, *exception: object) -> None:
        _entered.pop(self)


class device_of(device):  # noqa: N801  (torch.cuda.device_of)
    """Context in which the board of a tensor is current; no change for tensors elsewhere."""

    def __init__(self, tensor: torch.Tensor) -> None:
        on_board = tensor.device.type == current_installation().name
        super().__init__(tensor.device if on_board else -1)


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    """Whether two boards reach one another over a link."""
    mine, theirs = board_of(device), board_of(peer_device)
    return mine.machine.can_access_peer(mine.index, theirs.index)
