"""The device type's kernels in torch's dispatcher: public registration, once for the process."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import torch

from accelhal_mock.python_mode import copies, factories, kernels, recurrent, streams
from accelhal_mock.python_mode.autocast_rules import register_autocast
from accelhal_mock.python_mode.host_memory import pin, pinned_storage
from accelhal_mock.python_mode.operators import OPERATORS

KEY = "PrivateUse1"

WAYS = (copies, factories, kernels, recurrent, streams)
"""The modules that say how operators are carried out; importing them fills OPERATORS."""

_FOUND_BELOW_PYTHON = (
    "_copy_from",
    "_local_scalar_dense",
    "as_strided",
    "copy_",
    "fill_.Scalar",
    "tril_indices",
    "triu_indices",
    "view",
    "zero_",
)
"""torch.tensor(..., device=) calls these with the Python key excluded. A boxed Python fallback
fails there for wrapper tensors (an internal assert, `func != nullptr`); kernels are found."""

_libraries: list[torch.library.Library] = []


def register_kernels(name: str) -> None:
    """Register everything for the device type `name`."""
    register_operators(KEY)
    operators = torch.library.Library("aten", "IMPL")
    others = torch.library.Library("_", "IMPL")
    _libraries.extend((operators, others))
    # Without this every operator that has no autocast kernel fails under autocast.
    others.fallback(torch.library.fallthrough_kernel, f"Autocast{KEY}")
    register_autocast(operators, name)


def register_operators(key: str) -> None:
    """Carry out operators of dispatch key `key` on boards, and pin host memory for them."""
    operators = torch.library.Library("aten", "IMPL")
    others = torch.library.Library("_", "IMPL")
    _libraries.extend((operators, others))
    others.fallback(_dispatch, key)
    operators.impl("empty.memory_format", factories.empty, key)
    operators.impl("empty_strided", factories.empty_strided, key)
    for full_name in _FOUND_BELOW_PYTHON:
        packet, _, overload = full_name.partition(".")
        found = getattr(getattr(torch.ops.aten, packet), overload or "default")
        operators.impl(full_name, partial(_dispatch, found), key)
    with warnings.catch_warnings():
        # These replace torch's kernels for the CPU, which ask a C++ hook for pinned memory.
        warnings.filterwarnings("ignore", message="Warning only once for all operators")
        operators.impl("_pin_memory", _pinned_copy, "CPU")
        operators.impl("is_pinned", _is_pinned, "CPU")


def _dispatch(overload: Any, *args: Any, **kwargs: Any) -> Any:
    operator = OPERATORS[overload]
    return operator.run(operator, args, kwargs)


def _pinned_copy(tensor: torch.Tensor, device: Any = None) -> torch.Tensor:
    copy = torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype)
    return pin(copy.copy_(tensor))


def _is_pinned(tensor: torch.Tensor, device: Any = None) -> bool:
    return pinned_storage(tensor) is not None


def _refuse_pin(operator: Any, args: Any, kwargs: Any) -> Any:
    raise RuntimeError(f"cannot pin '{args[0].type()}' only dense CPU tensors can be pinned")


def _on_board_is_pinned(operator: Any, args: Any, kwargs: Any) -> bool:
    return False


OPERATORS.register(torch.ops.aten._pin_memory.default)(_refuse_pin)
OPERATORS.register(torch.ops.aten.is_pinned.default)(_on_board_is_pinned)
