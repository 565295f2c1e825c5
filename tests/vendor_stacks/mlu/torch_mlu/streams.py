"""Streams of torch.mlu, which both forms have alike but for a name and for urgent arguments."""

from __future__ import annotations

from typing import Any

from accelhal_mock.python_mode import devices as boards, streams

from torch_mlu import captures, process
from torch_mlu.errors import ERRORS

LEAST_URGENT, MOST_URGENT = 0, -3


class Stream(streams.Stream):
    """A queue of work; a subclass of torch.Stream."""

    event_class: Any = None

    def __new__(cls, device: Any = None, priority: int = 0, **kwargs: Any) -> Any:
        if not kwargs:
            process.lazy_init()
            priority = cls.checked_priority(priority)
        return super().__new__(cls, device, priority, **kwargs)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Nothing is left to do."""

    @classmethod
    def checked_priority(cls, priority: int) -> int:
        raise NotImplementedError

    @staticmethod
    def priority_range() -> tuple[int, int]:
        return LEAST_URGENT, MOST_URGENT

    @property
    def mlu_stream(self) -> int:
        return id(self.simulated)

    def wait_event(self, event: Any) -> None:
        self.simulated.wait_event(event.simulated)

    def wait_stream(self, stream: Any) -> None:
        self.simulated.wait_stream(stream.simulated)

    def record_event(self, event: Any = None) -> Any:
        event = self.event_class() if event is None else event
        event.record(self)
        return event

    def query(self) -> bool:
        captures.check("query of a stream")
        return super().query()

    def synchronize(self) -> None:
        captures.check("synchronize of a stream")
        super().synchronize()

    def __eq__(self, o: object) -> bool:
        return isinstance(o, streams.Stream) and o.simulated is self.simulated

    def __hash__(self) -> int:
        return hash(self.simulated)

    def __repr__(self) -> str:
        return f"<torch.mlu.Stream device={self.device} mlu_stream={self.mlu_stream:#x}>"


class StrictStream(Stream):
    """Of 1.25: a positive priority raises."""

    @classmethod
    def checked_priority(cls, priority: int) -> int:
        if priority > LEAST_URGENT:
            raise ERRORS.board(
                f"Expected mlu stream priority to be less than or equal to 0, got {priority}"
            )
        return max(priority, MOST_URGENT)


class ClampingStream(Stream):
    """Of 1.33: a priority outside the range becomes the nearest."""

    @classmethod
    def checked_priority(cls, priority: int) -> int:
        return min(max(priority, MOST_URGENT), LEAST_URGENT)

    def __mlu_stream__(self) -> tuple[int, int]:
        return 0, self.mlu_stream


class StreamContext:
    """Context of `torch.mlu.stream(s)`: s is current, and so is its device."""

    cur_stream: Any

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        if self.stream is None:
            return
        process.lazy_init()
        self._device = boards.current_device()
        index = self.stream.device_index
        self._before = streams.current_stream(index)
        streams.set_stream(self.stream)

    def __exit__(self, type: Any, value: Any, traceback: Any) -> None:  # noqa: A002
        if self.stream is None:
            return
        streams.set_stream(self._before)
        boards.set_device(self._device)


def stream(stream: Any) -> StreamContext:
    return StreamContext(stream)


def set_stream(stream: Any) -> None:
    """Make a stream current; its device stays current too."""
    if stream is not None:
        process.lazy_init()
        streams.set_stream(stream)
