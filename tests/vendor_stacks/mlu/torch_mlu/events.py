"""Events of torch.mlu: the calls that both forms have, over the simulation's event."""

from __future__ import annotations

from typing import Any

import torch
from accelhal_mock.python_mode.streams import current_stream
from accelhal_mock.python_mode.waiting import is_done, wait_for
from accelhal_mock.simulation import Event as SimulatedEvent

from torch_mlu import captures, process

_TorchEvent: Any = torch.Event

_UNPLACED = "Both notifiers must be placed before calculating elapsed time."
_MICROSECONDS = 1e3


class EventCalls:
    """What an event does; which class it is differs by form."""

    simulated: SimulatedEvent
    timed: bool

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Nothing is left to do: the simulation's event is made with the object."""

    def record(self, stream: Any = None) -> None:
        process.lazy_init()
        self.simulated.record((stream or current_stream()).simulated)

    def wait(self, stream: Any = None) -> None:
        (stream or current_stream()).simulated.wait_event(self.simulated)

    def query(self) -> bool:
        captures.check("query of an event")
        return is_done(self.simulated)

    def synchronize(self) -> None:
        captures.check("synchronize of an event")
        wait_for(self.simulated)

    def elapsed_time(self, end_event: Any) -> float:
        """Milliseconds. What CNRT answers for untimed notifiers is not recorded: 0.0 is the worst.

        Raises:
            RuntimeError: an event was never recorded.
        """
        if self.simulated.moment is None or end_event.simulated.moment is None:
            raise RuntimeError(_UNPLACED)
        if not (self.timed and end_event.timed):
            return 0.0
        return self.simulated.elapsed_time(end_event.simulated)

    def hardware_time(self, end_event: Any) -> float:
        """Microseconds."""
        return self.elapsed_time(end_event) * _MICROSECONDS

    def ipc_handle(self) -> bytes:
        raise NotImplementedError("events of the stand-in do not travel between processes")

    @classmethod
    def from_ipc_handle(cls, device: Any, handle: bytes) -> Any:
        raise NotImplementedError("events of the stand-in do not travel between processes")

    @property
    def device(self) -> torch.device | None:
        board = self.simulated.board
        return None if board is None else torch.device("mlu", board.index)

    @property
    def mlu_event(self) -> int:
        return id(self.simulated)


class PlainEvent(EventCalls):
    """Of 1.25: no torch.Event."""

    def __new__(
        cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> Any:
        return _made(super().__new__(cls), enable_timing)


class TorchEvent(EventCalls, _TorchEvent):
    """Of 1.33: a torch.Event."""

    def __new__(
        cls,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
        external: bool = False,
    ) -> Any:
        made = _TorchEvent.__new__(cls, device="mlu", enable_timing=enable_timing)
        return _made(made, enable_timing)


def _made(event: Any, enable_timing: bool) -> Any:
    event.simulated = SimulatedEvent(True)
    event.timed = enable_timing
    return event
