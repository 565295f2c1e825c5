"""New memory on boards: what `torch.empty` and its kin come down to. No work is queued."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from accelhal_mock.python_mode.arguments import Call
from accelhal_mock.python_mode.host_memory import pin
from accelhal_mock.python_mode.installed import current_installation
from accelhal_mock.python_mode.operators import OPERATORS, Operator
from accelhal_mock.python_mode.tensor import BoardTensor, storage_key, wrap
from accelhal_mock.simulation import Board

aten: Any = torch.ops.aten


def empty(
    size: Sequence[int],
    *,
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
    memory_format: torch.memory_format | None = None,
) -> BoardTensor:
    """Kernel of aten::empty.memory_format."""
    board = _board(device)
    dtype = dtype or torch.get_default_dtype()
    memory = board.memory.allocate(math.prod(size) * dtype.itemsize)
    host = torch.empty(size, dtype=dtype, memory_format=memory_format or torch.contiguous_format)
    return wrap(host, board, memory, storage_key(host))


def empty_strided(
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
) -> BoardTensor:
    """Kernel of aten::empty_strided."""
    board = _board(device)
    dtype = dtype or torch.get_default_dtype()
    elements = (
        0
        if 0 in size
        else 1 + sum((length - 1) * step for length, step in zip(size, stride, strict=True))
    )
    memory = board.memory.allocate(elements * dtype.itemsize)
    host = torch.empty_strided(size, stride, dtype=dtype)
    return wrap(host, board, memory, storage_key(host))


@OPERATORS.register(
    aten.empty_like.default,
    aten.new_empty.default,
    aten.new_empty_strided.default,
    aten.empty_strided.default,
    aten.empty.memory_format,
)
def run_allocation(operator: Operator, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Carry out an operator that only makes room: shape and type come from its operand."""
    call = Call(args, kwargs)
    if call.names_host:
        return made_on_host(operator, call)
    board = call.named
    if board is None:
        board = call.operands[0]._board if call.operands else _board(None)
    call.kwargs.pop("pin_memory", None)
    host = operator.call(*call.args, **call.kwargs)
    if not isinstance(host, torch.Tensor) or host.device.type != "cpu":
        return host  # empty_like(device="meta"), for one
    memory = board.memory.allocate(host.untyped_storage().nbytes())
    return wrap(host, board, memory, storage_key(host))


@OPERATORS.register(aten._efficientzerotensor.default)
def run_zero_tensor(operator: Operator, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Zeros with memory: forward differentiation asks for some without, unknown to boards."""
    zeros = OPERATORS[aten.zeros.default]
    return zeros.run(zeros, args, kwargs)


def made_on_host(operator: Operator, call: Call) -> Any:
    """A tensor of the host in the shape of a board's: `empty_like(x, device="cpu")`."""
    pinned = call.kwargs.pop("pin_memory", None)
    host = operator.call(*call.args, **call.kwargs)
    return pin(host) if pinned else host


def _board(device: torch.device | None) -> Board:
    return current_installation().machine.board(None if device is None else device.index)
