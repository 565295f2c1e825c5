"""Graphs of boards, in the shape of torch.cuda's: work captured once, replayed with one launch."""

from __future__ import annotations

import gc
import itertools

from accelhal_mock.python_mode.devices import board_of
from accelhal_mock.python_mode.memory import empty_cache
from accelhal_mock.python_mode.recording import Recording
from accelhal_mock.python_mode.streams import Stream, StreamContext, current_stream
from accelhal_mock.python_mode.waiting import wait_for
from accelhal_mock.simulation import Graph

PoolHandle = tuple[int, int]

_pool_ids = itertools.count(1)


def graph_pool_handle() -> PoolHandle:
    """A name for a pool of memory that graphs share."""
    return (next(_pool_ids), 0)


def is_current_stream_capturing() -> bool:
    """Whether a graph records the calling thread's current stream."""
    return current_stream().is_capturing()


class BoardGraph:
    """Work captured from a stream with the very memory it touches.

    A replay works on that memory again: it reads the inputs that were captured, whatever the
    program has put in their place since. Before the first replay results hold no values.

    Args:
        keep_graph: accepted; there is nothing to instantiate.
    """

    def __init__(self, keep_graph: bool = False) -> None:
        self._graph: Graph | None = None
        self._pool: PoolHandle | None = None

    def capture_begin(
        self, pool: PoolHandle | None = None, capture_error_mode: str = "global"
    ) -> None:
        """Record the current stream's work from here, in place of running it.

        Raises:
            torch.AcceleratorError: the current stream is the default one, or is captured already.
        """
        stream = current_stream().simulated
        graph = Graph(stream.board)
        graph.begin(stream)
        self._graph = graph
        self._pool = pool or graph_pool_handle()

    def capture_end(self) -> None:
        """End the capture.

        Raises:
            torch.AcceleratorError: a call during capture was not permitted.
        """
        graph = self._captured()
        graph.end()
        for node in graph.nodes:
            if isinstance(node.replay, Recording):
                node.replay.forget_results()

    def instantiate(self) -> None:
        """Return at once: a captured graph is ready."""

    def replay(self) -> None:
        """Do the captured work again, in the current stream."""
        graph = self._captured()
        flip = graph.replay(graph.board.current_stream())
        if flip is not None:
            for node in graph.nodes[-1:]:
                if isinstance(node.replay, Recording):
                    node.replay.flip_result(flip)

    def reset(self) -> None:
        """Forget the captured work, and let go of its memory."""
        if self._graph is not None:
            self._graph.reset()

    def pool(self) -> PoolHandle:
        """The name of the graph's memory pool."""
        if self._pool is None:
            self._pool = graph_pool_handle()
        return self._pool

    def _captured(self) -> Graph:
        if self._graph is None:
            self._graph = Graph(board_of())
        return self._graph


class AcceleratorGraph(BoardGraph):
    """The same in the shape of torch.accelerator.Graph: a context that captures the current stream.

    Args:
        keep_graph: accepted; there is nothing to instantiate.
        pool: name of a memory pool.
        capture_error_mode: accepted; calls that are not permitted raise in every mode.
    """

    def __init__(
        self,
        keep_graph: bool = False,
        *,
        pool: PoolHandle | None = None,
        capture_error_mode: str = "default",
    ) -> None:
        super().__init__(keep_graph)
        self.graph_pool = pool

    def __enter__(self) -> AcceleratorGraph:
        self.capture_begin(self.graph_pool)
        return self

    def __exit__(self, *exception: object) -> None:
        self.capture_end()


class graph:  # noqa: N801  (torch.cuda.graph)
    """Context that captures the work of its body into a graph, on a stream of its own.

    Args:
        board_graph: takes the work.
        pool: name of a memory pool.
        stream: captures here; a new stream when None.
        capture_error_mode: accepted; calls that are not permitted raise in every mode.
    """

    def __init__(
        self,
        board_graph: BoardGraph,
        pool: PoolHandle | None = None,
        stream: Stream | None = None,
        capture_error_mode: str = "global",
    ) -> None:
        self._graph = board_graph
        self._pool = pool
        self._context = StreamContext(stream or Stream())

    def __enter__(self) -> None:
        wait_for(board_of())
        gc.collect()
        empty_cache()
        self._context.__enter__()
        try:
            self._graph.capture_begin(self._pool)
        except BaseException:
            self._context.__exit__()
            raise

    def __exit__(self, *exception: object) -> None:
        try:
            self._graph.capture_end()
        finally:
            self._context.__exit__(*exception)
