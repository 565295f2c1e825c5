"""What is measured: a module and a way to make its input batches. The contract of a factory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, Union

if TYPE_CHECKING:
    import torch

SEED = 0
"""Weights and inputs are random, and the same in every run."""

Batch: TypeAlias = Union["torch.Tensor", Sequence["torch.Tensor"], Mapping[str, "torch.Tensor"]]
"""Input of one call: `module(tensor)`, `module(*sequence)` or `module(**mapping)`."""

MakeBatch: TypeAlias = Callable[[int], Batch]
"""Batch size -> a batch of that many samples, on the host."""


@dataclass(frozen=True)
class Workload:
    """A model to measure.

    Attributes:
        name: what the result calls it.
        module: on the device while it is measured, on the host afterwards.
        make_batch: batch size -> input on the host.
    """

    name: str
    module: torch.nn.Module
    make_batch: MakeBatch


def move(batch: Batch, device: torch.device) -> Batch:
    """The batch with every tensor on `device`."""
    if isinstance(batch, Mapping):
        return {name: tensor.to(device) for name, tensor in batch.items()}
    if isinstance(batch, Sequence):
        return [tensor.to(device) for tensor in batch]
    return batch.to(device)


def call(module: torch.nn.Module, batch: Batch) -> Any:
    """The module's output for the batch."""
    if isinstance(batch, Mapping):
        return module(**batch)
    if isinstance(batch, Sequence):
        return module(*batch)
    return module(batch)


@contextmanager
def seeded() -> Iterator[None]:
    """Random tensors made on the host inside are the same in every run; the generator is put back.

    Only the host's generator: seeding torch as a whole would reseed the caller's devices.
    """
    import torch

    before = torch.get_rng_state()
    torch.default_generator.manual_seed(SEED)
    try:
        yield
    finally:
        torch.set_rng_state(before)
