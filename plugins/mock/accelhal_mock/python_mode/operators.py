"""What a dispatched operator does to its arguments, read once from torch's own schema and tags."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch.utils.flop_counter import flop_registry

Run = Callable[["Operator", Sequence[Any], Mapping[str, Any]], Any]
"""Carries out one call of an operator on boards: (operator, args, kwargs) -> result."""

_COMPOSITE = torch._C.DispatchKey.CompositeImplicitAutograd
_EVERY_DEVICE = torch._C.DispatchKey.CompositeExplicitAutograd

_SCALARS_FROM_HOST = ("_foreach_", "_fused_", "masked_fill", "index_put", "_index_put", "fill_")
"""Beside pointwise operators, those whose value may be a scalar tensor of the host."""

_TENSORS_FROM_HOST = ("_pack_padded_sequence", "_pack_padded_sequence_backward")
"""Operators whose lengths lie on the host, whatever the device of the rest."""

_INDICES_FROM_HOST = ("index", "_unsafe_index", "index_put", "index_put_", "_index_put_impl_")
"""Operators that take index tensors of the host as well; a mask among them sets the result's
size, so the host waits."""


class Operator:
    """The facts of one overload.

    Attributes:
        overload: torch's object for it.
        name: as reports show it ("aten::add.Tensor").
        call: runs it on the backend of its arguments.
        complete: the same, and does not return before the result is there.
        run: carries out a call of it on boards.
        written: (position, name) of the arguments it writes.
        reads_shapes: of its operands it reads shape and type alone ("ones_like").
        resizes: it may change the shape of what it writes.
        generator: position of the generator among its arguments, or None.
        synchronizes: the host needs its result to go on: a value, or the size of the result.
        synchronizes_for_masks: the same, where an index is a mask.
        tensors_from_host: it takes tensors of the host, or says by itself what it refuses.
        scalars_from_host: it takes scalar tensors of the host among tensors of a board.
        indices_from_host: it takes index tensors of the host.
        collective: it belongs to torch.distributed, whose schemas do not say what is written.
        flops: torch's formula for its arithmetic, or None.
    """

    __slots__ = (
        "call",
        "collective",
        "complete",
        "flops",
        "generator",
        "indices_from_host",
        "name",
        "overload",
        "reads_shapes",
        "resizes",
        "run",
        "scalars_from_host",
        "synchronizes",
        "synchronizes_for_masks",
        "tensors_from_host",
        "written",
    )

    def __init__(self, overload: Any, run: Run) -> None:
        schema, tags = overload._schema, overload.tags
        plain_name = schema.name.partition("::")[2]
        self.overload = overload
        self.name: str = overload.name()
        self.call: Callable[..., Any] = overload._op
        self.run = run
        self.written = tuple(
            (position, argument.name)
            for position, argument in enumerate(schema.arguments)
            if argument.alias_info is not None and argument.alias_info.is_write
        )
        self.reads_shapes = plain_name.endswith("_like") or plain_name.startswith("new_")
        self.resizes = bool({torch.Tag.inplace_view, torch.Tag.out} & set(tags))
        names = [argument.name for argument in schema.arguments]
        self.generator = names.index("generator") if "generator" in names else None
        self.indices_from_host = self.synchronizes_for_masks = plain_name in _INDICES_FROM_HOST
        self.synchronizes = torch.Tag.data_dependent_output in tags or (
            torch.Tag.dynamic_output_shape in tags and not self.synchronizes_for_masks
        )
        self.scalars_from_host = torch.Tag.pointwise in tags or plain_name.startswith(
            _SCALARS_FROM_HOST
        )
        self.tensors_from_host = (
            not schema.name.startswith("aten::") or plain_name in _TENSORS_FROM_HOST
        )
        self.collective = schema.name.startswith("c10d::")
        self.complete = partial(_waited_for, self.call) if self.collective else self.call
        self.flops: Callable[..., Any] | None = flop_registry.get(overload._overloadpacket)

    def arguments_written(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """The arguments that a call writes; those in lists one by one, absent ones left out."""
        found: list[Any] = []
        for position, name in self.written:
            value = args[position] if position < len(args) else kwargs.get(name)
            if isinstance(value, (list, tuple)):
                found.extend(value)
            elif value is not None:
                found.append(value)
        return found


def _waited_for(call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A collective's result once its work is done, which libraries do in threads of their own."""
    result = call(*args, **kwargs)
    for part in result if isinstance(result, tuple) else (result,):
        if isinstance(part, torch.ScriptObject):
            torch._C._distributed_c10d.Work.unbox(part).wait()
    return result


class OperatorTable(dict[Any, Operator]):
    """Operators by overload; one that is not there yet is looked at, and kept.

    Attributes:
        kernel: carries out operators that no other way is registered for.
        view: carries out those whose results share the memory of an argument.
        composite: carries out those that torch writes in terms of others.
        for_every_device: carries out those that a library writes once, for all devices.
    """

    kernel: Run
    view: Run
    composite: Run
    for_every_device: Run

    def __init__(self) -> None:
        super().__init__()
        self._special: dict[Any, Run] = {}

    def register(self, *overloads: Any) -> Callable[[Run], Run]:
        """Decorator: carry out these overloads with the decorated function."""

        def note(run: Run) -> Run:
            self._special.update(dict.fromkeys(overloads, run))
            return run

        return note

    def __missing__(self, overload: Any) -> Operator:
        operator = self[overload] = Operator(overload, self._way(overload))
        return operator

    def _way(self, overload: Any) -> Run:
        special = self._special.get(overload)
        if special is not None:
            return special
        # These arrive where autograd does not stand before the boards: in inference mode.
        if overload.has_kernel_for_dispatch_key(_COMPOSITE):
            return self.composite
        # A library's own operator that is written for every device is run on the board's tensors.
        if overload.namespace != "aten" and overload.has_kernel_for_dispatch_key(_EVERY_DEVICE):
            return self.for_every_device
        return self.view if overload.is_view else self.kernel


OPERATORS = OperatorTable()
