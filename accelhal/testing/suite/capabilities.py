"""Group: what is declared works, and what works is declared."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch

from accelhal.errors import UnsupportedError
from accelhal.facade import Device
from accelhal.spi import CAPABILITIES, REQUIRED_CAPABILITY, Runtime
from accelhal.testing.suite.base import SuiteBase


def _streams(device: Device) -> None:
    stream = device.Stream()
    with device.stream(stream):
        device.current_stream()
    stream.synchronize()
    device.default_stream()


def _events(device: Device) -> None:
    event = device.Event()
    event.record()
    event.synchronize()


def _memory_stats(device: Device) -> None:
    device.memory_allocated()
    device.max_memory_allocated()
    device.memory_stats()
    device.reset_peak_memory_stats()


def _caching_allocator(device: Device) -> None:
    device.memory_reserved()
    device.max_memory_reserved()
    device.empty_cache()


def _graphs(device: Device) -> None:
    device.Graph()
    device.graph_pool_handle()


def _graphed_callables(device: Device) -> None:
    sample = torch.ones(4).to(device.torch_device).requires_grad_()
    device.make_graphed_callables(torch.abs, (sample,))


def _autocast(device: Device) -> None:
    for dtype in device.supported_dtypes().autocast or {torch.bfloat16}:
        with device.autocast(dtype):
            pass


def _float32_precision(device: Device) -> None:
    device.float32_precision = device.float32_precision


USES: Mapping[str, Callable[[Device], object]] = {
    "streams": _streams,
    "events": _events,
    "memory_info": Device.mem_get_info,
    "memory_stats": _memory_stats,
    "caching_allocator": _caching_allocator,
    "memory_fraction": lambda device: device.set_per_process_memory_fraction(1.0),
    "graphs": _graphs,
    "graphed_callables": _graphed_callables,
    "peer_access": lambda device: device.can_access_peer(device),
    "pin_memory": lambda device: device.pin_memory(torch.ones(4)),
    "autocast": _autocast,
    "float32_precision": _float32_precision,
}
"""Capability -> its calls; the groups of their own look at what these do."""

_ARGUMENTS: Mapping[str, tuple[Any, ...]] = {
    "set_stream": (None,),
    "set_per_process_memory_fraction": (1.0,),
    "can_access_peer": (0,),
    "pin_memory": (torch.ones(4),),
    "make_graphed_callables": (torch.abs, (torch.ones(4),)),
    "autocast": (torch.bfloat16,),
    "set_float32_precision": ("ieee",),
}
"""Runtime method -> arguments after the index, where it takes any."""


class Capabilities(SuiteBase):
    """An undeclared capability that works is a failure, as is a declared one that does not."""

    def test_declared_capabilities_are_known(self, device: Device) -> None:
        """Declared capabilities are from the closed list."""
        unknown = sorted(set(self.runtime.capabilities(device.index)) - set(CAPABILITIES))
        assert not unknown, f"not capabilities: {', '.join(unknown)}"

    def test_declarations_do_not_change(self, device: Device) -> None:
        """A device declares the same capabilities each time it is asked."""
        runtime, index = self.runtime, device.index
        first, again = (dict(runtime.capabilities(index)) for _ in range(2))
        assert first == again, f"{device} declares {first}, then {again}"

    def test_declared_capabilities_work(self, devices: list[Device]) -> None:
        """Every call of every declared capability succeeds."""
        failures = []
        for device in devices[:2]:
            for capability in device_capabilities(device):
                try:
                    USES[capability](device)
                except Exception as error:
                    raised = _missing(self.runtime, error) or f"{type(error).__name__}: {error}"
                    failures.append(f"{capability} of {device} raises {raised}")
        assert not failures, f"declared, but {'; '.join(failures)}"

    def test_undeclared_capabilities_are_refused(self, device: Device) -> None:
        """A call of an undeclared capability raises UnsupportedError and names it."""
        for capability in CAPABILITIES.keys() - device_capabilities(device):
            with pytest.raises(UnsupportedError) as refusal:
                USES[capability](device)
            named = refusal.value.capability
            assert named == capability, f"the refusal of {capability} names {named}"

    def test_undeclared_capabilities_do_not_work(self, devices: list[Device]) -> None:
        """The runtime has no working calls of a capability that it does not declare."""
        for device in devices[:2]:
            for capability in CAPABILITIES.keys() - device_capabilities(device):
                methods = [m for m, needed in REQUIRED_CAPABILITY.items() if needed == capability]
                working = [name for name in methods if _works(self.runtime, name, device.index)]
                assert working != methods, (
                    f"{capability}: {device} does not declare it, but {', '.join(working)} works"
                )


def _missing(runtime: Runtime, error: Exception) -> str:
    """What to say of an error that a method raises because the plugin does not have it."""
    method = error.operation if isinstance(error, UnsupportedError) else ""
    if method and getattr(type(runtime), method, None) is getattr(Runtime, method, ""):
        return f"UnsupportedError: {type(runtime).__name__} has no {method} of its own"
    return ""


def device_capabilities(device: Device) -> frozenset[str]:
    """The capabilities that a device declares."""
    return frozenset(name for name in CAPABILITIES if device.supports(name) is not None)


def _works(runtime: Runtime, method: str, index: int) -> bool:
    arguments: tuple[Any, ...] = (index, *_ARGUMENTS.get(method, ()))
    named: dict[str, Any] = {}
    if method == "capture_graph":
        arguments = (index, None)
        named = {"pool": None, "stream": None, "capture_error_mode": "global"}
    try:
        found = getattr(runtime, method)(*arguments, **named)
        if method in ("autocast", "capture_graph") and isinstance(
            found, contextlib.AbstractContextManager
        ):
            with found:
                pass
    except Exception:
        return False
    return True
