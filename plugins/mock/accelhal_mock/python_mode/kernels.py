"""Operators on boards: computed on the host at once, accounted for in the board's stream."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch

from accelhal_mock.python_mode.arguments import Call, check_placement, dense_alone
from accelhal_mock.python_mode.arithmetic import kernel_cost
from accelhal_mock.python_mode.factories import made_on_host
from accelhal_mock.python_mode.installed import current_installation
from accelhal_mock.python_mode.operators import OPERATORS, Operator
from accelhal_mock.python_mode.random_numbers import use_board_generator
from accelhal_mock.python_mode.recording import Recording, unchanged
from accelhal_mock.python_mode.reshaping import follow_host
from accelhal_mock.python_mode.tensor import BoardTensor, wrap, wrap_view
from accelhal_mock.python_mode.waiting import wait_for
from accelhal_mock.simulation import Allocation, Board, Stream
from accelhal_mock.simulation.host import Operation
from accelhal_mock.wrong_results import flip_bit

_MASKS = (torch.bool, torch.uint8)
_EVERY_DEVICE = torch._C.DispatchKey.CompositeExplicitAutograd


def run_kernel(operator: Operator, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Carry out an operator that computes something.

    Raises:
        RuntimeError: the operands lie on several devices.
        torch.OutOfMemoryError: the board has no memory for the results.
        torch.AcceleratorError: the board fails.
        HazardError: another stream still uses the memory.
        NotImplementedError: an operand or the result is sparse.
    """
    call = Call(args, kwargs)
    if call.names_host and operator.reads_shapes:
        return made_on_host(operator, call)
    operands = call.operands
    board = call.named
    if operands:
        if len(operands) > 1 or call.strangers:
            check_placement(operator, call)
        if board is None:
            board = operands[0]._board
    elif board is None:
        board = current_installation().machine.board()
    if "pin_memory" in call.kwargs:
        call.kwargs["pin_memory"] = None
    if operator.generator is not None:
        use_board_generator(operator.generator, call, board)
    stream = board.current_stream()
    if operator.written or operator.collective:
        return _run_writing(operator, call, board, stream, args, kwargs)
    return _run_functional(operator, call, board, stream)


def _run_functional(operator: Operator, call: Call, board: Board, stream: Stream) -> Any:
    """Compute, find room for the results, then queue: an error leaves nothing behind."""
    operands = call.operands
    capturing = stream.capture is not None
    if capturing and operator.generator is not None:
        with unchanged(call.kwargs["generator"]):
            result = operator.call(*call.args, **call.kwargs)
    else:
        result = operator.call(*call.args, **call.kwargs)
    fresh: list[BoardTensor] = []
    if type(result) is torch.Tensor:
        shown: Any = _adopt(result, operands, fresh, board, stream)
    else:
        shown = _adopt_all(result, operands, fresh, board, stream)
    cost = kernel_cost(operator, call, fresh, result, board)
    reads: Sequence[Allocation] = ()
    writes: Sequence[Allocation] = ()
    if capturing or board.machine.hazards.active:
        reads = [] if operator.reads_shapes else [operand._memory for operand in operands]
        writes = [tensor._memory for tensor in fresh]
    replay = Recording(operator, call, result, _hosts(fresh)) if capturing else None
    flip = stream.launch(operator.name, cost, reads, writes, replay=replay)
    if flip is not None and fresh:
        flip_bit(fresh[0]._host, flip)
    if operator.synchronizes or (operator.synchronizes_for_masks and _has_mask(call)):
        wait_for(stream)
    return shown


