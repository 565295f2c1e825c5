"""Work on plain tensors, followed as torch dispatches it: boards, time, memory, faults, hazards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from accelhal_mock.plain.tensors import allocation_of, apply_flip, board_of, place
from accelhal_mock.simulation import Allocation, Board


def tracked() -> TorchDispatchMode:
    """Context in which every operation on a board's tensors runs in that board's current stream.

    Results are placed on the board. Tensors of two boards, or of a board and the host (but for
    copies and single numbers), raise torch's own error.
    """
    return _Tracking()  # type: ignore[no-untyped-call]


class _Tracking(TorchDispatchMode):  # type: ignore[no-untyped-call]
    def __torch_dispatch__(
        self,
        func: Any,
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        options = dict(kwargs or {})
        inputs = _tensors((args, options))
        board = _board(func, inputs)
        if board is None:
            return func(*args, **options)
        board.check_usable()
        result = func(*args, **options)
        outputs = _tensors(result)
        reads = dict.fromkeys(_allocations(inputs))
        writes = dict.fromkeys(_allocations(_written(func, args, options)))
        for output in outputs:
            if allocation_of(output) is None:
                writes[place(output, board)] = None
        if not writes:  # a view: nothing runs
            return result
        cost = board.cost.kernel(sum(tensor.nbytes for tensor in (*inputs, *outputs)))
        flip = board.current_stream().launch(str(func), cost, tuple(reads), tuple(writes))
        if outputs:
            apply_flip(outputs[0], flip)
        return result


def _board(func: Any, inputs: Sequence[torch.Tensor]) -> Board | None:
    """The board that the inputs lie on, or None; raises as torch does where they are mixed."""
    boards = {str(board): board for board in map(board_of, inputs) if board is not None}
    if not boards:
        return None
    names = list(boards)
    copies = "copy" in func._schema.name
    if not copies and any(board_of(t) is None and t.dim() > 0 for t in inputs):
        names.append("cpu")
    if len(names) > 1:
        raise RuntimeError(
            "Expected all tensors to be on the same device, but found at least two devices, "
            f"{names[0]} and {names[1]}! (in {func})"
        )
    return next(iter(boards.values()))


def _written(func: Any, args: Sequence[Any], options: Mapping[str, Any]) -> list[torch.Tensor]:
    """The tensors that the operator's schema says it writes."""
    found = []
    for position, argument in enumerate(func._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            given = args[position] if position < len(args) else options.get(argument.name)
            found += _tensors(given)
    return found


def _allocations(tensors: Iterable[torch.Tensor]) -> list[Allocation]:
    return [found for found in map(allocation_of, tensors) if found is not None]


def _tensors(tree: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]
