"""From a model's name to a Workload: built in, or the user's own `package.module:factory`.

A factory takes no arguments and returns `(module, make_batch)` or `(module, example)`; see
`accelhal.bench.workload` for make_batch. `example` is the input for one sample, a leading dimension
of 1 on every tensor; it is repeated to the batch size.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from accelhal.bench.catalogue import BUILT_IN
from accelhal.bench.workload import Batch, MakeBatch, Workload, seeded
from accelhal.errors import UsageError, described, did_you_mean

CONTRACT = "a factory takes no arguments and returns (module, make_batch) or (module, example)"


def check_name(name: str) -> None:
    """Check that a name could be a model's, without importing anything.

    Raises:
        UsageError: neither a built-in model nor of the form "package.module:factory".
    """
    if name in BUILT_IN:
        return
    module, colon, attribute = name.partition(":")
    if colon and all(part.isidentifier() for part in f"{module}.{attribute}".split(".")):
        return
    guess = did_you_mean(name, BUILT_IN)
    raise UsageError(
        f"no model is named {name!r}",
        operation="bench",
        hint=f"{guess}built in: {', '.join(BUILT_IN)}; your own: package.module:factory",
    )


def load_workload(name: str) -> Workload:
    """Build the model of that name.

    Raises:
        UsageError: the user's factory cannot be imported, fails, or breaks the contract.
    """
    check_name(name)
    factory = _import_factory(name, BUILT_IN.get(name, name))
    with seeded():
        workload = _workload(name, _call(name, factory))
        one, two = (_batch(workload, size) for size in (1, 2))
    if [tensor.shape for tensor in _tensors(one)] == [tensor.shape for tensor in _tensors(two)]:
        raise UsageError(
            f"{name}: make_batch(2) returned no more than make_batch(1)",
            operation="bench",
            hint="make_batch(n) makes n samples: throughput is counted in samples",
        )
    return workload


def _batch(workload: Workload, size: int) -> Batch:
    what = f"{workload.name}: make_batch({size})"
    batch: Batch = _call(what, workload.make_batch, size)
    if not _is_batch(batch):
        raise UsageError(
            f"{what} returned {_described(batch)}",
            operation="bench",
            hint="return a tensor, a list or tuple of tensors, or a mapping of names to tensors",
        )
    return batch


def _call(what: str, function: Callable[..., Any], *args: object) -> Any:
    try:
        return function(*args)
    except (Exception, SystemExit) as error:
        raise UsageError(
            f"{what} raised {described(error)}", operation="bench", hint=CONTRACT
        ) from error


def _import_factory(name: str, path: str) -> Callable[[], Any]:
    module_name, _, attribute = path.partition(":")
    try:
        found: Any = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:  # a script without a main guard may exit
        absent = error.name if isinstance(error, ModuleNotFoundError) else None
        ours = absent is not None and f"{module_name}.".startswith(f"{absent}.")
        raise UsageError(
            f"{name}: importing {module_name} raised {described(error)}",
            operation="bench",
            hint="run from the folder that holds it, or install it" if ours else None,
        ) from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise UsageError(
                f"{name}: {module_name} has no attribute {attribute!r}",
                operation="bench",
                hint="write package.module:factory",
            )
        found = getattr(found, part)
    if not callable(found):
        raise UsageError(
            f"{name} is {_described(found)}, not a function", operation="bench", hint=CONTRACT
        )
    return cast("Callable[[], Any]", found)


def _workload(name: str, made: object) -> Workload:
    import torch

    if not isinstance(made, tuple) or len(made) != 2:
        raise _broken(name, f"returned {_described(made)}, not a pair")
    module, second = made
    if not isinstance(module, torch.nn.Module):
        raise _broken(name, f"returned {_described(module)} where a torch.nn.Module is due")
    if _is_batch(second):
        return Workload(name, module, _repeating(name, second))
    if callable(second) and not isinstance(second, torch.nn.Module):
        return Workload(name, module, second)
    raise _broken(
        name, f"returned {_described(second)} where make_batch or an example input is due"
    )


def _repeating(name: str, example: Any) -> MakeBatch:
    for tensor in _tensors(example):
        if tensor.ndim == 0 or tensor.shape[0] != 1:
            raise _broken(
                name,
                f"returned an example of shape {tuple(tensor.shape)}: "
                "one sample has a leading dimension of 1",
            )

    def make(batch_size: int) -> Batch:
        if isinstance(example, Mapping):
            return {key: _repeat(tensor, batch_size) for key, tensor in example.items()}
        if isinstance(example, Sequence):
            return [_repeat(tensor, batch_size) for tensor in example]
        return cast("Batch", _repeat(example, batch_size))

    return make


def _repeat(tensor: Any, batch_size: int) -> Any:
    return tensor.repeat(batch_size, *[1] * (tensor.ndim - 1))


def _is_batch(value: object) -> bool:
    import torch

    tensors = _tensors(value)
    return bool(tensors) and all(isinstance(tensor, torch.Tensor) for tensor in tensors)


def _tensors(batch: Any) -> list[Any]:
    if isinstance(batch, Mapping):
        return list(batch.values())
    if isinstance(batch, (list, tuple)):
        return list(batch)
    return [batch]


def _broken(name: str, what: str) -> UsageError:
    return UsageError(f"{name} {what}", operation="bench", hint=CONTRACT)


def _described(value: object) -> str:
    """A value by its type, as a message needs it."""
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}"
    return "None" if value is None else f"<{type(value).__name__}>"
