"""From what a user passes as model, devices and lanes to the lanes of a batcher."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from accelhal.batching.collation import Collator, ListCollator
from accelhal.batching.lane import DeviceLane, DirectLane, Lane
from accelhal.batching.lengths import LengthBuckets
from accelhal.errors import UsageError
from accelhal.facade import Device, device as open_device

Model = Callable[..., Any]

COLLATES = ("stack", "pad", "ragged", "list")


def make_lanes(
    model: Model | Sequence[Model] | None,
    devices: Sequence[Any] | None,
    standby: Sequence[Any],
    lanes: Sequence[Lane] | None,
    depth: int,
) -> tuple[list[Lane], list[Lane]]:
    """The lanes that run and those that stand by.

    Raises:
        UsageError: they do not go together.
    """
    if lanes is not None:
        return _given(model, devices, standby, lanes)
    if model is None:
        raise _misused("a batcher needs a model, or lanes", "DynamicBatcher(model)")
    places: list[Any] = [*(devices or ()), *standby]
    if devices is not None and not devices:
        raise _misused("devices is empty", "name one, or leave it out")
    if not places or devices is None:
        if standby:
            raise _misused("standby without devices", "name the devices of the others too")
        if not callable(model):
            raise _misused("several models without devices", "devices=[...], one for each model")
        return [_lane(model, _device_of(model), depth)], []
    made = [
        _lane(one, open_device(place), depth)
        for one, place in zip(_replicas(model, places), places, strict=True)
    ]
    return made[: len(devices)], made[len(devices) :]


def _given(
    model: object, devices: object, standby: Sequence[Any], lanes: Sequence[Lane]
) -> tuple[list[Lane], list[Lane]]:
    if model is not None or devices is not None:
        raise _misused("lanes beside a model or devices", "a lane brings its own")
    for lane in (*lanes, *standby):
        if not isinstance(lane, Lane):
            raise _misused(
                f"{type(lane).__name__} is no lane", "see accelhal.batching.Lane for its methods"
            )
    if not lanes:
        raise _misused("lanes is empty", "give one or more")
    return list(lanes), list(standby)


def _replicas(model: Model | Sequence[Model], places: Sequence[Any]) -> list[Model]:
    if callable(model):
        if len(places) > 1 and hasattr(model, "parameters"):
            raise _misused(
                f"one {type(model).__name__} for {len(places)} devices",
                "pass a list of models, one on each device, standby last",
            )
        return [model] * len(places)
    if len(model) != len(places):
        raise _misused(
            f"{len(model)} models for {len(places)} devices", "one for each, standby last"
        )
    return list(model)


def _device_of(model: Model) -> Device | None:
    """The device on which a model's parameters lie; None for a plain function."""
    where = getattr(model, "device", None)
    if isinstance(where, Device):
        return where
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(model, torch.nn.Module):
        return None
    first = next(iter([*model.parameters(), *model.buffers()]), None)
    return None if first is None or first.device.type == "cpu" else open_device(first.device)


def _lane(model: Model, device: Device | None, depth: int) -> Lane:
    if not callable(model):
        raise _misused(f"{model!r} cannot be called", "pass a function or a module")
    if device is None:
        return DirectLane(model)
    if device.torch_device.type == "cpu":
        return DeviceLane(model, device)
    from accelhal.batching.staging import NEEDED, StagedLane

    if any(device.supports(name) is None for name in NEEDED):
        return DeviceLane(model, device)
    return StagedLane(model, device, depth)


def make_collator(
    collate: str | Collator,
    pad_value: float | Mapping[Any, float] | None,
    length_buckets: str | Sequence[int] | None,
    lengths: str | None,
    mask: str | None,
    sequence_output: bool,
    fixed: bool,
) -> Collator:
    """The collator of that name, or the one that was passed.

    Raises:
        UsageError: an unknown name, or an option that it lacks or has no use for.
    """
    if not isinstance(collate, str):
        return collate
    if collate not in COLLATES:
        raise _misused(
            f"{collate!r} is no way to collate", "one of: " + ", ".join(map(repr, COLLATES))
        )
    padding = {"pad_value": pad_value, "mask": mask}
    sequences = {"lengths": lengths, "sequence_output": sequence_output or None}
    unused = {} if collate == "pad" else {**padding}
    if collate in ("stack", "list"):
        unused |= sequences
    for name, value in unused.items():
        if value is not None:
            raise _misused(f'{name} has no meaning with collate="{collate}"', 'collate="pad"')
    if collate == "list":
        return ListCollator()
    if collate == "stack":
        from accelhal.batching.tensors import StackCollator

        return StackCollator()
    from accelhal.batching.sequences import PadCollator, RaggedCollator

    buckets = LengthBuckets(length_buckets)
    if collate == "ragged":
        return RaggedCollator(buckets, lengths=lengths, sequence_output=sequence_output)
    if pad_value is None:
        raise _misused(
            'collate="pad" needs a pad_value: a wrong one spoils short sequences in silence',
            "the model's padding value, or a dict of one for each field to pad",
        )
    return PadCollator(
        buckets,
        pad_value,
        lengths=lengths,
        mask=mask,
        sequence_output=sequence_output,
        fixed=fixed,
    )


def common_sizes(lanes: Sequence[Lane]) -> tuple[int, ...]:
    """The batch sizes that cost the lanes no padding; empty where all are alike.

    Raises:
        UsageError: they differ between lanes.
    """
    sizes = {tuple(lane.batch_sizes) for lane in lanes}
    if len(sizes) > 1:
        raise _misused(
            f"the lanes differ in their batch sizes: {sorted(sizes)}",
            "capture the same sizes on each device",
        )
    return tuple(sorted(sizes.pop())) if sizes else ()


def _misused(text: str, hint: str) -> UsageError:
    return UsageError(text, operation="DynamicBatcher", hint=hint)
