"""From the arguments of a call on boards to those of the same call on the host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from accelhal_mock.python_mode.installed import current_installation
from accelhal_mock.python_mode.operators import Operator
from accelhal_mock.python_mode.tensor import BoardTensor
from accelhal_mock.simulation import Board

_HOST = torch.device("cpu")


class Call:
    """One call of an operator, turned to the host's tensors.

    Attributes:
        args: positional arguments, each board tensor replaced by its host values.
        kwargs: the named ones, likewise.
        operands: the board tensors among them, in order.
        named: the board that a `device` argument names, or None.
        names_host: a `device` argument names the host.
        strangers: tensors among the arguments that lie on the host.
    """

    __slots__ = ("args", "kwargs", "named", "names_host", "operands", "strangers")

    def __init__(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        self.operands: list[BoardTensor] = []
        self.strangers: list[torch.Tensor] = []
        self.named: Board | None = None
        self.names_host = False
        operands = self.operands
        plain = []
        for value in args:
            kind = type(value)
            if kind is BoardTensor:
                operands.append(value)
                plain.append(value._host)
            elif kind in _PLAIN:
                plain.append(value)
            else:
                plain.append(self._unwrapped(value))
        self.args: list[Any] = plain
        self.kwargs: dict[str, Any] = (
            {name: self._unwrapped(value) for name, value in kwargs.items()} if kwargs else {}
        )

    def _unwrapped(self, value: Any) -> Any:
        kind = type(value)
        if kind in _PLAIN:
            return value
        if kind is list or kind is tuple:
            return kind([self._unwrapped(part) for part in value])
        if isinstance(value, BoardTensor):
            self.operands.append(value)
            return value._host
        if isinstance(value, torch.Tensor):
            self.strangers.append(value)
            return value
        if kind is torch.device:
            return self._device(value)
        return value

    def _device(self, device: torch.device) -> torch.device:
        installation = current_installation()
        if device.type != installation.name:
            self.names_host = device.type == _HOST.type
            return device
        self.named = installation.machine.board(device.index)
        return _HOST


_PLAIN = frozenset({int, float, bool, complex, str, type(None), torch.dtype, torch.layout})


def check_placement(operator: Operator, call: Call) -> None:
    """Refuse operands that do not lie on one board, in torch's own words.

    Raises:
        RuntimeError: boards, or a board and the host, are mixed as no real board allows.
        NotImplementedError: an operand is sparse.
    """
    operands = call.operands
    first = operands[0]
    for operand in operands:
        if operand._board is not first._board:
            raise _mixed(operator, call, first, operand)
    if operator.tensors_from_host:
        return
    for stranger in call.strangers:
        if stranger.layout is not torch.strided:
            raise dense_alone(first.device, stranger.layout)
        if stranger.dim() == 0 and operator.scalars_from_host:
            continue
        if operator.indices_from_host and any(index is stranger for index in call.args[1]):
            continue
        raise _mixed(operator, call, first, stranger)


def dense_alone(device: object, layout: torch.layout) -> NotImplementedError:
    """The error for a sparse tensor on a board."""
    return NotImplementedError(
        f"{device} is simulated with dense tensors alone, not {layout}: use tensor.cpu() for it"
    )


def _mixed(
    operator: Operator, call: Call, first: torch.Tensor, other: torch.Tensor
) -> RuntimeError:
    """The error of TensorIterator for pointwise operators, of the dispatcher for the others."""
    if first.device == other.device:
        return RuntimeError(
            f"a tensor on {other.device} was made before the simulated boards were installed anew, "
            "and cannot be used together with one made since: make it again"
        )
    if operator.scalars_from_host:
        return RuntimeError(
            "Expected all tensors to be on the same device, but found at least two devices, "
            f"{first.device} and {other.device}!"
        )
    host = other._host if isinstance(other, BoardTensor) else other
    name = next(
        (
            argument.name
            for argument, value in zip(operator.overload._schema.arguments, call.args, strict=False)
            if value is host or (isinstance(value, list) and any(part is host for part in value))
        ),
        "tensor",
    )
    method = f"{first.device.type.upper()}__{operator.overload._opname}"
    return RuntimeError(
        f"Expected all tensors to be on the same device, but got {name} is on {other.device}, "
        f"different from other tensors on {first.device} (when checking argument in method "
        f"wrapper_{method})"
    )
