"""Broken: events, and the times between them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, ClassVar

from accelhal_mock.python_mode.streams import Event, Stream
from accelhal_mock.runtime import PythonRuntime
from testing.conformance.broken.backend import OnBrokenBackend

from accelhal.facade import Device
from accelhal.runtimes.cpu import CpuEvent, CpuRuntime
from accelhal.spi import Support


def events_of(event_class: type[Event]) -> type[PythonRuntime]:
    """A runtime whose new events are of that class."""

    class Runtime(PythonRuntime):
        def create_event(
            self, index: int, enable_timing: bool = False, blocking: bool = False
        ) -> Any:
            return event_class(enable_timing, blocking)

    return Runtime


class UntakenTimeIsZero(OnBrokenBackend):
    """elapsed_time of untimed or unrecorded events is 0.0."""

    fails = frozenset(
        {
            *(f"untimed_events_raise[{which}]" for which in ("neither", "start", "end")),
            *(f"unrecorded_events_raise[{which}]" for which in ("neither", "start", "end")),
        }
    )

    class Lenient(Event):
        def elapsed_time(self, end: Event) -> float:
            try:
                return super().elapsed_time(end)
            except ValueError:
                return 0.0

    Runtime = events_of(Lenient)


class TimeIsZero(OnBrokenBackend):
    """elapsed_time is 0.0 whatever was done."""

    fails = frozenset({"elapsed_time_of_work_is_positive", "elapsed_times_add_up[first]"})

    class Timeless(Event):
        def elapsed_time(self, end: Event) -> float:
            return super().elapsed_time(end) * 0.0

    Runtime = events_of(Timeless)


class TimeIsInSeconds(OnBrokenBackend):
    """elapsed_time of simulated boards is in seconds."""

    fails = frozenset({"elapsed_time_leaves_room_for_launches"})

    class InSeconds(Event):
        def elapsed_time(self, end: Event) -> float:
            return super().elapsed_time(end) / 1e3

    Runtime = events_of(InSeconds)


class TimeIsATick(OnBrokenBackend):
    """Events count how often one was recorded: a tick is a millisecond, whatever the work."""

    fails = frozenset({"elapsed_time_grows_with_the_work"})

    class Ticking(Event):
        ticks = itertools.count()
        tick = 0

        def record(self, stream: Stream | None = None) -> None:
            super().record(stream)
            self.tick = next(self.ticks)

        def elapsed_time(self, end: Event) -> float:
            super().elapsed_time(end)
            assert isinstance(end, TimeIsATick.Ticking), "every event of this runtime ticks"
            return float(end.tick - self.tick)

    Runtime = events_of(Ticking)


class TimeIsConstant(OnBrokenBackend):
    """elapsed_time is a millisecond, whatever was done."""

    fails = frozenset(
        {
            "elapsed_times_add_up[first]",
            "elapsed_time_backwards_is_negative",
            "elapsed_time_grows_with_the_work",
        }
    )

    class Constant(Event):
        def elapsed_time(self, end: Event) -> float:
            super().elapsed_time(end)
            return 1.0

    Runtime = events_of(Constant)


class UnrecordedEventIsPending(OnBrokenBackend):
    """query() of an event that was never recorded is False."""

    fails = frozenset({"unrecorded_event_is_done"})

    class Pending(Event):
        def query(self) -> bool:
            return self.simulated.moment is not None and super().query()

    Runtime = events_of(Pending)


class EventIsAlwaysDone(OnBrokenBackend):
    """query of an event is True whatever is pending."""

    fails = frozenset({"pending_work_is_not_done"})

    class Done(Event):
        def query(self) -> bool:
            return True

    Runtime = events_of(Done)


class EventWaitForgetsTheCurrentStream(OnBrokenBackend):
    """event.wait() without a stream orders nothing."""

    fails = frozenset({"event_wait_takes_the_current_stream"})

    class Forgetful(Event):
        def wait(self, stream: Stream | None = None) -> None:
            if stream is not None:
                super().wait(stream)

    Runtime = events_of(Forgetful)


class OnTheHostsClock:
    """The processor in the mock's place: its event times are the host's."""

    backend = "cpu"
    spec_changes: ClassVar[Mapping[str, Any]] = {
        "name": "cpu",
        "simulated": False,
        "open_management": None,
    }

    def inject_fault(self, device: Device) -> None:
        return None


def in_units(of_a_millisecond: float) -> type[CpuRuntime]:
    """The processor, with events that count so many units in a millisecond."""

    class Miscounting(CpuEvent):
        def elapsed_time(self, end: CpuEvent) -> float:
            return super().elapsed_time(end) * of_a_millisecond

    class Runtime(CpuRuntime):
        def __init__(self, device_type: str) -> None:
            super().__init__()

        def create_event(
            self, index: int, enable_timing: bool = False, blocking: bool = False
        ) -> CpuEvent:
            return Miscounting(enable_timing)

    return Runtime


class HostTimeIsInMicroseconds(OnTheHostsClock, OnBrokenBackend):
    """The processor's event times are in microseconds."""

    fails = frozenset({"elapsed_time_is_in_milliseconds"})
    Runtime = in_units(1e3)


class HostTimeIsInSeconds(OnTheHostsClock, OnBrokenBackend):
    """The processor's event times are in seconds."""

    fails = frozenset({"elapsed_time_is_in_milliseconds"})
    Runtime = in_units(1e-3)


class WorksInTheCall(OnTheHostsClock, OnBrokenBackend):
    """Nothing is broken: its calls end with their work, though it declares streams of its own."""

    work_rounds = 64

    class Runtime(CpuRuntime):
        def __init__(self, device_type: str) -> None:
            super().__init__()

        def capabilities(self, index: int) -> Mapping[str, Support]:
            return {**super().capabilities(index), "streams": Support.NATIVE}
