"""Checking a model against a backend: knowledge, trace, report."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from accelhal.device_name import parse_device_name
from accelhal.facade.choosing import device as open_device
from accelhal.operators.inputs import InputSpec
from accelhal.operators.model_call import check_model_name, load_factory, make_call
from accelhal.operators.sources import knowledge
from accelhal.operators.trace_on import TraceOn, parse_trace_on
from accelhal.runtimes import cpu_spec

if TYPE_CHECKING:
    from accelhal.operators.report import ModelCheck
    from accelhal.operators.trace import Progress


def check_model(
    model: str,
    device: str,
    *,
    inputs: Sequence[InputSpec] = (),
    on: str = "cpu",
    backward: bool = False,
    record: Path | None = None,
    progress: Progress | None = None,
) -> ModelCheck:
    """The operators that a model runs, and how a backend runs each of them.

    Args:
        model: "package.module:factory"; see `accelhal.operators.model_call.CONTRACT`.
        device: backend or device ("mock:0"); it need not be there, unless the model runs on it.
        inputs: inputs in the place of the factory's own.
        on: where the model runs meanwhile: "cpu", "fake" (shapes without values, for models that
            do not fit into memory) or "device".
        backward: whether to look at the backward pass too.
        record: a record of the backend's operators to use in the place of all other knowledge.
        progress: called before each pass with what it is.

    Raises:
        UsageError: the factory, an input, `on` or the record is wrong, or no backend has that name.
        AccelhalError: torch is missing, the model raised, or the device does not open.
    """
    check_model_name(model)
    where = parse_trace_on(on)
    name = parse_device_name(device)
    known = knowledge(name, record)

    # Only now is torch loaded, with its guards.
    import torch

    from accelhal.operators.coverage import TracedOnProcessor
    from accelhal.operators.report import ModelCheck, operator_uses
    from accelhal.operators.trace import SEED, trace

    there = open_device(device) if where is TraceOn.DEVICE else None
    stand_in = there is None and name.backend != cpu_spec.SPEC.name
    table = TracedOnProcessor(known.table) if stand_in else known.table
    factory = load_factory(model)
    with _tensors_without_values() if where is TraceOn.FAKE else nullcontext():
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(SEED)
            call = make_call(model, factory, inputs)
        if there is not None:
            call = call.to(there.torch_device)
        found = trace(
            model,
            call,
            table,
            where,
            backward=backward,
            synchronize=there.synchronize if there is not None else _nothing_to_wait_for,
            progress=progress,
        )
    ended = f"the device does not run {found.refused[0]}" if found.refused else None
    return ModelCheck(
        model=model,
        device=device,
        trace=where,
        torch_version=torch.__version__,
        source=known.table.source,
        live=known.live,
        remark=known.remark,
        ended_early=ended,
        operators=operator_uses(found),
    )


def _tensors_without_values() -> AbstractContextManager[object]:
    from torch._subclasses.fake_tensor import FakeTensorMode

    mode: AbstractContextManager[object] = FakeTensorMode(allow_non_fake_inputs=True)
    return mode


def _nothing_to_wait_for() -> None:
    """The processor has done its work when a call returns."""
