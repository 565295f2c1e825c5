"""Recurrent networks: the fused cells that torch asks of a device, and packed sequences.

The gates lie in torch's order: input, forget, cell, output for LSTM; reset, update, new for GRU
(aten/src/ATen/native/RNN.cpp). Backward formulas are the derivatives of the forward ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from accelhal_mock.python_mode.kernels import run_kernel
from accelhal_mock.python_mode.operators import OPERATORS, Operator

Tensor = torch.Tensor
aten: Any = torch.ops.aten


def lstm_cell(
    from_input: Tensor,
    from_hidden: Tensor,
    cell: Tensor,
    input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """(hidden state, cell state, workspace of the gates)."""
    gates = _with_bias(from_input, input_bias) + _with_bias(from_hidden, hidden_bias)
    i, f, g, o = gates.chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    new_cell = f * cell + i * g
    return o * new_cell.tanh(), new_cell, torch.cat([i, f, g, o], 1)


def lstm_cell_backward(
    grad_hidden: Tensor | None,
    grad_cell: Tensor | None,
    cell: Tensor,
    new_cell: Tensor,
    workspace: Tensor,
    has_bias: bool,
) -> tuple[Tensor, Tensor, Tensor | None]:
    """(gradient of the gates, of the former cell state, of a bias)."""
    i, f, g, o = workspace.chunk(4, 1)
    squashed = new_cell.tanh()
    if grad_hidden is None:
        grad_hidden = torch.zeros_like(new_cell)
    through_cell = grad_hidden * o * (1 - squashed * squashed)
    if grad_cell is not None:
        through_cell = through_cell + grad_cell
    grad_gates = torch.cat(
        [
            through_cell * g * i * (1 - i),
            through_cell * cell * f * (1 - f),
            through_cell * i * (1 - g * g),
            grad_hidden * squashed * o * (1 - o),
        ],
        1,
    )
    return grad_gates, through_cell * f, grad_gates.sum(0) if has_bias else None


def gru_cell(
    from_input: Tensor,
    from_hidden: Tensor,
    hidden: Tensor,
    input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """(hidden state, workspace of the gates, the former state, and the new gate's hidden part)."""
    input_reset, input_update, input_new = _with_bias(from_input, input_bias).chunk(3, 1)
    hidden_reset, hidden_update, hidden_new = _with_bias(from_hidden, hidden_bias).chunk(3, 1)
    r = (input_reset + hidden_reset).sigmoid()
    z = (input_update + hidden_update).sigmoid()
    n = (input_new + r * hidden_new).tanh()
    return n + z * (hidden - n), torch.cat([r, z, n, hidden, hidden_new], 1)


def gru_cell_backward(
    grad_hidden: Tensor, workspace: Tensor, has_bias: bool
) -> tuple[Tensor, Tensor, Tensor, Tensor | None, Tensor | None]:
    """(gradients of the input's part, the hidden part, the former state, and both biases)."""
    r, z, n, hidden, hidden_new = workspace.chunk(5, 1)
    grad_new = grad_hidden * (1 - z) * (1 - n * n)
    grad_update = grad_hidden * (hidden - n) * z * (1 - z)
    grad_reset = grad_new * hidden_new * r * (1 - r)
    grad_input = torch.cat([grad_reset, grad_update, grad_new], 1)
    grad_gates = torch.cat([grad_reset, grad_update, grad_new * r], 1)
    if not has_bias:
        return grad_input, grad_gates, grad_hidden * z, None, None
    return grad_input, grad_gates, grad_hidden * z, grad_input.sum(0), grad_gates.sum(0)


def _with_bias(gates: Tensor, bias: Tensor | None) -> Tensor:
    return gates if bias is None else gates + bias


def _register(overload: Any, cell: Callable[..., Any]) -> None:
    @OPERATORS.register(overload)
    def run(operator: Operator, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        return cell(*args, **kwargs)


_register(aten._thnn_fused_lstm_cell.default, lstm_cell)
_register(aten._thnn_fused_lstm_cell_backward_impl.default, lstm_cell_backward)
_register(aten._thnn_fused_gru_cell.default, gru_cell)
_register(aten._thnn_fused_gru_cell_backward.default, gru_cell_backward)


@OPERATORS.register(aten._pack_padded_sequence.default)
def pack_padded_sequence(operator: Operator, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """(packed values on the board, batch sizes on the host, where torch wants them)."""
    values, batch_sizes = run_kernel(operator, args, kwargs)
    return values, batch_sizes._host
