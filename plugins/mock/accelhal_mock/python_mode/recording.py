"""A captured call: done again on the same memory at each replay of its graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from accelhal_mock.python_mode.arguments import Call
from accelhal_mock.python_mode.host_memory import poison
from accelhal_mock.python_mode.operators import Operator
from accelhal_mock.simulation import BitFlip
from accelhal_mock.wrong_results import flip_bit


class Recording:
    """One call of an operator, with the host tensors it read and wrote.

    Args:
        operator: what was called.
        call: its arguments, turned to the host's.
        result: what it returned on the host.
        fresh: the tensors in `result` that have memory of their own.
    """

    __slots__ = ("_args", "_call", "_kept", "_kwargs", "_only_shapes")

    def __init__(
        self, operator: Operator, call: Call, result: Any, fresh: Sequence[torch.Tensor]
    ) -> None:
        self._call = operator.complete
        # Their shapes are as they are now, whatever later in-place views make of the tensors.
        self._args = _as_now(call.args)
        self._kwargs = {name: _as_now(value) for name, value in call.kwargs.items()}
        self._only_shapes = torch.Tag.inplace_view in operator.overload.tags
        self._kept = [
            (position, _as_now(tensor))
            for position, tensor in enumerate(_tensors(result))
            if any(tensor is one for one in fresh)
        ]

    def __call__(self) -> None:
        """Compute again, into the memory of the captured results."""
        if self._only_shapes:
            return
        again = _tensors(self._call(*self._args, **self._kwargs))
        for position, tensor in self._kept:
            tensor.copy_(again[position])

    def forget_results(self) -> None:
        """Spoil what the capture computed: a real board computes nothing before the replay."""
        for _, tensor in self._kept:
            poison(tensor)

    def flip_result(self, flip: BitFlip) -> None:
        """Put a fault's wrong bit into the first result, where it has one."""
        for _, tensor in self._kept[:1]:
            flip_bit(tensor, flip)


@contextmanager
def unchanged(*kept: torch.Tensor | torch.Generator | None) -> Iterator[None]:
    """Context after which these tensors and generators are as they were.

    A tensor that was given more or fewer elements (`out=`) holds nothing of use afterwards.
    """
    tensors = [(one, one.clone()) for one in kept if isinstance(one, torch.Tensor)]
    generators = [(one, one.get_state()) for one in kept if isinstance(one, torch.Generator)]
    try:
        yield
    finally:
        for tensor, values in tensors:
            if tensor.numel() != values.numel():
                poison(tensor)
            elif tensor.shape == values.shape:
                tensor.copy_(values)
        for generator, state in generators:
            generator.set_state(state)


def _as_now(value: Any) -> Any:
    """The same memory in tensors of their own."""
    if isinstance(value, torch.Tensor):
        return value.detach()
    if type(value) in (list, tuple):
        return type(value)(map(_as_now, value))
    return value


def _tensors(result: Any) -> list[torch.Tensor]:
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, (list, tuple)):
        return [tensor for part in result for tensor in _tensors(part)]
    return []
