"""torch.compile sees board tensors as ordinary tensors of their device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from accelhal_mock.python_mode.tensor import BoardTensor


def compile_with_boards(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`torch.compile`, after Dynamo was told of board tensors. Dynamo is imported no earlier."""
    from torch._dynamo.variables.builder import VariableBuilder

    # Dynamo keeps this table; it maps the types that it knows to how it takes them in.
    VariableBuilder._type_dispatch()[BoardTensor] = VariableBuilder.wrap_tensor
    return original(*args, **kwargs)
