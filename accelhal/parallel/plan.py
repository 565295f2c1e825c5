"""`parallelize_module`: a model's layers exchanged for this rank's parts, by a plan of names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

import torch
from torch import nn

from accelhal.distributed.ranks import Ranks
from accelhal.errors import UnsupportedError, UsageError, did_you_mean
from accelhal.parallel.embedding import VocabParallelEmbedding
from accelhal.parallel.linear import ColumnParallelLinear, RowParallelLinear
from accelhal.parallel.sharded_module import Group, ShardedModule, ranks_of
from accelhal.parallel.shards import from_source, local_part
from accelhal.parallel.styles import Colwise, PlanEntry, Rowwise, Style, style_of

Plan = Mapping[str, PlanEntry]

_PAST_THEIR_LAYERS = (nn.MultiheadAttention, nn.TransformerEncoderLayer)
"""torch's modules that compute with the weights of their layers, past the layers: the first always,
the second in eval mode without gradients."""


def parallelize_module(
    model: nn.Module,
    mesh: Group | None = None,
    plan: Plan | PlanEntry | None = None,
    *,
    split: Sequence[float] | None = None,
    source: int | None = 0,
) -> nn.Module:
    """Split a model's layers among ranks, in place.

    Every parameter that is split lies on the mesh's device afterwards; the others stay where they
    are. Layers that are not in the plan are computed alike on every rank, from the same values:
    dropout in them needs the same seed on all ranks.

    Args:
        model: the model, the same on every rank; the values of rank `source` count.
        mesh: the ranks: a one-dimensional mesh, a process group, or the world when None.
        plan: name of a module -> "colwise", "rowwise", "colwise_gather_output",
            "rowwise_split_input", a Colwise or Rowwise, or torch's ColwiseParallel or
            RowwiseParallel. `*` in a name stands for one part of it: "layers.*.mlp.up". One style
            alone splits the model itself. None takes `plan_for(model)`.
        split: each rank's relative share, for boards of unequal speed.
        source: rank of the group whose parameters and buffers all ranks take; None leaves each
            rank's own.

    Returns:
        The model; where it is itself a layer that is split, its part.

    Raises:
        UsageError: names of the plan match nothing (all are listed), a layer cannot be divided so,
            or a parameter would be split in one place and whole in another.
        UnsupportedError: a module that these layers do not know how to split.
    """
    from accelhal.parallel.transformer_plan import plan_for

    ranks = ranks_of(mesh)
    if plan is None:
        plan = plan_for(model)
    if not isinstance(plan, Mapping):
        return _part_of(model, style_of(plan, "plan"), ranks, split, source, "the model")
    chosen = match(model, plan)
    parts: dict[nn.Module, ShardedModule] = {}
    styles: dict[nn.Module, Style] = {}
    for name, style in chosen.items():
        whole = model.get_submodule(name)
        _require_called(model.get_submodule(name.rpartition(".")[0]), name)
        if styles.setdefault(whole, style) != style:
            raise UsageError(
                f"{name} is a module that the plan names by another name too, with another style",
                operation="parallelize_module",
                hint="one style for each module",
            )
        if whole not in parts:
            parts[whole] = _part_of(whole, style, ranks, split, source, name)
    _tie(model, parts)
    for parent, child_name, child in _children(model):
        if child in parts:
            setattr(parent, child_name, parts[child])
    if source is not None:
        _take_rest(model, ranks, source)
    return model


def match(model: nn.Module, plan: Plan) -> dict[str, Style]:
    """The modules that a plan names, each with its style.

    Raises:
        UsageError: names that match no module, or modules that two names match.
    """
    names = [name for name, _ in model.named_modules(remove_duplicate=False) if name]
    chosen: dict[str, Style] = {}
    unmatched = []
    for pattern, entry in plan.items():
        style = style_of(entry, pattern)
        found = [name for name in names if _matches(name, pattern)]
        if not found:
            unmatched.append(pattern)
        for name in found:
            if chosen.setdefault(name, style) != style:
                raise UsageError(
                    f"the plan names {name} twice, with different styles",
                    operation="parallelize_module",
                    hint="each module once",
                )
    if unmatched:
        raise UsageError(
            f"{len(unmatched)} of {len(plan)} names of the plan match no module: "
            + ", ".join(unmatched),
            operation="parallelize_module",
            hint=f"{did_you_mean(unmatched[0], names)}`*` stands for one part of a name",
        )
    return chosen


def _require_called(parent: nn.Module, name: str) -> None:
    if isinstance(parent, _PAST_THEIR_LAYERS):
        raise UnsupportedError(
            f"{name} cannot be split: its {type(parent).__name__} computes with the layer's "
            "weights without calling the layer",
            operation="parallelize_module",
            hint="leave it out of the plan, or write the block with layers that are called",
        )


def _matches(name: str, pattern: str) -> bool:
    parts, patterns = name.split("."), pattern.split(".")
    return len(parts) == len(patterns) and all(map(fnmatchcase, parts, patterns))


def _part_of(
    whole: nn.Module,
    style: Style,
    ranks: Ranks,
    split: Sequence[float] | None,
    source: int | None,
    name: str,
) -> ShardedModule:
    device = _device(whole, ranks)
    try:
        if isinstance(whole, nn.Linear) and isinstance(style, Colwise):
            return ColumnParallelLinear.from_linear(
                whole,
                ranks,
                gather_output=style.gather_output,
                split=split,
                multiple_of=style.multiple_of,
                device=device,
                source=source,
            )
        if isinstance(whole, nn.Linear) and isinstance(style, Rowwise):
            return RowParallelLinear.from_linear(
                whole,
                ranks,
                input_is_parallel=style.input_is_parallel,
                split=split,
                multiple_of=style.multiple_of,
                device=device,
                source=source,
            )
        if isinstance(whole, nn.Embedding) and isinstance(style, Rowwise):
            return VocabParallelEmbedding.from_embedding(
                whole, ranks, split=split, device=device, source=source
            )
    except (UsageError, UnsupportedError) as error:
        raise type(error)(
            f"{name}: {error.message}", operation="parallelize_module", hint=error.hint
        ) from error
    raise UnsupportedError(
        f"{name} is a {type(whole).__name__}, which cannot be split {type(style).__name__.lower()}",
        operation="parallelize_module",
        hint="linear layers are split either way, embeddings by their entries (rowwise)",
    )


def _device(whole: nn.Module, ranks: Ranks) -> torch.device | None:
    """Where parts are to lie; None where the whole lies already, or has no memory yet."""
    first = next(whole.parameters(), None)
    if first is None or first.device.type in ("meta", ranks.device_type):
        return None
    return torch.empty(0, device=ranks.device_type).device


def _children(model: nn.Module) -> Iterator[tuple[nn.Module, str, nn.Module]]:
    for parent in list(model.modules()):
        for name, child in list(parent._modules.items()):
            if child is not None:
                yield parent, name, child


def _tie(model: nn.Module, parts: Mapping[nn.Module, ShardedModule]) -> None:
    """Let parts share what their wholes share.

    Raises:
        UsageError: a parameter is shared with a module that is not split in the same way.
    """
    owners: dict[nn.Parameter, list[tuple[str, nn.Module, str]]] = {}
    for module_name, module in model.named_modules():
        for name, parameter in module._parameters.items():
            if parameter is not None:
                owners.setdefault(parameter, []).append((module_name, module, name))
    for shared in owners.values():
        first = next(((parts[owner[1]], owner[2]) for owner in shared if owner[1] in parts), None)
        if first is None or len(shared) == 1:
            continue
        dimension = first[0].sharded.get(first[1])
        for _, module, name in shared:
            part = parts.get(module)
            if (part.sharded.get(name) if part is not None else None) != dimension:
                where = " and ".join(f"{owner[0]}.{owner[2]}" for owner in shared)
                raise UsageError(
                    f"{where} are one parameter, which the plan does not split alike",
                    operation="parallelize_module",
                    hint="name all its modules in the plan, or none",
                )
            if part is not None:
                part.register_parameter(name, getattr(first[0], first[1]))


def _take_rest(model: nn.Module, ranks: Ranks, source: int) -> None:
    """Give every rank the source's values of what is not split."""
    split = {
        id(parameter)
        for module in model.modules()
        if isinstance(module, ShardedModule)
        for parameter in module.parameters()
    }
    rest: Iterable[torch.Tensor] = (*model.parameters(), *model.buffers())
    device = torch.device(ranks.device_type)
    with torch.no_grad():
        for tensor in rest:
            if id(tensor) not in split and local_part(tensor) is tensor:
                tensor.copy_(from_source(tensor.detach(), ranks, device, source))
