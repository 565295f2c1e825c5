"""Functions and modules whose forward and backward passes are captured as graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

from accelhal_mock.python_mode.devices import board_of
from accelhal_mock.python_mode.graphs import BoardGraph, PoolHandle, graph
from accelhal_mock.python_mode.streams import Stream, StreamContext, current_stream
from accelhal_mock.python_mode.waiting import wait_for

Tensors = tuple[torch.Tensor, ...]


def make_graphed_callables(
    callables: Any,
    sample_args: Any,
    num_warmup_iters: int = 3,
    allow_unused_input: bool = False,
    pool: PoolHandle | None = None,
) -> Any:
    """Callables of board tensors, with their work captured; see torch.cuda.make_graphed_callables.

    Args:
        callables: a function or module, or a tuple of them in the order in which they will run.
        sample_args: its arguments, a tuple of tensors; a tuple of those for several callables.
            Later arguments must have the same shapes.
        num_warmup_iters: runs before the capture.
        allow_unused_input: let some arguments have no gradient.
        pool: name of a memory pool.

    Returns:
        The graphed callable, or a tuple of them. A module is changed and returned: it runs its
        graph while it is in the mode, training or not, in which it was captured.
    """
    several = isinstance(callables, tuple)
    every = callables if several else (callables,)
    samples = sample_args if several else (sample_args,)
    graphed = tuple(
        _graphed(one, tuple(sample), num_warmup_iters, allow_unused_input, pool)
        for one, sample in zip(every, samples, strict=True)
    )
    return graphed if several else graphed[0]


def _graphed(
    work: Callable[..., Any],
    sample: Tensors,
    warmups: int,
    allow_unused: bool,
    pool: PoolHandle | None,
) -> Any:
    module = work if isinstance(work, torch.nn.Module) else None
    parameters = tuple(module.parameters()) if module is not None else ()
    wanted = [one for one in (*sample, *parameters) if one.requires_grad]
    _warm_up(work, sample, wanted, warmups, allow_unused)

    forward, backward = BoardGraph(), BoardGraph()
    with graph(forward, pool):
        results, structure = tree_flatten(work(*sample))
    incoming = [torch.empty_like(one) for one in results if one.requires_grad]
    with graph(backward, pool):
        gradients = _gradients(results, wanted, incoming, allow_unused)

    replay = _replay_function(forward, backward, sample, results, incoming, gradients, parameters)

    def run(*args: torch.Tensor) -> Any:
        return tree_unflatten(list(replay.apply(*args, *parameters)), structure)

    if module is None:
        return run
    captured_mode, original = module.training, module.forward

    def forward_of_module(*args: torch.Tensor) -> Any:
        return run(*args) if module.training == captured_mode else original(*args)

    module.forward = forward_of_module
    return module


def _warm_up(
    work: Callable[..., Any],
    sample: Tensors,
    wanted: Sequence[torch.Tensor],
    rounds: int,
    allow_unused: bool,
) -> None:
    wait_for(board_of())
    side = Stream()
    with StreamContext(side):
        for _ in range(rounds):
            results = tree_flatten(work(*sample))[0]
            incoming = [torch.ones_like(one) for one in results if one.requires_grad]
            _gradients(results, wanted, incoming, allow_unused)
    current_stream().wait_stream(side)
    wait_for(board_of())


def _gradients(
    results: Sequence[torch.Tensor],
    wanted: Sequence[torch.Tensor],
    incoming: Sequence[torch.Tensor],
    allow_unused: bool,
) -> list[torch.Tensor | None]:
    """Gradients by which `wanted` change the results; empty where nothing is differentiable."""
    outputs = [one for one in results if one.requires_grad]
    if not outputs or not wanted:
        return []
    return list(
        torch.autograd.grad(outputs, wanted, incoming, only_inputs=True, allow_unused=allow_unused)
    )


def _replay_function(
    forward_graph: BoardGraph,
    backward_graph: BoardGraph,
    sample: Tensors,
    results: Sequence[torch.Tensor],
    incoming: Sequence[torch.Tensor],
    gradients: Sequence[torch.Tensor | None],
    parameters: Tensors,
) -> Any:
    """The autograd function whose passes are replays on the captured memory."""

    class Replay(torch.autograd.Function):
        @staticmethod
        def forward(context: Any, *inputs: torch.Tensor) -> Tensors:
            for static, given in zip(sample, inputs, strict=False):
                if static is not given:
                    static.detach().copy_(given)
            forward_graph.replay()
            return tuple(one.detach() for one in results)

        @staticmethod
        def backward(context: Any, *given: torch.Tensor) -> Any:
            differentiable = [
                gradient for gradient, one in zip(given, results, strict=True) if one.requires_grad
            ]
            for static, gradient in zip(incoming, differentiable, strict=True):
                static.copy_(gradient)
            backward_graph.replay()
            found = iter(gradients)
            return tuple(
                next(found, None) if one.requires_grad else None for one in (*sample, *parameters)
            )

    return Replay
