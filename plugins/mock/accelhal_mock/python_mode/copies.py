"""Copies: between the host and a board, between boards, and on one board."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import torch

from accelhal_mock.python_mode.host_memory import PinnedStorage, pin, pinned_storage, poison
from accelhal_mock.python_mode.host_watch import unwatch, watch
from accelhal_mock.python_mode.installed import current_installation
from accelhal_mock.python_mode.kernels import run_kernel
from accelhal_mock.python_mode.operators import OPERATORS, Operator
from accelhal_mock.python_mode.tensor import BoardTensor, storage_key, wrap
from accelhal_mock.python_mode.waiting import wait_for
from accelhal_mock.simulation import BitFlip
from accelhal_mock.wrong_results import flip_bit

aten: Any = torch.ops.aten


@OPERATORS.register(aten.copy_.default)
def copy_in_place(operator: Operator, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """`target.copy_(source, non_blocking)` where either lies on a board."""
    target, source = args[0], args[1]
    non_blocking = bool(args[2] if len(args) > 2 else kwargs.get("non_blocking", False))
    if not isinstance(target, BoardTensor):
        _to_host(source, target, non_blocking)
    elif not isinstance(source, BoardTensor):
        _from_host(source, target, non_blocking)
    elif source._board is target._board:
        return run_kernel(operator, (target, source), {})
    else:
        _between_boards(source, target)
    return target


@OPERATORS.register(aten._foreach_copy_.default)
def copy_each_in_place(operator: Operator, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """`_foreach_copy_(targets, sources, non_blocking)`: one by one, as torch where they mix."""
    single = OPERATORS[aten.copy_.default]
    for target, source in zip(args[0], args[1], strict=True):
        copy_in_place(single, (target, source, *args[2:]), kwargs)


@OPERATORS.register(aten._copy_from.default)
def copy_from(operator: Operator, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """`_copy_from(source, target, non_blocking)`: torch's own name for a copy by the backend."""
    return copy_in_place(OPERATORS[aten.copy_.default], (args[1], args[0], *args[2:]), kwargs)


@OPERATORS.register(aten._copy_from_and_resize.default)
def copy_from_and_resize(operator: Operator, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """`_copy_from_and_resize(source, target)`."""
    args[1].resize_(args[0].size())
    return copy_in_place(OPERATORS[aten.copy_.default], (args[1], args[0]), {})


@OPERATORS.register(aten._to_copy.default)
def copy_to(operator: Operator, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A copy of a tensor in another element type, layout or place."""
    source = args[0]
    device: torch.device | None = kwargs.get("device")
    if device is None or not isinstance(source, BoardTensor):
        return run_kernel(operator, args, kwargs)
    name = current_installation().name
    if device.type == name:
        board = source._board.machine.board(device.index)
        if board is source._board:
            return run_kernel(operator, args, kwargs)
    elif device.type != "cpu":
        return operator.call(source._host, **kwargs)  # meta, for one: no work of the board
    options = {key: value for key, value in kwargs.items() if key not in ("device", "pin_memory")}
    non_blocking = bool(options.pop("non_blocking", False))
    values = operator.call(source._host, **options)
    if device.type == "cpu":
        host = torch.empty_like(values)
        _to_host(source, pin(host) if non_blocking else host, non_blocking)
        return host
    memory = board.memory.allocate(values.untyped_storage().nbytes())
    target = wrap(values, board, memory, storage_key(values))
    _between_boards(source, target)
    return target


def _to_host(source: BoardTensor, target: torch.Tensor, non_blocking: bool) -> None:
    board = source._board
    stream = board.current_stream()
    storage = pinned_storage(target) if non_blocking else None
    launch = partial(
        stream.launch, "copy to host", board.host_copy_cost(source._host.nbytes), (source._memory,)
    )
    if storage is None:  # the driver waits where the target is pageable
        flip = launch()
        wait_for(stream)
        _copy(target, source._host)
        _flip(target, flip)
        return
    if stream.capture is not None:
        launch(replay=partial(_copy, target, source._host))
        return
    values = torch.empty_like(target).copy_(source._host)
    with board.machine.host.completing:  # another thread's wait must not fill it before the poison
        flip = launch(
            host_writes=(storage.buffer,), on_complete=partial(_arrive, target, values, storage)
        )
        _flip(values, flip)
        with torch._C.DisableTorchFunctionSubclass():
            poison(target)
        if board.machine.hazards.active:
            watch(target, read_by_copy=False)


def _arrive(target: torch.Tensor, values: torch.Tensor, storage: PinnedStorage) -> None:
    _copy(target, values)
    unwatch(storage)


def _from_host(source: torch.Tensor, target: BoardTensor, non_blocking: bool) -> None:
    board = target._board
    stream = board.current_stream()
    storage = pinned_storage(source) if non_blocking else None
    launch = partial(
        stream.launch,
        "copy from host",
        board.host_copy_cost(target._host.nbytes),
        (),
        (target._memory,),
    )
    if storage is None:
        flip = launch()
        if not non_blocking:
            wait_for(stream)
        _copy(target._host, source)
        _flip(target._host, flip)
    elif stream.capture is not None:
        launch(replay=partial(_copy, target._host, source))
    else:
        with board.machine.host.completing:  # another thread's wait must find it watched
            flip = launch(host_reads=(storage.buffer,), on_complete=partial(unwatch, storage))
            _copy(target._host, source)
            _flip(target._host, flip)
            if board.machine.hazards.active:
                watch(source, read_by_copy=True)


def _between_boards(source: BoardTensor, target: BoardTensor) -> None:
    streams = source._board.current_stream(), target._board.current_stream()
    flip = target._board.machine.peer_copy(
        *streams,
        source._host.nbytes,
        (source._memory,),
        (target._memory,),
        replay=partial(_copy, target._host, source._host),
    )
    if streams[0].capture is None:
        _copy(target._host, source._host)
        _flip(target._host, flip)


def _copy(target: torch.Tensor, source: torch.Tensor) -> None:
    """Copy host values, past all checks of host tensors."""
    with torch._C.DisableTorchFunctionSubclass(), torch.no_grad():
        target.copy_(source)


def _flip(values: torch.Tensor, flip: BitFlip | None) -> None:
    if flip is not None:
        flip_bit(values, flip)
