"""From a model's name to a Workload: built in, or the user's own `package.module:factory`.

A factory takes no arguments and returns `(module, make_batch)` or `(module, example)`; see
`accelhal.bench.workload` for make_batch. `example` is the input for one sample, a leading dimension
of 1 on every tensor; it is repeated to the batch size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from accelhal.bench.catalogue import BUILT_IN
from accelhal.bench.workload import Batch, MakeBatch, Workload, seeded
from accelhal.errors import UsageError, did_you_mean
from accelhal.model_factory import call_user, described_value, import_factory, is_factory_name

CONTRACT = "a factory takes no arguments and returns (module, make_batch) or (module, example)"


def check_name(name: str) -> None:
    """Check that a name could be a model's, without importing anything.

    Raises:
        UsageError: neither a built-in model nor of the form "package.module:factory".
    """
    if name in BUILT_IN:
        return
    if is_factory_name(name):
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
    path = BUILT_IN.get(name, name)
    factory = import_factory(name, path, operation="bench", contract=CONTRACT)
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
            f"{what} returned {described_value(batch)}",
            operation="bench",
            hint="return a tensor, a list or tuple of tensors, or a mapping of names to tensors",
        )
    return batch


def _call(what: str, function: Callable[..., Any], *args: object) -> Any:
    return call_user(what, function, *args, operation="bench", contract=CONTRACT)


def _workload(name: str, made: object) -> Workload:
    import torch

    if not isinstance(made, tuple) or len(made) != 2:
        raise _broken(name, f"returned {described_value(made)}, not a pair")
    module, second = made
    if not isinstance(module, torch.nn.Module):
        raise _broken(name, f"returned {described_value(module)} where a torch.nn.Module is due")
    if _is_batch(second):
        return Workload(name, module, _repeating(name, second))
    if callable(second) and not isinstance(second, torch.nn.Module):
        return Workload(name, module, second)
    raise _broken(
        name, f"returned {described_value(second)} where make_batch or an example input is due"
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
