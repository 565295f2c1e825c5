"""Tensors of plain mode: cpu tensors whose storage a board has memory for."""

from __future__ import annotations

import weakref
from typing import Any

import torch

from accelhal.errors import UsageError
from accelhal_mock import installation
from accelhal_mock.simulation import Allocation, BitFlip, Board
from accelhal_mock.torch_errors import torch_errors
from accelhal_mock.wrong_results import flip_bit

_allocations: dict[int, Allocation] = {}
"""By the address of the storage, dropped with it."""


def allocation_of(tensor: torch.Tensor) -> Allocation | None:
    """The memory that the tensor's storage takes of a board, or None for a host tensor."""
    return _allocations.get(tensor.untyped_storage()._cdata)


def board_of(tensor: torch.Tensor) -> Board | None:
    """The board that a tensor lies on, or None for a host tensor."""
    allocation = allocation_of(tensor)
    return None if allocation is None else allocation.board


def place(tensor: torch.Tensor, board: Board) -> Allocation:
    """Take memory of a board for a tensor's storage, until the storage is dropped.

    Raises:
        torch.OutOfMemoryError: the board has none left.
    """
    storage = tensor.untyped_storage()
    address = storage._cdata
    allocation = _allocations.get(address)
    if allocation is None:
        board.machine.errors = torch_errors()
        allocation = board.memory.allocate(storage.nbytes())
        _allocations[address] = allocation
        weakref.finalize(storage, _allocations.pop, address, None)
    return allocation


def empty(*size: Any, device: int, **options: Any) -> torch.Tensor:
    """An uninitialised tensor on board `device`; other arguments are torch.empty's."""
    board = installation.machine().board(device)
    board.check_usable()
    tensor = torch.empty(*size, **options)
    place(tensor, board)
    return tensor


def put(tensor: torch.Tensor, device: int) -> torch.Tensor:
    """A copy of a tensor on board `device`, made in its current stream."""
    machine = installation.machine()
    target, source = machine.board(device), allocation_of(tensor)
    copy = tensor.detach().clone()
    allocation = place(copy, target)
    stream = target.current_stream()
    if source is None:
        cost = target.host_copy_cost(tensor.nbytes)
        flip = stream.launch("copy to board", cost, (), (allocation,))
    elif source.board is target:
        cost = target.cost.kernel(2 * tensor.nbytes)
        flip = stream.launch("copy", cost, (source,), (allocation,))
    else:
        origin = source.board.current_stream()
        flip = machine.peer_copy(origin, stream, tensor.nbytes, (source,), (allocation,))
    apply_flip(copy, flip)
    return copy.requires_grad_(tensor.requires_grad)


def get(tensor: torch.Tensor) -> torch.Tensor:
    """A copy of a board's tensor on the host, complete when this returns.

    Raises:
        UsageError: the tensor is on no board.
    """
    allocation = allocation_of(tensor)
    if allocation is None:
        raise UsageError(
            "the tensor is on the host already",
            operation="get",
            hint="only tensors from put(), empty() and work under tracked() lie on a board",
        )
    board = allocation.board
    stream = board.current_stream()
    copy = tensor.detach().clone()
    flip = stream.launch("copy to host", board.host_copy_cost(tensor.nbytes), (allocation,))
    stream.synchronize()
    apply_flip(copy, flip)
    return copy


def put_module(module: torch.nn.Module, device: int) -> torch.nn.Module:
    """Place a module's parameters and buffers on board `device`, in place; returns the module."""
    board = installation.machine().board(device)
    for tensor in (*module.parameters(), *module.buffers()):
        allocation = place(tensor.data, board)
        cost = board.host_copy_cost(tensor.nbytes)
        board.current_stream().launch("copy to board", cost, (), (allocation,))
    return module


def apply_flip(tensor: torch.Tensor, flip: BitFlip | None) -> None:
    """Flip the bit that a wrong_result fault names, in place; nothing where there is none."""
    if flip is not None:
        flip_bit(tensor.detach(), flip)
