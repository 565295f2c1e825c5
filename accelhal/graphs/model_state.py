"""What a capture bakes in of a model, and whether the model still has it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from operator import attrgetter, is_, methodcaller
from typing import Any

import torch

from accelhal.errors import UsageError

# Every call of a GraphedModule looks at all of these, so the loops are C's.
_values = methodcaller("values")
_address = methodcaller("data_ptr")
_shape = attrgetter("shape")
_stride = methodcaller("stride")
_training = attrgetter("training")

_OF_EVERY_MODULE = frozenset(vars(torch.nn.Module()))


class ModelState:
    """The modules of a model and the memory of its tensors, as they are now.

    A graph reads the very memory it was captured with. Values changed in place are seen by a
    replay; a parameter, buffer, submodule or plain tensor attribute put in the place of another, or
    of None, is not, nor is one whose memory was exchanged (`.to()`, `.data = `,
    `load_state_dict(assign=True)`). Numbers and other Python values that a forward reads are baked
    in too; no one can tell which of them matter, so they are not watched.

    Args:
        model: the model that is captured.
    """

    def __init__(self, model: torch.nn.Module) -> None:
        self._modules = tuple(model.modules())
        self._tables = tuple(
            table
            for module in self._modules
            for table in (module._parameters, module._buffers, module._modules)
        )
        self._registered = self._now_registered()
        self._attributes = tuple(
            (vars(module), name, value)
            for module in self._modules
            for name, value in vars(module).items()
            if isinstance(value, torch.Tensor) or (value is None and name not in _OF_EVERY_MODULE)
        )
        self._tensors = _distinct_tensors(
            (*self._registered, *(value for _, _, value in self._attributes))
        )
        self._memory = self._now_in_memory()

    def holds(self) -> bool:
        """Whether the model still consists of the same tensors, in the same memory."""
        registered = self._now_registered()
        return (
            len(registered) == len(self._registered)
            and all(map(is_, registered, self._registered))
            and all(table.get(name) is value for table, name, value in self._attributes)
            and self._now_in_memory() == self._memory
        )

    def trains(self) -> bool:
        """Whether a module is in training mode."""
        return any(map(_training, self._modules))

    def _now_registered(self) -> list[Any]:
        return list(chain.from_iterable(map(_values, self._tables)))

    def _now_in_memory(self) -> list[Any]:
        """Address and layout of each tensor: one address can be seen in several shapes."""
        tensors = self._tensors
        return [*map(_address, tensors), *map(_shape, tensors), *map(_stride, tensors)]


def in_training(model: torch.nn.Module) -> UsageError:
    """The refusal of a model in training mode."""
    return UsageError(
        f"{type(model).__name__}, or a module in it, is in training mode",
        operation="graph",
        hint="model.eval() first; accelhal.graphs.make_graphed_callables captures training",
    )


def _distinct_tensors(values: Iterable[Any]) -> Sequence[torch.Tensor]:
    return tuple({id(one): one for one in values if isinstance(one, torch.Tensor)}.values())
