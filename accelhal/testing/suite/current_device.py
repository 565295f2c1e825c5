"""Group: the current device belongs to a thread, and is left as it was found."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch

from accelhal.facade import Device
from accelhal.spi import REQUIRED_CAPABILITY
from accelhal.testing.suite.base import SuiteBase
from accelhal.testing.suite.requirements import not_applicable, requires

_THREAD_LIMIT_S = 60.0

CALLS: dict[str, tuple[Any, ...]] = {
    "properties": (),
    "capabilities": (),
    "locate": (),
    "supported_dtypes": (),
    "torch_device": (),
    "get_rng_state": (),
    "manual_seed": (0,),
    "synchronize": (),
    "current_stream": (),
    "default_stream": (),
    "create_stream": (),
    "create_event": (),
    "create_graph": (),
    "graph_pool_handle": (),
    "mem_get_info": (),
    "memory_allocated": (),
    "max_memory_allocated": (),
    "memory_reserved": (),
    "max_memory_reserved": (),
    "memory_stats": (),
    "reset_peak_memory_stats": (),
    "empty_cache": (),
    "get_float32_precision": (),
}
"""Runtime methods that take an index and are not about the current device -> other arguments."""


@requires(devices=2)
class CurrentDevice(SuiteBase):
    """`with device:` nests, survives exceptions, and is of no concern to other threads."""

    def test_with_makes_the_device_current(self, other: Device) -> None:
        """Inside `with device:` the device is current; after it the former one is."""
        before = self.runtime.current_device()
        with other:
            assert self.runtime.current_device() == other.index, "the device is not current"
        assert self.runtime.current_device() == before, "the former device is not restored"

    def test_current_device_is_restored_after_an_exception(self, other: Device) -> None:
        """An exception inside `with device:` restores the former device."""
        before = self.runtime.current_device()
        with pytest.raises(KeyError), other:
            raise KeyError
        assert self.runtime.current_device() == before, "the former device is not restored"

    def test_contexts_nest(self, device: Device, other: Device) -> None:
        """Nested contexts, of one device twice too, restore each in turn."""
        with other:
            with device, other:
                assert self.runtime.current_device() == other.index, "the innermost is not current"
            assert self.runtime.current_device() == other.index, "nesting lost the outer device"
        assert self.runtime.current_device() == device.index, "the first device is not restored"

    def test_tensors_land_on_the_current_device(self, other: Device) -> None:
        """A tensor made for the device type alone lies on the current device."""
        if other.torch_device.type == "cpu":
            not_applicable("its tensors are torch's cpu tensors")
        with other:
            found = torch.ones(1, device=other.torch_device.type).device
        assert found == other.torch_device, f"with {other} current it lies on {found}"

    def test_current_device_is_per_thread(self, device: Device, other: Device) -> None:
        """A device made current in one thread is not current in another."""
        seen: list[int] = []

        def elsewhere() -> None:
            with other:
                entered.set()
                left.wait(_THREAD_LIMIT_S)
                seen.append(self.runtime.current_device())

        entered, left = threading.Event(), threading.Event()
        thread = _start(elsewhere)
        assert entered.wait(_THREAD_LIMIT_S), "the other thread did not enter its device"
        here = self.runtime.current_device()
        with device:
            left.set()
            _join(thread)
        assert here == device.index, "another thread's `with` changes this thread's device"
        assert seen == [other.index], f"this thread's `with` changes another's device: {seen}"

    def test_shared_context_restores_each_thread_s_device(
        self, device: Device, other: Device
    ) -> None:
        """One device entered by two threads at once gives each thread back its own device."""
        after: list[int] = []

        def elsewhere() -> None:
            self.runtime.set_device(other.index)
            with device:
                entered.set()
                left.wait(_THREAD_LIMIT_S)
            after.append(self.runtime.current_device())

        entered, left = threading.Event(), threading.Event()
        thread = _start(elsewhere)
        assert entered.wait(_THREAD_LIMIT_S), "the other thread did not enter the device"
        with device:
            left.set()
            _join(thread)
            here = self.runtime.current_device()
        assert here == device.index, "leaving it in another thread changes this thread's device"
        assert after == [other.index], f"the thread on {other} left the context on {after}"
        assert self.runtime.current_device() == device.index, "this thread's device changed"

    def test_calls_about_another_device_leave_the_current_one(
        self, device: Device, other: Device
    ) -> None:
        """A call about another device does not change the current one."""
        changing = []
        for method, arguments in CALLS.items():
            needed = REQUIRED_CAPABILITY.get(method)
            if needed is not None and other.supports(needed) is None:
                continue
            self.runtime.set_device(device.index)
            getattr(self.runtime, method)(other.index, *arguments)
            if self.runtime.current_device() != device.index:
                changing.append(method)
        assert not changing, f"{other} is left current by {', '.join(changing)}"


def _start(target: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    return thread


def _join(thread: threading.Thread) -> None:
    thread.join(_THREAD_LIMIT_S)
    assert not thread.is_alive(), f"a thread did not end within {_THREAD_LIMIT_S:g} s"
