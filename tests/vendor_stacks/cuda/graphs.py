"""The base under torch.cuda.CUDAGraph, over the simulation's graphs."""

from __future__ import annotations

import itertools
from typing import Any

from accelhal_mock.simulation import Graph
from vendor_stacks.cuda import boards

PoolHandle = tuple[int, int]

_pool_ids = itertools.count(1)


def _graph_pool_handle() -> PoolHandle:
    return next(_pool_ids), 0


def _cuda_isCurrentStreamCapturing() -> bool:
    return boards.visible_machine().board().current_stream().is_capturing()


class _CUDAGraph:
    def __new__(cls, keep_graph: bool = False) -> Any:
        made: Any = super().__new__(cls)
        made.simulated = None
        made.pool_handle = None
        return made

    def __init__(self, keep_graph: bool = False) -> None:
        self.simulated: Graph | None
        self.pool_handle: PoolHandle | None

    def capture_begin(
        self, pool: PoolHandle | None = None, capture_error_mode: str = "global"
    ) -> None:
        if capture_error_mode not in ("global", "thread_local", "relaxed"):
            raise RuntimeError(f"Unknown capture error mode: {capture_error_mode}")
        stream = boards.visible_machine().board().current_stream()
        graph = Graph(stream.board)
        graph.begin(stream)
        self.simulated = graph
        self.pool_handle = pool or _graph_pool_handle()

    def capture_end(self) -> None:
        from accelhal_mock.python_mode.recording import Recording

        graph = self._captured()
        graph.end()
        for node in graph.nodes:
            if isinstance(node.replay, Recording):
                node.replay.forget_results()

    def instantiate(self) -> None:
        self._captured()

    def replay(self) -> None:
        graph = self._captured()
        graph.replay(graph.board.current_stream())

    def reset(self) -> None:
        if self.simulated is not None:
            self.simulated.reset()

    def pool(self) -> PoolHandle:
        assert self.pool_handle is not None, "the graph has no pool before a capture"
        return self.pool_handle

    def _captured(self) -> Graph:
        if self.simulated is None:
            raise RuntimeError("Called CUDAGraph::replay without a preceding successful capture.")
        return self.simulated
