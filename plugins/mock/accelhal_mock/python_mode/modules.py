"""Modules that move between the host and boards keep their parameter objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from accelhal_mock.python_mode.tensor import BoardTensor

_future = torch.__future__


def apply_keeping_parameters(
    original: Callable[..., torch.nn.Module],
    module: torch.nn.Module,
    function: Callable[[torch.Tensor], torch.Tensor],
    recurse: bool = True,
) -> torch.nn.Module:
    """`Module._apply`, with parameters that leave a board swapped in place of replaced."""
    if recurse:
        for child in module.children():
            child._apply(function)
    leaving = any(isinstance(one, BoardTensor) for one in module._parameters.values())
    swaps = _future.get_swap_module_params_on_conversion()
    _future.set_swap_module_params_on_conversion(swaps or leaving)
    try:
        return original(module, function, recurse=False)
    finally:
        _future.set_swap_module_params_on_conversion(swaps)


def is_swapped(original: Callable[[Any], bool], value: Any) -> bool:
    """Whether a converted parameter is swapped in: board tensors are, besides torch's choice."""
    return isinstance(value, BoardTensor) or original(value)
