"""Graph capture of torch.mlu: in mode "relaxed" unless asked, on a side stream shared by all."""

from __future__ import annotations

from typing import Any

from accelhal_mock.python_mode import graphs, memory, streams

from torch_mlu import captures, devices, process
from torch_mlu.streams import StreamContext

DEFAULT_MODE = "relaxed"


class Graph(graphs.BoardGraph):
    """What both forms of MLUGraph do."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def capture_begin(self, pool: Any = None, capture_error_mode: str = DEFAULT_MODE) -> None:
        process.lazy_init()
        if capture_error_mode not in captures.MODES:
            raise RuntimeError(f"Unknown capture error mode. Expected {captures.MODES}")
        super().capture_begin(pool, capture_error_mode)
        captures.begin(self, capture_error_mode)

    def capture_end(self) -> None:
        captures.end(self)
        super().capture_end()

    def spoil(self, call: str) -> None:
        """End the capture by a call that it does not permit."""
        self._captured().invalidate(call)

    def enable_debug_mode(self) -> None:
        """Accepted."""

    def debug_dump(self, debug_path: str) -> None:
        raise NotImplementedError("graphs of the stand-in are not dumped")


class PlainGraph(Graph):
    """Of 1.25."""

    def __new__(cls) -> Any:
        process.lazy_init()
        return super().__new__(cls)

    def register_generator_state(self, generator: Any) -> None:
        """Accepted."""


class KeepingGraph(Graph):
    """Of 1.33."""

    def __new__(cls, keep_graph: bool = False) -> Any:
        process.lazy_init()
        return super().__new__(cls)

    def raw_mlu_graph(self) -> int:
        return id(self)

    def raw_mlu_graph_exec(self) -> int:
        return id(self)


class CaptureContext:
    """What both forms of `torch.mlu.graph` do."""

    default_capture_stream: Any = None
    stream_class: Any = None

    def __init__(
        self,
        mlu_graph: Graph,
        pool: Any = None,
        stream: Any = None,
        capture_error_mode: str = DEFAULT_MODE,
    ) -> None:
        if stream is None and type(self).default_capture_stream is None:
            # One for the process, on the device that happens to be current.
            type(self).default_capture_stream = self.stream_class()
        self.capture_stream = stream or type(self).default_capture_stream
        self.pool = pool
        self.mlu_graph = mlu_graph
        self.capture_error_mode = capture_error_mode
        self._context = StreamContext(self.capture_stream)

    def __enter__(self) -> None:
        devices.synchronize()
        memory.empty_cache()
        self._context.__enter__()
        try:
            self.mlu_graph.capture_begin(self.pool, self.capture_error_mode)
        except BaseException:
            self._context.__exit__(None, None, None)
            raise

    def leave(self) -> None:
        """End the capture and restore the stream."""
        try:
            self.mlu_graph.capture_end()
        finally:
            self._context.__exit__(None, None, None)


def graph_pool_handle() -> tuple[int, int]:
    return graphs.graph_pool_handle()


def is_current_stream_capturing() -> bool:
    return process.is_initialized() and streams.current_stream().is_capturing()
