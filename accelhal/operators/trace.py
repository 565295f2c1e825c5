"""Running a model once to see its operators, and once more to time them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._pytree import tree_leaves

from accelhal.errors import AccelhalError, described
from accelhal.operators.coverage import OperatorTable
from accelhal.operators.model_call import OPERATION, ModelCall
from accelhal.operators.places import ModuleStack
from accelhal.operators.recorder import Noted, OperatorRecorder, Phase
from accelhal.operators.trace_on import TraceOn

SEED = 0
"""Seed of every pass: a model that draws numbers runs the same operators each time."""

TIMED_PASSES = 2
"""Passes that are timed; the shorter time of each operator counts, the other one warms up."""

Progress = Callable[[str], None]
"""Called before each pass with what it is."""


@dataclass(frozen=True)
class Trace:
    """The operators of a model.

    Attributes:
        noted: by phase and full name, in the order in which they were met.
        refused: the operator that the device had no way to run, and what it said, where the run
            ended there.
    """

    noted: Mapping[tuple[Phase, str], Noted]
    refused: tuple[str, str] | None = None


class _RefusedError(Exception):
    """The device had no way to run an operator; the recorder says which."""


def trace(
    name: str,
    call: ModelCall,
    table: OperatorTable,
    on: TraceOn,
    *,
    backward: bool = False,
    synchronize: Callable[[], object] = lambda: None,
    progress: Progress | None = None,
) -> Trace:
    """Run a model and note its operators.

    The forward pass runs below autograd, where composite operators that the backend has a kernel
    for are seen whole. With `backward` it runs again with gradients, and the backward pass from the
    sum of its outputs is noted.

    Args:
        name: the model's, for messages.
        call: the model and its inputs, where `on` says.
        table: judges the operators.
        on: where it runs; a trace without values is not timed.
        backward: whether to note the backward pass too.
        synchronize: waits until the device has done its work.
        progress: called before each pass.

    Raises:
        AccelhalError: the model raised, or has no output that gradients could flow from.
    """
    tell = progress or (lambda label: None)
    modules = ModuleStack(call.module)
    recorder = OperatorRecorder(table, modules, _forward.__code__, synchronize)
    # The processor's fused attention stands for no other device's.
    attention = nullcontext() if on is TraceOn.DEVICE else sdpa_kernel(SDPBackend.MATH)
    passes = [False] if on is TraceOn.FAKE else [False] + [True] * TIMED_PASSES
    try:
        with torch.random.fork_rng(devices=[]), attention, modules.watching():
            for timing in passes:
                tell("timing the forward pass" if timing else "forward pass")
                torch.manual_seed(SEED)
                with (
                    _failures(name, "forward pass", on, recorder),
                    _below_autograd(),
                    recorder.phase(Phase.FORWARD, timing=timing),
                    recorder,
                ):
                    _forward(call)
            for timing in passes if backward else ():
                tell("timing the backward pass" if timing else "backward pass")
                torch.manual_seed(SEED)
                with _failures(name, "backward pass", on, recorder):
                    _backward(name, call, recorder, timing)
    except _RefusedError:
        return Trace(recorder.noted, recorder.refused)
    return Trace(recorder.noted)


def _forward(call: ModelCall) -> Any:
    return call.run()


def _backward(name: str, call: ModelCall, recorder: OperatorRecorder, timing: bool) -> None:
    call.module.zero_grad(set_to_none=True)
    with torch.enable_grad(), recorder:
        outputs = _forward(call)
    roots = [
        leaf
        for leaf in tree_leaves(outputs)
        if isinstance(leaf, torch.Tensor) and leaf.requires_grad
    ]
    if not roots:
        raise AccelhalError(
            f"{name}: no output of the model requires gradients",
            operation=OPERATION,
            hint="leave out --backward, or return a model whose parameters require gradients",
        )
    seeds = [torch.ones_like(root) for root in roots]
    with recorder.phase(Phase.BACKWARD, timing=timing), recorder:
        torch.autograd.backward(roots, seeds)
    call.module.zero_grad(set_to_none=True)


@contextmanager
def _below_autograd() -> Iterator[None]:
    """Where operators meet the recorder before autograd takes composite ones apart.

    Inference mode does the same, but what a model keeps of it cannot be used with gradients.
    """
    with torch.no_grad(), torch._C._AutoDispatchBelowAutograd():
        yield


@contextmanager
def _failures(name: str, what: str, on: TraceOn, recorder: OperatorRecorder) -> Iterator[None]:
    from torch._subclasses.fake_tensor import (
        DataDependentOutputException,
        DynamicOutputShapeException,
    )

    try:
        yield
    except AccelhalError:
        raise
    except (DataDependentOutputException, DynamicOutputShapeException) as error:
        raise AccelhalError(
            f"{name}: its {what} needs values, and the trace has only shapes: {described(error)}",
            operation=OPERATION,
            hint="trace it with values: leave out --trace fake",
        ) from error
    except (Exception, SystemExit) as error:
        if on is TraceOn.DEVICE and recorder.refused is not None:
            raise _RefusedError from error
        where = "on the device" if on is TraceOn.DEVICE else "on the processor"
        raise AccelhalError(
            f"{name}: its {what} {where} raised {described(error)}",
            operation=OPERATION,
            hint="mend the model or its inputs; it must run there before it can be checked",
        ) from error
