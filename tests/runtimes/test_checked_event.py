"""Events that refuse to time what was not measured, over a class that is built as torch's are."""

from __future__ import annotations

from typing import Any

import pytest

from accelhal.errors import UsageError
from accelhal.runtimes.checked_event import checked_event_class


class VendorEvent:
    """Made by __new__ alone, as torch.cuda.Event and torch_npu's are."""

    def __new__(
        cls, enable_timing: bool = True, blocking: bool = True, interprocess: bool = True
    ) -> Any:
        event = super().__new__(cls)
        event.flags = (enable_timing, blocking, interprocess)
        return event

    def __init__(self, *_: bool, **__: bool) -> None: ...

    def record(self, stream: Any = None) -> None:
        self.stream = stream

    def elapsed_time(self, end_event: Any) -> float:
        return 2.5


Event = checked_event_class(VendorEvent)


def test_flags_that_are_not_given_are_off_whatever_the_vendor_s_defaults() -> None:
    assert Event().flags == (False, False, False)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_each_flag_arrives_as_itself(place: int) -> None:
    names = ("enable_timing", "blocking", "interprocess")
    flags = tuple(name == names[place] for name in names)
    assert Event(*flags).flags == flags
    assert Event(**{names[place]: True}).flags == flags


def test_a_time_that_was_taken_is_the_vendor_s() -> None:
    start, end = Event(True), Event(True)
    start.record("here")
    end.record()
    assert (start.stream, end.stream) == ("here", None)
    assert start.elapsed_time(end) == 2.5


@pytest.mark.parametrize("flags", [(), (False,), (False, True, True)])
def test_events_without_timing_are_refused(flags: tuple[bool, ...]) -> None:
    start, end = Event(True), Event(*flags)
    start.record()
    end.record()
    for first, second in ((start, end), (end, start)):
        with pytest.raises(UsageError, match="enable_timing=True"):
            first.elapsed_time(second)


def test_events_that_were_never_recorded_are_refused() -> None:
    start, end = Event(True), Event(True)
    start.record()
    for first, second in ((start, end), (end, start)):
        with pytest.raises(UsageError, match="recorded"):
            first.elapsed_time(second)
