"""GraphedModule: a model that replays graphs, whatever the size of the batch."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from accelhal.errors import UnsupportedError, UsageError, warn
from accelhal.facade import Device, device as open_device
from accelhal.facade.arguments import CAPTURE_ERROR_MODES, as_integer
from accelhal.graphs.placement import device_of
from accelhal.graphs.report import GraphReport

if TYPE_CHECKING:
    import torch

NEEDED = ("graphs", "streams", "events")
"""Capabilities without which there are no graphs of a model."""


class GraphedModule:
    """A model for inference whose launches are captured once a batch size, and replayed.

        fast = accelhal.graphs.GraphedModule(model.eval(), batch_sizes=(1, 4, 16))
        with torch.inference_mode():
            y = fast(x)

    Sizes are captured when they are needed, the largest before any other, all into one memory
    pool. A batch is padded up to the next size with copies of its last row, and the output is cut
    back; a batch larger than the largest size is split. Both are right for models that compute
    each row by itself, as models in evaluation mode do. Dimensions of the output that grow with
    the batch are found by running the model at two sizes; tensors that have none (a mean over the
    batch) are handed out only where nothing was padded or split.

    Other shapes or types of inputs, other values beside tensors, and another autocast state are
    captured as graphs of their own. Numbers that the model reads elsewhere are as they were at the
    capture: call `reset()` after changing them. Parameters, buffers and modules that were replaced
    are noticed at the next call, and everything is captured anew; changes in place are simply
    seen.

    May be called from several threads; one replays at a time.

    Args:
        model: a module in evaluation mode, on its device.
        batch_sizes: sizes to capture.
        device: where the model lies; found from its parameters when None.
        max_graphs: the most graphs to hold, over all sizes and shapes. Batches for which there is
            none left are padded to a larger size. None: as many as `device.graph_limit`, for this
            and all other GraphedModules of the process; boards whose graphs take hardware
            streams have such a limit.
        fallback: None refuses what cannot be graphed; "eager" runs it without a graph, and warns
            once.
        unbatched: positions and names of arguments whose tensors have no row a sample.
        copy_outputs: hand out copies. False hands out the graphs' own memory, which the next call
            overwrites: for callers that are done with it by then.
        warmup: runs before each capture (torch's make_graphed_callables takes 3).
        capture_error_mode: which threads' unsafe calls end a capture. "thread_local" lets other
            threads go on using the device.

    Raises:
        UsageError: a bad argument.
        UnsupportedError: the device has no graphs, and `fallback` is None.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        batch_sizes: Iterable[int] = (1, 2, 4, 8, 16, 32),
        *,
        device: Device | str | torch.device | None = None,
        max_graphs: int | None = None,
        fallback: Literal["eager"] | None = None,
        unbatched: Collection[int | str] = (),
        copy_outputs: bool = True,
        warmup: int = 3,
        capture_error_mode: str = "thread_local",
    ) -> None:
        self.model = model
        self._batch_sizes = tuple(sorted({_positive("a batch size", n) for n in batch_sizes}))
        if not self._batch_sizes:
            raise UsageError("batch_sizes is empty", operation="GraphedModule")
        if fallback not in (None, "eager"):
            raise UsageError(
                f"{fallback!r} is not a fallback",
                operation="GraphedModule",
                hint='"eager", or None to refuse',
            )
        if capture_error_mode not in CAPTURE_ERROR_MODES:
            raise UsageError(
                f"{capture_error_mode!r} is not a capture error mode",
                operation="GraphedModule",
                hint=f"one of: {', '.join(CAPTURE_ERROR_MODES)}",
            )
        most = None if max_graphs is None else _positive("max_graphs", max_graphs)
        rounds = _positive("warmup", warmup)
        if device is None:
            device = device_of([*model.parameters(), *model.buffers()], type(model).__name__)
        self.device = open_device(device)
        self._fallback = fallback
        self._unbatched = frozenset(unbatched)
        self._eager_lock = threading.Lock()
        self._eager_calls = 0
        self._eager_reason: str | None = None
        self._graphs = None
        absent = [name for name in NEEDED if self.device.supports(name) is None]
        if not absent:
            from accelhal.graphs.graph_set import GraphSet

            self._graphs = GraphSet(
                model,
                self.device,
                self._batch_sizes,
                most,
                rounds,
                capture_error_mode,
                copy_outputs,
            )
            return
        self._lack = f"{self.device} has no {absent[0]}"
        if fallback is None:
            raise UnsupportedError(
                f"{self._lack}, so it cannot replay a model",
                backend=self.device.backend,
                device=str(self.device),
                operation="GraphedModule",
                capability=absent[0],
                hint='fallback="eager" runs the model without graphs there',
            )

    @property
    def batch_sizes(self) -> tuple[int, ...]:
        """The sizes that batches are padded to, ascending: what costs no padding."""
        return self._batch_sizes

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The model's output.

        Raises:
            UsageError: the model trains or a gradient is wanted; a tensor lies on another device;
                there is no batch, or it differs between arguments.
            UnsupportedError: no graph can serve the call; the reason and `report()` say why.
            Exception: what the model raises when it first runs, and what the device raises.
        """
        self._check_mode(args, kwargs)
        if self._graphs is None:
            return self._run_eagerly(args, kwargs, self._lack)
        try:
            return self._graphs.run(self._batch(args, kwargs))
        except UnsupportedError as error:
            if self._fallback is None:
                raise
            reason = error.message
        return self._run_eagerly(args, kwargs, reason)

    def capture(self, *args: Any, **kwargs: Any) -> GraphReport:
        """Capture every size now, largest first, for inputs shaped like these.

        Without a device that has graphs, or where sizes fail, the report says so.

        Raises:
            UsageError: as for a call.
            Exception: what the model raises when it runs, and what the device raises.
        """
        self._check_mode(args, kwargs)
        if self._graphs is not None:
            self._graphs.capture_all(self._batch(args, kwargs))
        return self.report()

    def reset(self) -> None:
        """Let go of all graphs and their memory; the next call captures anew."""
        if self._graphs is not None:
            self._graphs.drop()

    def report(self) -> GraphReport:
        """What was captured, what could not be, and what ran without a graph."""
        graphs = self._graphs
        return GraphReport(
            device=str(self.device),
            captured=() if graphs is None else graphs.captured(),
            failed=() if graphs is None else graphs.failed(),
            recaptures=0 if graphs is None else graphs.recaptures,
            eager_calls=self._eager_calls,
            eager_reason=self._eager_reason,
        )

    def __getstate__(self) -> NoReturn:
        """Refuse to be copied or pickled."""
        raise UsageError(
            "a GraphedModule cannot be copied or pickled: its graphs belong to this process",
            operation="GraphedModule",
            hint="copy its model, and make a GraphedModule of the copy",
        )

    def _batch(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        from accelhal.graphs.batch import read_batch

        return read_batch(args, kwargs, self.device.torch_device, self._unbatched)

    def _check_mode(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        import torch

        if self.model.training:
            from accelhal.graphs.model_state import in_training

            raise in_training(self.model)
        if torch.is_grad_enabled() and _wants_gradient(self.model, (*args, *kwargs.values())):
            raise UsageError(
                f"a gradient is wanted of {type(self.model).__name__}, which replays have not got",
                operation="graph",
                hint="call it under torch.inference_mode(); "
                "accelhal.graphs.make_graphed_callables captures training",
            )

    def _run_eagerly(self, args: tuple[Any, ...], kwargs: dict[str, Any], reason: str) -> Any:
        with self._eager_lock:
            first = self._eager_calls == 0
            self._eager_calls += 1
            self._eager_reason = reason
        if first:
            warn(f"{type(self.model).__name__} runs without graphs: {reason}")
        return self.model(*args, **kwargs)


def _wants_gradient(model: torch.nn.Module, arguments: tuple[Any, ...]) -> bool:
    from torch.utils._pytree import tree_leaves

    return any(one.requires_grad for one in model.parameters()) or any(
        getattr(leaf, "requires_grad", False) for leaf in tree_leaves(arguments)
    )


def _positive(what: str, value: object) -> int:
    number = as_integer(value)
    if number is None or number < 1:
        raise UsageError(
            f"{what} must be a whole number, 1 or more, not {value!r}", operation="GraphedModule"
        )
    return number
