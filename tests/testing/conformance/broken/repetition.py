"""Broken: random numbers and graphs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from accelhal_mock.python_mode.graphs import BoardGraph
from accelhal_mock.python_mode.streams import Stream
from accelhal_mock.runtime import PythonRuntime
from testing.conformance.broken.backend import OnBrokenBackend
from torch.overrides import TorchFunctionMode

# ---- random numbers


class SeedReachesEveryDevice(OnBrokenBackend):
    """Seeding one device seeds all."""

    fails = frozenset({"generators_are_per_device"})

    class Runtime(PythonRuntime):
        def manual_seed(self, index: int, seed: int) -> None:
            for each in range(self.device_count()):
                super().manual_seed(each, seed)


class StateIsNotRestored(OnBrokenBackend):
    """set_rng_state does nothing."""

    fails = frozenset({"state_round_trips[first]"})

    class Runtime(PythonRuntime):
        def set_rng_state(self, index: int, state: torch.Tensor) -> None:
            """The generator goes on."""


# ---- graphs


def graphs_of(graph_class: type[BoardGraph]) -> type[PythonRuntime]:
    """A runtime whose new graphs are of that class."""

    class Runtime(PythonRuntime):
        def create_graph(self, index: int) -> Any:
            return graph_class()

    return Runtime


class ReplayDoesNothingAgain(OnBrokenBackend):
    """Only a graph's first replay computes."""

    fails = frozenset({"replay_recomputes_from_new_input[first]", "replays_repeat"})

    class Once(BoardGraph):
        replayed = False

        def replay(self) -> None:
            if not self.replayed:
                super().replay()
                self.replayed = True

    Runtime = graphs_of(Once)


class ReplayUsesOldWeights(OnBrokenBackend):
    """A replay uses the weights as they were at the capture."""

    fails = frozenset({"replay_sees_weights_changed_in_place"})

    class Runtime(PythonRuntime):
        @contextlib.contextmanager
        def capture_graph(
            self, index: int, graph: Any, *, pool: Any, stream: Any, capture_error_mode: str
        ) -> Iterator[None]:
            captured = super().capture_graph(
                index, graph, pool=pool, stream=stream, capture_error_mode=capture_error_mode
            )
            with captured, _FrozenFactors(Stream(index)):
                yield


class _FrozenFactors(TorchFunctionMode):
    """Products take a copy of their second factor, made outside the capture."""

    def __init__(self, outside: Stream) -> None:
        super().__init__()
        self._outside = outside

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.Tensor.mul:
            with self._outside:
                args = (args[0], args[1].clone(), *args[2:])
        return func(*args, **(kwargs or {}))


class IllegalCallIsCaptured(OnBrokenBackend):
    """A call that waits for the device is no error in a capture, which is dropped silently."""

    fails = frozenset({"illegal_call_in_capture_raises"})

    class Runtime(PythonRuntime):
        @contextlib.contextmanager
        def capture_graph(
            self, index: int, graph: Any, *, pool: Any, stream: Any, capture_error_mode: str
        ) -> Iterator[None]:
            with (
                contextlib.suppress(RuntimeError),
                super().capture_graph(
                    index, graph, pool=pool, stream=stream, capture_error_mode=capture_error_mode
                ),
            ):
                yield


class ResetKeepsTheWork(OnBrokenBackend):
    """A graph that was reset still replays."""

    fails = frozenset({"reset_graph_does_not_replay"})

    class Kept(BoardGraph):
        def reset(self) -> None:
            """Nothing is forgotten."""

    Runtime = graphs_of(Kept)


class GraphedCallableKeepsItsSample(OnBrokenBackend):
    """A graphed callable returns what it returned for the sample."""

    fails = frozenset({"graphed_callables_compute_anew"})

    class Runtime(PythonRuntime):
        def make_graphed_callables(
            self,
            index: int,
            callables: Any,
            sample_args: Any,
            *,
            num_warmup_iters: int = 3,
            allow_unused_input: bool = False,
            pool: Any = None,
        ) -> Any:
            result = callables(*sample_args)
            return lambda *arguments: result.clone()
