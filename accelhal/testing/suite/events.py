"""Group: events are done when their work is, and measure it in milliseconds."""

from __future__ import annotations

import time
from typing import Any

import pytest

from accelhal.facade import Device
from accelhal.testing.suite.base import SuiteBase
from accelhal.testing.suite.requirements import not_applicable, on_two_devices, requires
from accelhal.testing.suite.slow_work import queue_slow_work, queue_work

_TRIES = 5
_MANY_TRIES = 25
"""Measurements of which the best counts: a busy host disturbs single ones."""

_LEAST_SHARE = 0.1
"""Of the host's time around work, what the device's is at least. Seconds would give 0.001."""

_SHORTEST_LAUNCH_MS = 1e-4
"""What a launch that waits for the one before takes at least. It is 30 times below what short
kernels take inside a graph (3.4 µs: developer.nvidia.com/blog/cuda-graphs), and 30 times above the
same in seconds."""

_MORE = 4
"""Times the work, for a time that must be twice as long or more."""


@requires("events", "streams")
class Events(SuiteBase):
    """Times are those of the device; a time that was not taken raises and is never 0.0."""

    def test_elapsed_time_of_work_is_positive(self, device: Device) -> None:
        """`elapsed_time` around real work is a float greater than 0."""
        work = queue_slow_work(self, device, device.Stream())
        device.synchronize()
        found = work.start.elapsed_time(work.end)
        assert isinstance(found, float), f"elapsed_time returns a {type(found).__name__}"
        assert found > 0, f"elapsed_time around {self.work_rounds} products is {found} ms"

    @on_two_devices
    def test_elapsed_times_add_up(self, device: Device) -> None:
        """Of three events in a stream, both parts are positive and add up to the whole."""
        stream = device.Stream()
        first, second = (queue_slow_work(self, device, stream) for _ in range(2))
        device.synchronize()
        one = first.start.elapsed_time(second.start)
        two = second.start.elapsed_time(second.end)
        whole = first.start.elapsed_time(second.end)
        assert one > 0, f"the first part took {one} ms"
        assert two > 0, f"the second part took {two} ms"
        slack = self.clock_slack_ms + whole / 1e4
        assert abs(one + two - whole) <= slack, f"{one} ms and {two} ms are not {whole} ms"

    def test_elapsed_time_backwards_is_negative(self, device: Device) -> None:
        """`elapsed_time` from a later event to an earlier one is negative."""
        work = queue_slow_work(self, device, device.Stream())
        device.synchronize()
        found = work.end.elapsed_time(work.start)
        assert found < 0, f"from the end of work to its start {found} ms pass"

    def test_elapsed_time_is_in_milliseconds(self, device: Device) -> None:
        """The device's time for work is not longer than the host's around it, nor far shorter."""
        if device.simulated:
            not_applicable("simulated time is not the host's")
        stream = device.Stream()
        shares = []
        for _ in range(_TRIES):
            work = queue_slow_work(self, device, stream)
            work.end.synchronize()
            host = (time.perf_counter() - work.began) * 1e3
            found = work.start.elapsed_time(work.end)
            assert found <= host * 1.01 + self.clock_slack_ms, (
                f"{found} of elapsed_time in {host} ms: another unit"
            )
            shares.append(found / host)
        assert max(shares) >= _LEAST_SHARE, (
            f"elapsed_time is {max(shares):.2g} of the milliseconds around it: another unit"
        )

    def test_elapsed_time_leaves_room_for_launches(self, device: Device) -> None:
        """Each of several launches, one after the other, takes 0.1 µs and more."""
        work = queue_slow_work(self, device, device.Stream())
        device.synchronize()
        found = work.start.elapsed_time(work.end)
        least = self.work_rounds * _SHORTEST_LAUNCH_MS
        assert found >= least, f"{self.work_rounds} products in {found} ms: another unit"

    def test_elapsed_time_grows_with_the_work(self, device: Device) -> None:
        """Four times the work takes twice the time and more, where nothing else disturbs it."""
        stream = device.Stream()
        times: dict[int, list[float]] = {1: [], _MORE: []}
        for _ in range(1 if device.simulated else _MANY_TRIES):
            for share, found in times.items():
                rounds = share * self.work_rounds
                work = queue_work(self, device, stream, self.matrix_size, rounds)
                work.end.synchronize()
                found.append(work.start.elapsed_time(work.end))
            short, long = (min(found) for found in times.values())
            if long >= 2 * short:
                return
        raise AssertionError(f"{_MORE} times the work of {short} ms takes {long} ms")

    @pytest.mark.parametrize("timed", ["neither", "start", "end"])
    def test_untimed_events_raise(self, timed: str, device: Device) -> None:
        """`elapsed_time` of an event made without enable_timing raises."""
        start = device.Event(enable_timing=timed == "start")
        end = device.Event(enable_timing=timed == "end")
        for event in (start, end):
            event.record()
        device.synchronize()
        _check_refused(start, end, "of untimed events")

    @pytest.mark.parametrize("recorded", ["neither", "start", "end"])
    def test_unrecorded_events_raise(self, recorded: str, device: Device) -> None:
        """`elapsed_time` of an event that was never recorded raises."""
        start, end = (device.Event(enable_timing=True) for _ in range(2))
        if recorded == "start":
            start.record()
        if recorded == "end":
            end.record()
        device.synchronize()
        _check_refused(start, end, "of unrecorded events")

    def test_unrecorded_event_is_done(self, device: Device) -> None:
        """`query()` of an event that was never recorded is True, and waits return at once."""
        event = device.Event()
        assert event.query() is True, "query() before record() is not True"
        event.synchronize()
        device.current_stream().wait_event(event)

    def test_event_synchronize_waits(self, device: Device) -> None:
        """After `event.synchronize()` the event is done."""
        work = queue_slow_work(self, device, device.Stream())
        work.end.synchronize()
        assert work.end.query() is True, "the event is pending after synchronize()"
        device.synchronize()

    def test_record_takes_the_current_stream(self, device: Device) -> None:
        """`record()` without a stream marks the thread's current stream."""
        stream = device.Stream()
        work = queue_slow_work(self, device, stream)
        after = device.Event(enable_timing=True)
        with device.stream(stream):
            after.record()
        device.synchronize()
        gap = work.end.elapsed_time(after)
        assert gap >= -self.clock_slack_ms, f"it lies {-gap} ms before earlier work of the stream"

    def test_record_event_returns_the_event(self, device: Device) -> None:
        """`stream.record_event` records the event that it is given, or a new one."""
        stream, event = device.Stream(), device.Event(enable_timing=True)
        assert stream.record_event(event) is event, "another event is returned"
        stream.record_event().synchronize()
        device.synchronize()
        assert event.elapsed_time(event) == 0.0, "the event was not recorded"

    def test_recording_again_moves_the_event(self, device: Device) -> None:
        """An event that is recorded again marks the later moment."""
        stream, event = device.Stream(), device.Event(enable_timing=True)
        event.record(stream)
        work = queue_slow_work(self, device, stream)
        event.record(stream)
        device.synchronize()
        gap = work.start.elapsed_time(event)
        assert gap > 0, f"the event still marks the earlier moment ({gap} ms)"


def _check_refused(start: Any, end: Any, what: str) -> None:
    try:
        found = start.elapsed_time(end)
    except Exception:
        return
    pytest.fail(f"elapsed_time {what} returns {found} and does not raise")
