"""Group: a stream keeps its order, and waits between streams order them."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
import torch

from accelhal.errors import UsageError
from accelhal.facade import Device
from accelhal.spi import Support
from accelhal.testing.suite.base import SuiteBase
from accelhal.testing.suite.requirements import not_applicable, on_two_devices, requires
from accelhal.testing.suite.slow_work import SlowWork, queue_slow_work

_THREAD_LIMIT_S = 60.0

_CLOCKS_AGREE = 0.95
"""Share of a device's time for work that the host's clock surely shows too."""


@requires("streams")
class Streams(SuiteBase):
    """Order is shown by results, and by event times where results are there at once."""

    def test_work_in_one_stream_keeps_its_order(self, device: Device) -> None:
        """Work of one stream runs in the order in which it was queued."""
        stream = device.Stream()
        total = self.put(torch.zeros(64, 64), device)
        stream.wait_stream(device.current_stream())
        with device.stream(stream):
            for number in range(20):
                total.mul_(2).add_(number)
        stream.synchronize()
        expected = torch.zeros(64, 64)
        for number in range(20):
            expected.mul_(2).add_(number)
        assert torch.equal(self.get(total), expected), "queued work ran out of order"

    @requires("events")
    def test_wait_event_orders_after_slow_work(self, device: Device) -> None:
        """Work queued after `wait_event` runs after the work that the event marks."""
        producer, consumer = device.Stream(), device.Stream()
        work = queue_slow_work(self, device, producer)
        consumer.wait_event(work.end)
        self._check_order(device, work, consumer)

    @requires("events")
    def test_event_wait_orders_after_slow_work(self, device: Device) -> None:
        """`event.wait(stream)` orders the stream as `stream.wait_event(event)` does."""
        producer, consumer = device.Stream(), device.Stream()
        work = queue_slow_work(self, device, producer)
        work.end.wait(consumer)
        self._check_order(device, work, consumer)

    @requires("events")
    def test_event_wait_takes_the_current_stream(self, device: Device) -> None:
        """`event.wait()` without a stream orders the thread's current stream."""
        producer, consumer = device.Stream(), device.Stream()
        work = queue_slow_work(self, device, producer)
        with device.stream(consumer):
            work.end.wait()
        self._check_order(device, work, consumer)

    @requires("events")
    def test_wait_stream_orders_after_slow_work(self, device: Device) -> None:
        """Work queued after `wait_stream` runs after all work queued in the other stream."""
        producer, consumer = device.Stream(), device.Stream()
        work = queue_slow_work(self, device, producer)
        consumer.wait_stream(producer)
        self._check_order(device, work, consumer)

    @requires("events")
    def test_stream_synchronize_waits(self, device: Device) -> None:
        """After `stream.synchronize()` the stream and its events have nothing pending."""
        stream = device.Stream()
        work = queue_slow_work(self, device, stream)
        stream.synchronize()
        assert stream.query(), "the stream has work pending after synchronize()"
        assert work.end.query(), "an event of the stream is pending after synchronize()"
        assert torch.equal(self.get(work.result), work.expected), "the work is not done"

    @requires("events")
    @on_two_devices
    def test_device_synchronize_waits_for_all_streams(self, device: Device) -> None:
        """After `device.synchronize()` no stream of the device has work pending."""
        streams = [device.Stream(), device.Stream()]
        work = [queue_slow_work(self, device, stream) for stream in streams]
        device.synchronize()
        for stream, done in zip(streams, work, strict=True):
            assert stream.query(), "a stream has work pending after device.synchronize()"
            assert torch.equal(self.get(done.result), done.expected), "the work is not done"

    def test_waiting_for_itself_is_legal(self, device: Device) -> None:
        """A stream may wait for itself, and goes on."""
        stream = device.Stream()
        tensor = self.put(torch.ones(4), device)
        stream.wait_stream(device.current_stream())
        stream.wait_stream(stream)
        with device.stream(stream):
            tensor.add_(1)
        stream.synchronize()
        assert self.get(tensor).tolist() == [2.0] * 4, "the stream did not go on"

    def test_new_streams_differ(self, device: Device) -> None:
        """Two new streams are two, and neither is the default one."""
        streams = [device.Stream(), device.Stream(), device.default_stream()]
        assert streams[0] != streams[1], f"a new stream is the one made before: {streams[0]}"
        assert streams[2] not in streams[:2], f"a new stream is the default one: {streams[2]}"

    @requires("events")
    def test_pending_work_is_not_done(self, device: Device) -> None:
        """While work is pending `query()` of its stream, and of an event after it, is False."""
        if device.supports("streams") is Support.EMULATED:
            not_applicable("work may be done when the call that queues it returns")
        stream = device.Stream()
        work = queue_slow_work(self, device, stream)
        done = {"the event": work.end.query(), "the stream": stream.query()}
        host_ms = (time.perf_counter() - work.began) * 1e3
        device.synchronize()
        took_ms = work.start.elapsed_time(work.end)
        if host_ms >= took_ms * _CLOCKS_AGREE and not device.simulated:
            not_applicable("the work may have been done before it was asked for")
        for what, answer in done.items():
            assert answer is False, f"query() of {what} is {answer} while the work is pending"

    def test_new_stream_has_nothing_pending(self, device: Device) -> None:
        """`query()` of a stream without work is True."""
        assert device.Stream().query() is True, "a stream without work has work pending"

    def test_stream_belongs_to_its_device(self, devices: list[Device]) -> None:
        """The `device` of a stream, made or found there, is the torch_device it was asked of."""
        for device in devices:
            for which in (Device.Stream, Device.default_stream, Device.current_stream):
                found = which(device).device
                assert found == device.torch_device, f"{which.__name__} of {device} is on {found}"

    @on_two_devices
    def test_with_makes_the_stream_current(self, device: Device) -> None:
        """Inside `with device.stream(s):` s is current; after it the former stream is."""
        before, stream = device.current_stream(), device.Stream()
        with device.stream(stream) as entered:
            assert entered == stream, f"`as` gives {entered}"
            assert device.current_stream() == stream, "the stream is not current"
        assert device.current_stream() == before, "the former stream is not restored"

    def test_stream_is_restored_after_an_exception(self, device: Device) -> None:
        """An exception inside `with device.stream(s):` restores the former stream."""
        before, stream = device.current_stream(), device.Stream()
        with pytest.raises(KeyError), device.stream(stream):
            raise KeyError
        assert device.current_stream() == before, "the former stream is not restored"

    @on_two_devices
    def test_first_current_stream_is_the_default_one(self, device: Device) -> None:
        """A thread's current stream is the default stream until it chooses another."""
        found = _in_thread(device.current_stream)
        assert found == device.default_stream(), f"a new thread's stream is {found}"

    def test_current_stream_is_per_thread(self, device: Device) -> None:
        """A stream made current in one thread is not current in another."""
        stream = device.Stream()
        with device.stream(stream):
            assert _in_thread(device.current_stream) != stream, "it is current elsewhere too"

    @requires(devices=2)
    def test_stream_of_another_device_is_refused(self, device: Device, other: Device) -> None:
        """A stream of another device cannot be entered."""
        with pytest.raises(UsageError), device.stream(other.Stream()):
            pass

    @requires(devices=2)
    def test_entering_a_stream_enters_its_device(self, other: Device) -> None:
        """Inside `with device.stream(s):` its device is current, and the former one after it."""
        before = self.runtime.current_device()
        with other.stream(other.Stream()):
            assert self.runtime.current_device() == other.index, "its device is not current"
        assert self.runtime.current_device() == before, "the former device is not restored"

    def _check_order(self, device: Device, work: SlowWork, consumer: Any) -> None:
        after = device.Event(enable_timing=True)
        with device.stream(consumer):
            after.record(consumer)
            seen = work.result.clone()
        device.synchronize()
        gap = work.end.elapsed_time(after)
        assert gap >= -self.clock_slack_ms, (
            f"the waiting stream went on {-gap:.3f} ms before the work it waits for had ended"
        )
        assert torch.equal(self.get(seen), work.expected), (
            "the waiting stream read a result that was not there yet"
        )


def _in_thread(call: Any) -> Any:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(call()), daemon=True)
    thread.start()
    thread.join(_THREAD_LIMIT_S)
    assert found, f"the call did not end in a thread within {_THREAD_LIMIT_S:g} s"
    return found[0]
