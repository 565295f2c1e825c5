"""How a module is split: the words of a plan, and torch's styles in the same terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.parallel import ColwiseParallel, ParallelStyle, RowwiseParallel

from accelhal.errors import UnsupportedError, UsageError, did_you_mean


@dataclass(frozen=True)
class Colwise:
    """Split a linear layer by output features.

    Attributes:
        gather_output: give every rank all of them.
        multiple_of: features that must stay together (the head dimension).
    """

    gather_output: bool = False
    multiple_of: int = 1


@dataclass(frozen=True)
class Rowwise:
    """Split a linear layer by input features, or an embedding by entries.

    Attributes:
        input_is_parallel: the input has one rank's features alone.
        multiple_of: features that must stay together (the head dimension).
    """

    input_is_parallel: bool = True
    multiple_of: int = 1


Style = Colwise | Rowwise
PlanEntry = str | Style | ParallelStyle

NAMES: Mapping[str, Style] = {
    "colwise": Colwise(),
    "rowwise": Rowwise(),
    "colwise_gather_output": Colwise(gather_output=True),
    "rowwise_split_input": Rowwise(input_is_parallel=False),
}
"""The names that transformers' plans have for these styles."""

_SPLIT, _WHOLE = (Shard(-1),), (Replicate(),)


def style_of(entry: PlanEntry, where: str) -> Style:
    """What a plan's entry asks for.

    Args:
        entry: a name of NAMES, a style, or torch's ColwiseParallel or RowwiseParallel.
        where: the entry's name in the plan, for messages.

    Raises:
        UsageError: there is no such style.
        UnsupportedError: torch's style asks for activations that are DTensors, or split otherwise.
    """
    if isinstance(entry, (Colwise, Rowwise)):
        return entry
    if isinstance(entry, ParallelStyle):
        return _of_torch(entry, where)
    if entry in NAMES:
        return NAMES[entry]
    guess = did_you_mean(entry, NAMES) if isinstance(entry, str) else ""
    raise UsageError(
        f"{where}: there is no style {entry!r}",
        operation="parallelize_module",
        hint=f"{guess}one of {', '.join(NAMES)}, a Colwise or a Rowwise",
    )


def _of_torch(style: ParallelStyle, where: str) -> Style:
    if isinstance(style, (ColwiseParallel, RowwiseParallel)) and style.use_local_output:
        given, made = tuple(style.input_layouts), tuple(style.output_layouts)
        if type(style) is ColwiseParallel and given == _WHOLE and made in (_SPLIT, _WHOLE):
            return Colwise(gather_output=made == _WHOLE)
        if type(style) is RowwiseParallel and given in (_SPLIT, _WHOLE) and made == _WHOLE:
            return Rowwise(input_is_parallel=given == _SPLIT)
    raise UnsupportedError(
        f"{where}: {type(style).__name__} as it is set up here lays activations out as these "
        "layers do not: they take and return plain tensors, whole or split by features",
        operation="parallelize_module",
        hint="use torch's own parallelize_module for the whole block",
    )
