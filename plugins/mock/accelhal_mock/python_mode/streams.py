"""Streams and events of boards, in the shape of torch.cuda's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from accelhal.runtimes.context_stack import ContextStack
from accelhal_mock.python_mode.devices import board_of
from accelhal_mock.python_mode.installed import current_installation
from accelhal_mock.python_mode.operators import OPERATORS, Operator
from accelhal_mock.python_mode.tensor import board_devices
from accelhal_mock.python_mode.waiting import is_done, wait_for
from accelhal_mock.simulation import Event as SimulatedEvent, Stream as SimulatedStream

_TorchStream: Any = torch.Stream  # the classes themselves, also while patches stand in their place
_TorchEvent: Any = torch.Event
PRIVATEUSE1 = 20
"""c10::DeviceType::PrivateUse1 (c10/core/DeviceType.h)."""

_entered = ContextStack()


class Stream(_TorchStream):
    """A queue of work on a board.

    Args:
        device: the board; the current one when None.
        priority: lower is more urgent.
        simulated: the stream to show, in place of a new one.
    """

    simulated: SimulatedStream

    def __new__(
        cls,
        device: Any = None,
        priority: int = 0,
        *,
        simulated: SimulatedStream | None = None,
        **identity: int,
    ) -> Stream:
        """A new stream, or the one that `stream_id` and `device_index` name."""
        if "stream_id" in identity:
            board = current_installation().machine.board(identity.get("device_index"))
            simulated = board.streams()[identity["stream_id"]]
        elif simulated is None:
            simulated = board_of(device).create_stream(priority)
        made: Stream = super().__new__(
            cls,
            stream_id=simulated.number,
            device_index=simulated.board.index,
            device_type=PRIVATEUSE1,
        )
        made.simulated = simulated
        return made

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Nothing is left to do."""

    @property
    def priority(self) -> int:
        """As it was asked for."""
        return self.simulated.priority

    def query(self) -> bool:
        """Whether all work queued so far is done."""
        return is_done(self.simulated)

    def synchronize(self) -> None:
        """Wait until all work queued so far is done."""
        wait_for(self.simulated)

    def record_event(self, event: Event | None = None) -> Event:
        """Record an event (a new untimed one when None) and return it."""
        event = event or Event()
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Order later work after the event."""
        self.simulated.wait_event(event.simulated)

    def wait_stream(self, stream: Stream) -> None:
        """Order later work after all work queued in `stream` so far."""
        self.simulated.wait_stream(stream.simulated)

    def is_capturing(self) -> bool:
        """Whether a graph records this stream's work."""
        return self.simulated.is_capturing()

    def __enter__(self) -> Stream:
        enter_stream(self, self)
        return self

    def __exit__(self, *exception: object) -> None:
        _entered.pop(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and other.simulated is self.simulated

    def __hash__(self) -> int:
        return hash(self.simulated)

    def __repr__(self) -> str:
        return f"<{self.device} stream {self.stream_id}>"


class Event(_TorchEvent):
    """A marker in a stream.

    Args:
        enable_timing: let `elapsed_time` measure it.
        blocking: accepted; waits are alike.
        interprocess: accepted; events of boards do not travel between processes.
    """

    simulated: SimulatedEvent

    def __new__(
        cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> Event:
        """A new marker, on no board yet."""
        made: Event = super().__new__(
            cls, device=current_installation().name, enable_timing=enable_timing
        )
        made.simulated = SimulatedEvent(enable_timing)
        return made

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Nothing is left to do."""

    @property
    def device(self) -> torch.device | None:
        """The board it was first recorded on, or None."""
        board = self.simulated.board
        return None if board is None else board_devices[board.index]

    def record(self, stream: Stream | None = None) -> None:
        """Mark the end of all work queued in the stream (the current one when None) so far."""
        self.simulated.record((stream or current_stream()).simulated)

    def wait(self, stream: Stream | None = None) -> None:
        """Order later work of the stream (the current one when None) after the event."""
        (stream or current_stream()).simulated.wait_event(self.simulated)

    def query(self) -> bool:
        """Whether the marked work is done; True where none was marked."""
        return is_done(self.simulated)

    def synchronize(self) -> None:
        """Wait until the marked work is done."""
        wait_for(self.simulated)

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this event to another, on the board's clock."""
        return self.simulated.elapsed_time(end_event.simulated)

    def ipc_handle(self) -> bytes:
        """Refused: events of boards do not travel between processes."""
        raise NotImplementedError("events of simulated boards have no IPC handle")

    def __repr__(self) -> str:
        return f"<{current_installation().name} event of {self.device or 'no board'}>"


class StreamContext:
    """Context in which a stream, and with it its board, is current; None changes nothing."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        enter_stream(self, self.stream)

    def __exit__(self, *exception: object) -> None:
        _entered.pop(self)


def enter_stream(owner: object, stream: Stream | None) -> None:
    """Make a stream current until this thread's `owner` is left."""
    machine = current_installation().machine
    if stream is None:
        _entered.push(owner, lambda: None)
        return
    index = stream.simulated.board.index
    device, before = machine.current_device(), machine.current_stream(index)

    def restore() -> None:
        machine.set_stream(before)
        machine.set_device(device)

    machine.set_device(index)
    machine.set_stream(stream.simulated)
    _entered.push(owner, restore)


def current_stream(device: Any = None) -> Stream:
    """The calling thread's current stream on a board."""
    return Stream(simulated=board_of(device).current_stream())


def default_stream(device: Any = None) -> Stream:
    """A board's default stream."""
    return Stream(simulated=board_of(device).default_stream)


def set_stream(stream: Stream | None) -> None:
    """Make a stream, and its board, current for the calling thread; None changes nothing."""
    if stream is not None:
        machine = current_installation().machine
        machine.set_device(stream.simulated.board.index)
        machine.set_stream(stream.simulated)


def simulated_stream(stream: Any) -> SimulatedStream:
    """The simulation's stream behind a torch.Stream of a board, whoever made the object."""
    if isinstance(stream, Stream):
        found: SimulatedStream = stream.simulated
        return found
    number: int = stream.stream_id
    return current_installation().machine.board(stream.device_index).streams()[number]


@OPERATORS.register(torch.ops.aten.record_stream.default)
def record_stream(operator: Operator, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Keep a tensor's memory, once freed, until the stream is done."""
    args[0]._memory.record_stream(simulated_stream(args[1]))
