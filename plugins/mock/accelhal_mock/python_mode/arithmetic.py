"""How much work a call is: its bytes from the tensors, its operations from torch's formulas."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from accelhal_mock.python_mode.arguments import Call
from accelhal_mock.python_mode.operators import Operator
from accelhal_mock.python_mode.tensor import BoardTensor
from accelhal_mock.simulation import Board

_FORMULA_RESULTS_KEPT = 4096
_counted: dict[tuple[Any, ...], float] = {}
_dtype_names: dict[torch.dtype, str] = {}


def kernel_cost(
    operator: Operator, call: Call, fresh: Iterable[BoardTensor], result: Any, board: Board
) -> float:
    """Seconds of one call on a board.

    The bytes are those of all operands and fresh results, each once: an upper bound where an
    operator touches a part of them only.
    """
    nbytes = 0
    for tensor in call.operands:
        nbytes += tensor._host.nbytes
    for tensor in fresh:
        nbytes += tensor._host.nbytes
    if operator.flops is None or not call.operands:
        return board.cost.kernel(nbytes)
    dtype = call.operands[0]._host.dtype
    name = _dtype_names.get(dtype)
    if name is None:
        name = _dtype_names[dtype] = str(dtype).removeprefix("torch.")
    return board.cost.kernel(nbytes, _flops(operator, call, result), name)


def _flops(operator: Operator, call: Call, result: Any) -> float:
    """Floating-point operations by torch's own formula, remembered by shape."""
    assert operator.flops is not None
    key = (operator.name, *map(_shape, call.args))
    found = _counted.get(key)
    if found is None:
        if len(_counted) >= _FORMULA_RESULTS_KEPT:
            _counted.clear()
        given = {name: value for name, value in call.kwargs.items() if name != "out"}
        value = call.kwargs.get("out", result)
        found = _counted[key] = float(operator.flops(*call.args, **given, out_val=value))
    return found


def _shape(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.shape
    return tuple(value) if isinstance(value, list) else value
