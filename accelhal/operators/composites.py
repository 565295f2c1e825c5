"""What torch's dispatcher says of an operator whatever the backend: how it is made of others."""

from __future__ import annotations

from typing import Any

import torch

COMPOSITE_NON_FUNCTIONAL = "CompositeExplicitAutogradNonFunctional"
"""Dispatch key of kernels that make room for the result and call the out= form of the operator; two
of them, as_strided_ and new_empty_strided, have no such form and call others."""

COMPOSITE_IMPLICIT = "CompositeImplicitAutograd"
"""Dispatch key of kernels made of other operators, which autograd differentiates one by one."""

COMPOSITE_EXPLICIT = "CompositeExplicitAutograd"
"""Dispatch key of kernels for every backend. Mostly they call other operators, but some reach into
a tensor's own fields, so that they cannot be run on tensors that only stand for others.

Where the backend has no kernel of its own, torch's dispatcher takes COMPOSITE_NON_FUNCTIONAL, then
COMPOSITE_EXPLICIT, then COMPOSITE_IMPLICIT (computeDispatchTableEntryWithDebug in
aten/src/ATen/core/dispatch/OperatorEntry.cpp).
"""


def has_kernel(name: str, key: str) -> bool:
    """Whether the operator has a kernel registered for that dispatch key, in this process."""
    return bool(torch._C._dispatch_has_kernel_for_dispatch_key(name, key))


def out_form(name: str) -> str | None:
    """The out= form that an operator calls where a backend has no kernel of its own, or None.

    "aten::gelu" and "aten::gelu_" call "aten::gelu.out".
    """
    if not has_kernel(name, COMPOSITE_NON_FUNCTIONAL):
        return None
    namespace, _, rest = name.partition("::")
    operator, _, overload = rest.partition(".")
    operators = getattr(torch.ops, namespace)
    wanted = _inputs(getattr(getattr(operators, operator), overload or "default"))
    packet = getattr(operators, operator.removesuffix("_"))
    for candidate in packet.overloads():
        found = getattr(packet, candidate)
        if torch.Tag.out in found.tags and _inputs(found) == wanted:
            full_name: str = found.name()
            return full_name
    return None


def _inputs(overload: Any) -> list[tuple[str, str]]:
    return [
        (argument.name, str(argument.type))
        for argument in overload._schema.arguments
        if not argument.is_out
    ]
