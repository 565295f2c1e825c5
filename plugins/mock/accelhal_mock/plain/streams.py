"""Streams and events of plain mode, shaped as torch's."""

from __future__ import annotations

import torch

from accelhal.runtimes.context_stack import ContextStack
from accelhal_mock import installation
from accelhal_mock.simulation import Event, Stream

_entered = ContextStack()


class PlainEvent:
    """A marker in a stream.

    Attributes:
        event: the simulation's event.
    """

    __slots__ = ("event",)

    def __init__(self, enable_timing: bool = False) -> None:
        self.event = Event(timing=enable_timing)

    def record(self, stream: PlainStream | None = None) -> None:
        """Mark the end of the work queued in `stream` (the current one when None)."""
        self.event.record(_core(stream))

    def wait(self, stream: PlainStream | None = None) -> None:
        """Order later work of `stream` (the current one when None) after the marker."""
        _core(stream).wait_event(self.event)

    def query(self) -> bool:
        """Whether the marked work is done."""
        return self.event.query()

    def synchronize(self) -> None:
        """Wait until the marked work is done."""
        self.event.synchronize()

    def elapsed_time(self, end: PlainEvent) -> float:
        """Milliseconds from this marker to `end`."""
        return self.event.elapsed_time(end.event)


class PlainStream:
    """A queue of work; `with stream:` makes it, and its board, current for the thread.

    Attributes:
        stream: the simulation's stream.
        device: the torch device of its tensors.
    """

    __slots__ = ("device", "stream")

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.device = torch.device("cpu")

    @property
    def device_index(self) -> int:
        """Index of its board."""
        return self.stream.board.index

    @property
    def priority(self) -> int:
        """As asked for."""
        return self.stream.priority

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PlainStream) and self.stream is other.stream

    def __hash__(self) -> int:
        return hash(self.stream)

    def __repr__(self) -> str:
        return f"<PlainStream: {self.stream}>"

    def synchronize(self) -> None:
        """Wait until all queued work is done."""
        self.stream.synchronize()

    def query(self) -> bool:
        """Whether all queued work is done."""
        return self.stream.query()

    def wait_event(self, event: PlainEvent) -> None:
        """Order later work after the event."""
        self.stream.wait_event(event.event)

    def wait_stream(self, stream: PlainStream) -> None:
        """Order later work after what the other stream holds."""
        self.stream.wait_stream(stream.stream)

    def record_event(self, event: PlainEvent | None = None) -> PlainEvent:
        """Record an event (a new untimed one when None) and return it."""
        event = event or PlainEvent()
        event.record(self)
        return event

    def __enter__(self) -> PlainStream:
        machine, index = self.stream.board.machine, self.device_index
        device, stream = machine.current_device(), machine.current_stream(index)

        def restore() -> None:
            machine.set_stream(stream)
            machine.set_device(device)

        machine.set_stream(self.stream)
        machine.set_device(index)
        _entered.push(self, restore)
        return self

    def __exit__(self, *exception: object) -> None:
        _entered.pop(self)


def _core(stream: PlainStream | None) -> Stream:
    return installation.machine().current_stream() if stream is None else stream.stream