def _run_writing(
    operator: Operator,
    call: Call,
    board: Board,
    stream: Stream,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> Any:
    """Queue, then compute: an error leaves the operands as they were."""
    operands = call.operands
    written = operands if operator.collective else operator.arguments_written(args, kwargs)
    written = [tensor for tensor in written if type(tensor) is BoardTensor]
    cost = kernel_cost(operator, call, (), None, board)
    capturing = stream.capture is not None
    if not capturing:
        reads: Sequence[Allocation] = ()
        writes: Sequence[Allocation] = ()
        hazards = board.machine.hazards.active
        if hazards:
            reads, writes = _uses(operands, written)
        flip = stream.launch(operator.name, cost, reads, writes)
        result = operator.call(*call.args, **call.kwargs)
        fresh: list[BoardTensor] = []
        shown = _adopt_all(result, operands, fresh, board, stream)
        if hazards and fresh:
            now = Operation(stream, stream.epoch, operator.name)
            board.machine.hazards.touch(now, (), [tensor._memory for tensor in fresh])
        if flip is not None:
            for tensor in (*written, *fresh)[:1]:
                flip_bit(tensor._host, flip)
    else:
        reads, writes = _uses(operands, written)
        with unchanged(*(tensor._host for tensor in written), call.kwargs.get("generator")):
            result = operator.complete(*call.args, **call.kwargs)
        fresh = []
        shown = _adopt_all(result, operands, fresh, board, stream)
        writes = [*writes, *(tensor._memory for tensor in fresh)]
        replay = Recording(operator, call, result, _hosts(fresh))
        stream.launch(operator.name, cost, reads, writes, replay=replay)
    if operator.resizes:
        for tensor in written:
            follow_host(tensor, operands)
    if operator.synchronizes or (operator.synchronizes_for_masks and _has_mask(call)):
        wait_for(stream)
    return shown


def run_view(operator: Operator, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Show the same memory in another shape; no work is queued."""
    base = args[0]
    if type(base) is not BoardTensor:
        return operator.call(*args, **kwargs)
    host = operator.call(base._host, *args[1:], **kwargs)
    if type(host) is torch.Tensor:
        return wrap_view(host, base)
    return [wrap_view(part, base) for part in host]


def run_composite(operator: Operator, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Carry out the operators that it is written in."""
    return operator.overload.decompose(*args, **kwargs)


def run_for_every_device(operator: Operator, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Run the one kernel that a library has written, on the board's own tensors."""
    return operator.overload._op_dk(_EVERY_DEVICE, *args, **kwargs)


OPERATORS.kernel = run_kernel
OPERATORS.view = run_view
OPERATORS.composite = run_composite
OPERATORS.for_every_device = run_for_every_device


def _adopt_all(
    result: Any,
    operands: Sequence[BoardTensor],
    fresh: list[BoardTensor],
    board: Board,
    stream: Stream,
) -> Any:
    """A result of the host as one of the board; `fresh` gains the tensors with memory of their own.

    An operand that comes back is the operand itself.
    """
    if isinstance(result, torch.Tensor):
        for operand in operands:
            if operand._host is result:
                return operand
        return _adopt(result, operands, fresh, board, stream)
    if type(result) in (list, tuple):
        return type(result)([_adopt_all(part, operands, fresh, board, stream) for part in result])
    return result


def _adopt(
    host: torch.Tensor,
    operands: Sequence[BoardTensor],
    fresh: list[BoardTensor],
    board: Board,
    stream: Stream,
) -> BoardTensor:
    if host.layout is not torch.strided:
        raise dense_alone(board, host.layout)
    storage = host.untyped_storage()
    key: int = storage._cdata
    # Some operators hand out an argument's memory though their schema does not say so.
    for sharer in (*operands, *fresh):
        if sharer._key == key:
            return wrap_view(host, sharer)
    memory = board.memory.allocate(storage.nbytes(), stream)
    tensor = wrap(host, board, memory, key)
    fresh.append(tensor)
    return tensor


def _hosts(tensors: Iterable[BoardTensor]) -> list[torch.Tensor]:
    return [tensor._host for tensor in tensors]


def _uses(
    operands: Iterable[BoardTensor], written: Iterable[BoardTensor]
) -> tuple[list[Allocation], list[Allocation]]:
    writes = [tensor._memory for tensor in written]
    return [tensor._memory for tensor in operands if tensor._memory not in writes], writes


def _has_mask(call: Call) -> bool:
    return any(isinstance(index, torch.Tensor) and index.dtype in _MASKS for index in call.args[1])
