"""Gradients of parameters that are DTensors, added without DTensor's dispatch where that is alike.

Autograd keeps a gradient by detaching it, which of a DTensor costs more than computing it for a
small layer. What it would do with a part is done here on the part itself; wherever anybody else is
to see the gradient on its way (hooks, `torch.autograd.grad`), autograd gets it and does it all.
"""

from __future__ import annotations

from typing import Any

import torch

from accelhal.parallel.shards import in_layout, layout_of, local_part

_engine_runs = getattr(torch._C, "_will_engine_execute_node", None)
"""Whether this backward pass gets to a node; it raises where the node's gradient is asked for."""


def accumulated(parameter: Any, node: Any, part: torch.Tensor) -> torch.Tensor | None:
    """Add this rank's part to a parameter's gradient, or make the gradient for autograd to add.

    Args:
        parameter: the parameter.
        node: autograd's node of it, in the graph that runs backward.
        part: gradient of this rank's part, of memory that nobody else holds.

    Returns:
        What the backward function returns for the parameter; None where nothing is left to do.
    """
    layout = layout_of(parameter)
    if layout is None:
        return part
    if not _is_merely_added(parameter, node):
        return in_layout(part, layout)
    before = parameter.grad
    if before is None:
        parameter.grad = in_layout(part, layout)
    elif layout_of(before) == layout:
        local_part(before).add_(part)
    else:
        return in_layout(part, layout)
    return None


def _is_merely_added(parameter: Any, node: Any) -> bool:
    """Whether autograd would add the gradient to `.grad` with nobody looking."""
    if (
        _engine_runs is None
        or not parameter.is_leaf
        or parameter._backward_hooks
        or parameter._post_accumulate_grad_hooks
    ):
        return False
    try:
        return bool(_engine_runs(node))
    except RuntimeError:  # torch.autograd.grad asks for this very gradient
        return False
