"""The model and what it is called with, from the user's factory and the inputs given as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from accelhal.errors import UsageError
from accelhal.model_factory import call_user, described_value, import_factory, is_factory_name
from accelhal.operators.inputs import InputSpec, make_input

if TYPE_CHECKING:
    import torch

OPERATION = "check-model"

CONTRACT = (
    "a factory takes no arguments and returns a torch.nn.Module, (module, inputs) or "
    "(module, args, kwargs); inputs are a tensor, a list or a mapping, or make_batch(n)"
)


@dataclass(frozen=True)
class ModelCall:
    """One call of a model: `module(*args, **kwargs)`."""

    module: torch.nn.Module
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)

    def run(self) -> Any:
        """The model's outputs."""
        return self.module(*self.args, **self.kwargs)

    def to(self, device: torch.device) -> ModelCall:
        """The same call with the model and its tensors on a device."""
        import torch
        from torch.utils._pytree import tree_map_only

        args, kwargs = tree_map_only(
            torch.Tensor, lambda tensor: tensor.to(device), (self.args, dict(self.kwargs))
        )
        return ModelCall(self.module.to(device), args, kwargs)


def check_model_name(name: str) -> None:
    """Check the form of a factory's name, without importing anything.

    Raises:
        UsageError: not of the form "package.module:factory".
    """
    if not is_factory_name(name):
        raise UsageError(
            f"{name!r} does not name a factory", operation=OPERATION, hint="package.module:factory"
        )


def load_factory(name: str) -> Callable[[], Any]:
    """Import what the name stands for.

    Raises:
        UsageError: its module does not import, lacks it, or it cannot be called.
    """
    check_model_name(name)
    return import_factory(name, name, operation=OPERATION, contract=CONTRACT)


def make_call(name: str, factory: Callable[[], Any], inputs: Sequence[InputSpec] = ()) -> ModelCall:
    """Call a factory, and add the inputs given as text, which stand before its own.

    Raises:
        UsageError: it raises, breaks the contract, or there is no input.
    """
    import torch

    made = call_user(name, factory, operation=OPERATION, contract=CONTRACT)
    parts = made if isinstance(made, tuple) else (made,)
    if not parts or not isinstance(parts[0], torch.nn.Module):
        first = parts[0] if parts else made
        raise _broken(name, f"returned {described_value(first)} where a torch.nn.Module is due")
    if len(parts) > 3:
        raise _broken(name, f"returned {described_value(made)}")
    module = parts[0]
    if inputs:
        positional = tuple(make_input(spec) for spec in inputs if spec.name is None)
        by_name = {spec.name: make_input(spec) for spec in inputs if spec.name is not None}
        return ModelCall(module, positional, by_name)
    if len(parts) == 3:
        return ModelCall(module, *_arguments(name, parts[1], parts[2]))
    if len(parts) == 2:
        return ModelCall(module, *_one(name, parts[1]))
    raise UsageError(
        f"{name} returned a model without inputs",
        operation=OPERATION,
        hint="return (module, inputs), or add --input 'float32[8,128]'",
    )


def _arguments(name: str, args: Any, kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if not isinstance(args, (list, tuple)):
        raise _broken(name, f"returned {described_value(args)} where a list of arguments is due")
    if not isinstance(kwargs, Mapping):
        raise _broken(name, f"returned {described_value(kwargs)} where a mapping is due")
    return tuple(args), dict(kwargs)


def _one(name: str, inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    import torch

    if callable(inputs) and not isinstance(inputs, (torch.nn.Module, torch.Tensor)):
        what = f"{name}: make_batch(1)"
        inputs = call_user(what, inputs, 1, operation=OPERATION, contract=CONTRACT)
    if isinstance(inputs, torch.Tensor):
        return (inputs,), {}
    if isinstance(inputs, (list, tuple)):
        return tuple(inputs), {}
    if isinstance(inputs, Mapping):
        return (), dict(inputs)
    raise _broken(name, f"returned {described_value(inputs)} where inputs are due")


def _broken(name: str, what: str) -> UsageError:
    return UsageError(f"{name} {what}", operation=OPERATION, hint=CONTRACT)
