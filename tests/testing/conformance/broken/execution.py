"""Broken: the current device and streams."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from accelhal_mock.python_mode.streams import Event, Stream
from accelhal_mock.runtime import PythonRuntime
from testing.conformance.broken.backend import OnBrokenBackend

from accelhal.facade import Device
from accelhal.facts import SupportedDtypes

# ---- the current device


class QueryChangesTheDevice(OnBrokenBackend):
    """Asking a device for its dtypes leaves it current."""

    fails = frozenset({"calls_about_another_device_leave_the_current_one"})

    class Runtime(PythonRuntime):
        def supported_dtypes(self, index: int) -> SupportedDtypes:
            self.set_device(index)
            return super().supported_dtypes(index)


class OneCurrentDeviceForAllThreads(OnBrokenBackend):
    """The current device is the process's: a shared context restores another thread's device."""

    fails = frozenset(
        {"current_device_is_per_thread", "shared_context_restores_each_thread_s_device"}
    )

    class Runtime(PythonRuntime):
        current = 0

        def current_device(self) -> int:
            return self.current

        def set_device(self, index: int) -> None:
            self.current = index
            super().set_device(index)


class CurrentDeviceIsAlwaysTheFirst(OnBrokenBackend):
    """current_device answers 0 whatever was set."""

    fails = frozenset({"with_makes_the_device_current", "contexts_nest"})
    also = frozenset({"streams"})

    class Runtime(PythonRuntime):
        def current_device(self) -> int:
            return 0


class DeviceIsNotRestored(OnBrokenBackend):
    """`with device:` leaves the device current."""

    fails = frozenset(
        {"with_makes_the_device_current", "current_device_is_restored_after_an_exception"}
    )

    @staticmethod
    def leave(device: Device, *exception: object) -> None:
        """Nothing is restored."""

    facade_changes: ClassVar[Mapping[str, Any]] = {"__exit__": leave}


class SharedContextForgets(OnBrokenBackend):
    """`with device:` keeps what it must restore on the device, where another thread finds it."""

    fails = frozenset({"shared_context_restores_each_thread_s_device"})

    before: ClassVar[dict[Device, int]] = {}

    @staticmethod
    def enter(device: Device) -> Device:
        SharedContextForgets.before[device] = device._runtime.current_device()
        device._runtime.set_device(device.index)
        return device

    @staticmethod
    def leave(device: Device, *exception: object) -> None:
        device._runtime.set_device(SharedContextForgets.before[device])

    facade_changes: ClassVar[Mapping[str, Any]] = {"__enter__": enter, "__exit__": leave}


# ---- streams


def streams_of(stream_class: type[Stream]) -> type[PythonRuntime]:
    """A runtime whose new streams are of that class."""

    class Runtime(PythonRuntime):
        def create_stream(self, index: int, priority: int = 0) -> Any:
            return stream_class(index, priority)

    return Runtime


class EventWaitDoesNotOrder(OnBrokenBackend):
    """wait_event does nothing."""

    fails = frozenset({"wait_event_orders_after_slow_work"})

    class Unordered(Stream):
        def wait_event(self, event: Event) -> None:
            """Nothing is ordered."""

    Runtime = streams_of(Unordered)


class StreamWaitDoesNotOrder(OnBrokenBackend):
    """wait_stream does nothing."""

    fails = frozenset({"wait_stream_orders_after_slow_work"})

    class Unordered(Stream):
        def wait_stream(self, stream: Stream) -> None:
            """Nothing is ordered."""

    Runtime = streams_of(Unordered)


class StreamDoesNotWait(OnBrokenBackend):
    """stream.synchronize does not wait."""

    fails = frozenset({"stream_synchronize_waits"})

    class Hasty(Stream):
        def synchronize(self) -> None:
            """Nobody waits."""

    Runtime = streams_of(Hasty)


class DeviceDoesNotWait(OnBrokenBackend):
    """device.synchronize waits for the default stream alone."""

    fails = frozenset({"device_synchronize_waits_for_all_streams[first]"})
    also = frozenset({"events"})  # times are asked for before they are there

    class Runtime(PythonRuntime):
        def synchronize(self, index: int) -> None:
            self.default_stream(index).synchronize()


class StreamIsNotMadeCurrent(OnBrokenBackend):
    """set_stream does nothing."""

    fails = frozenset({"with_makes_the_stream_current[first]"})
    also = frozenset({"events"})  # work meant for a stream runs in the default one

    class Runtime(PythonRuntime):
        def set_stream(self, index: int, stream: Any) -> None:
            """The default stream stays current."""


class StreamIsAlwaysDone(OnBrokenBackend):
    """query of a stream is True whatever is pending."""

    fails = frozenset({"pending_work_is_not_done"})

    class Done(Stream):
        def query(self) -> bool:
            return True

    Runtime = streams_of(Done)


class OneStreamForAll(OnBrokenBackend):
    """create_stream answers with the same stream each time."""

    fails = frozenset({"new_streams_differ"})

    class Runtime(PythonRuntime):
        def __init__(self, device_type: str) -> None:
            super().__init__(device_type)
            self.only: dict[int, Any] = {}

        def create_stream(self, index: int, priority: int = 0) -> Any:
            if index not in self.only:
                self.only[index] = super().create_stream(index, priority)
            return self.only[index]
