"""Notes every operator that a model dispatches, and takes composite ones apart as a backend would.

What torch writes in terms of other operators is run by that very kernel, so that the operators that
the backend would meet are noted, not those that the processor has kernels for.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from types import CodeType
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from accelhal.operators.coverage import Coverage, Judgement, OperatorTable
from accelhal.operators.places import ModuleStack, Place, source_line

MAX_PLACES = 3
"""Places kept of each operator: the first ones."""


class Phase(str, Enum):
    """The pass in which an operator was met."""

    FORWARD = "forward"
    BACKWARD = "backward"


@dataclass
class Noted:
    """What was seen of one operator in one phase.

    Attributes:
        judgement: how the backend runs it.
        operands: types and shapes of the tensors of the first call.
        calls: how often it was called.
        dtypes: element types of its tensors, in all calls.
        places: the first places, at most MAX_PLACES.
        seconds: time in its kernel in the fastest timed pass; None before one.
    """

    judgement: Judgement
    operands: tuple[str, ...]
    calls: int = 0
    dtypes: set[str] = field(default_factory=set)
    places: list[Place] = field(default_factory=list)
    seconds: float | None = None


class OperatorRecorder(TorchDispatchMode):
    """Notes operators while it is entered.

    Attributes:
        noted: by phase and full name.
        refused: the operator that the device had no way to run, and what it said; or None.
    """

    def __init__(
        self,
        table: OperatorTable,
        modules: ModuleStack,
        outermost: CodeType,
        synchronize: Callable[[], object],
    ) -> None:
        """See `accelhal.operators.trace`.

        Args:
            table: judges the operators.
            modules: the modules that are running.
            outermost: the code that calls the model; lines outside of it are none of the model's.
            synchronize: waits until the device has done its work; called for each timed operator.
        """
        super().__init__()
        self.noted: dict[tuple[Phase, str], Noted] = {}
        self.refused: tuple[str, str] | None = None
        self._table = table
        self._modules = modules
        self._outermost = outermost
        self._synchronize = synchronize
        self._phase: Phase | None = None
        self._elapsed: dict[tuple[Phase, str], float] | None = None
        self._origins: dict[int, Place] = {}
        self._onednn = torch._C._get_mkldnn_enabled()

    @contextmanager
    def phase(self, phase: Phase, *, timing: bool) -> Iterator[None]:
        """Note what is called inside, or, with `timing`, add up the time of what was noted."""
        self._phase, self._elapsed = phase, defaultdict(float) if timing else None
        try:
            yield
        finally:
            elapsed, self._phase, self._elapsed = self._elapsed, None, None
        for key, seconds in (elapsed or {}).items():
            noted = self.noted.get(key)  # a model may take another way the next time
            if noted is not None:
                noted.seconds = min(seconds, noted.seconds or seconds)

    def __torch_dispatch__(
        self,
        func: Any,
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Note the call and carry it out."""
        kwargs = kwargs or {}
        name: str = func.name()
        if not torch._C._dispatch_has_kernel(name):  # a question such as prim::device
            return func(*args, **kwargs)
        judgement = _for_layout(self._table.judge(name), args, kwargs)
        self._note(name, judgement, args, kwargs)
        if judgement.decomposed:
            # It must not choose what only the processor has.
            with _onednn(False), self:
                return func.decompose(*args, **kwargs)
        with _onednn(self._onednn):
            return self._run(func, name, args, kwargs)

    def _run(self, func: Any, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        start = time.perf_counter()
        try:
            result = func(*args, **kwargs)
        except NotImplementedError as error:
            self.refused = self.refused or (name, str(error))
            raise
        if self._elapsed is not None and self._phase is not None:
            self._synchronize()
            self._elapsed[self._phase, name] += time.perf_counter() - start
        return result

    def _note(
        self, name: str, judgement: Judgement, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> None:
        if self._phase is None:
            # A forward pass whose backward pass is to be noted: remember who makes its nodes.
            self._origins.setdefault(torch._C._autograd._get_sequence_nr() - 1, self._place())
            return
        if self._elapsed is not None:
            return
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        noted = self.noted.get((self._phase, name))
        if noted is None:
            operands = tuple(map(_described, tensors))
            noted = self.noted[self._phase, name] = Noted(judgement, operands)
        noted.calls += 1
        noted.dtypes.update(_dtype(tensor) for tensor in tensors)
        if len(noted.places) < MAX_PLACES:
            place = self._place() if self._phase is Phase.FORWARD else self._origin()
            if place not in noted.places:
                noted.places.append(place)

    def _place(self) -> Place:
        return Place(source_line(self._outermost), self._modules.current)

    def _origin(self) -> Place:
        """Where the forward pass made the node of autograd that is running."""
        node = torch._C._current_autograd_node()
        number = -1 if node is None else node._sequence_nr()
        return self._origins.get(number, Place(None, None))


@contextmanager
def _onednn(enabled: bool) -> Iterator[None]:
    """Let torch use oneDNN inside, or not; `torch.backends.mkldnn.flags` changes more than that."""
    before = torch._C._get_mkldnn_enabled()
    torch._C._set_mkldnn_enabled(enabled)
    try:
        yield
    finally:
        torch._C._set_mkldnn_enabled(before)


def _for_layout(judgement: Judgement, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Judgement:
    """The judgement of this call: kernels for sparse operands have dispatch keys of their own."""
    if judgement.coverage in (Coverage.COMPOSITE, Coverage.UNKNOWN):
        return judgement
    if any(
        leaf.layout is not torch.strided
        for leaf in tree_leaves((args, kwargs))
        if isinstance(leaf, torch.Tensor)
    ):
        return Judgement(Coverage.UNKNOWN, reason="kernels for sparse operands are not looked at")
    return judgement


def _described(tensor: torch.Tensor) -> str:
    return f"{_dtype(tensor)}[{','.join(map(str, tensor.shape))}]"


def _dtype(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")
