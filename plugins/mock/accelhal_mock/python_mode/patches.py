"""Every place where torch itself is changed. They act between `install` and `uninstall` alone.

What torch offers no way to register is replaced here, each with its reason.
docs/mock_python_mode.md lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.autograd.graph

from accelhal_mock.python_mode import devices, graphs, memory, redirection, streams
from accelhal_mock.python_mode.backward import run_backward
from accelhal_mock.python_mode.device_module import synchronize
from accelhal_mock.python_mode.modules import apply_keeping_parameters, is_swapped
from accelhal_mock.python_mode.properties import supported_dtypes
from accelhal_mock.python_mode.serialization import rebuild_tensor
from accelhal_mock.python_mode.tracing import compile_with_boards

_applied: list[tuple[Any, str, Any]] = []


def apply() -> None:
    """Put all patches in place; once, until they are taken back."""
    if _applied:
        return
    for owner, name, replacement in _patches():
        if hasattr(owner, name):  # the set of names differs between torch releases
            _applied.append((owner, name, getattr(owner, name)))
            setattr(owner, name, replacement)


def revert() -> None:
    """Put back what was there."""
    while _applied:
        owner, name, original = _applied.pop()
        setattr(owner, name, original)


def _patches() -> Iterator[tuple[Any, str, Any]]:
    # The Python device guard counts one device, so the engine has one queue and a backward pass
    # on a second board meets an internal assert; on the calling thread it needs no queue.
    backward = _around(torch.autograd.graph._engine_run_backward, run_backward)
    yield torch.autograd.graph, "_engine_run_backward", backward
    yield torch.autograd, "_engine_run_backward", backward  # the same, imported by name

    # A parameter that moves between the host and a board must stay the same object, as it does on
    # CUDA: optimizers hold it, and modules share it. torch swaps them only for subclasses that
    # torch.compile can take apart, which these are not.
    yield torch.nn.Module, "_apply", _around(torch.nn.Module._apply, apply_keeping_parameters)
    module: Any = torch.nn.modules.module
    replacement = _around(module.is_traceable_wrapper_subclass, is_swapped)
    yield module, "is_traceable_wrapper_subclass", replacement

    # Dynamo takes unknown subclasses apart or refuses them; these are plain tensors of a device.
    yield torch, "compile", _around(torch.compile, compile_with_boards)

    # A loaded storage of a board is a CPU storage underneath; its tensor must be a board's.
    yield torch._utils, "_rebuild_tensor", _around(torch._utils._rebuild_tensor, _rebuild)

    # Their constructors reach the Python guard, whose streams and events do nothing, and a hook
    # for generators that only C++ can give.
    yield torch, "Stream", redirection.redirected(torch.Stream, redirection.make_stream)
    yield torch, "Event", redirection.redirected(torch.Event, redirection.make_event)
    yield torch, "Generator", redirection.redirected(torch.Generator, redirection.make_generator)

    # What torch.accelerator stands on reaches the same guard: device 0, no stream, no allocator.
    for name, function in _ACCELERATOR.items():
        yield torch._C, f"_accelerator_{name}", function

    # Its graphs need an implementation registered in C++.
    yield torch.accelerator, "Graph", graphs.AcceleratorGraph


def _around(original: Callable[..., Any], wrapper: Callable[..., Any]) -> Callable[..., Any]:
    def replacement(*args: Any, **kwargs: Any) -> Any:
        return wrapper(original, *args, **kwargs)

    return replacement


def _rebuild(original: Callable[..., Any], storage: Any, *shape: Any) -> torch.Tensor:
    tensor = rebuild_tensor(storage, *shape)
    found: torch.Tensor = original(storage, *shape) if tensor is None else tensor
    return found


_ACCELERATOR: dict[str, Callable[..., Any]] = {
    "getDeviceIndex": devices.current_device,
    "setDeviceIndex": devices.set_device,
    "exchangeDevice": devices.exchange_device,
    "maybeExchangeDevice": devices.exchange_device,
    "hooks_device_count": devices.device_count,
    "hooks_get_current_device": devices.current_device,
    "hooks_set_current_device": devices.set_device,
    "hooks_exchange_device": devices.exchange_device,
    "hooks_maybe_exchange_device": devices.exchange_device,
    "getStream": streams.current_stream,
    "setStream": streams.set_stream,
    "synchronizeDevice": synchronize,
    "isAllocatorInitialized": devices.is_available,
    "emptyCache": memory.empty_cache,
    "emptyHostCache": lambda: None,  # pinned memory is given back when it is dropped
    "getDeviceStats": memory.nested_memory_stats,
    "resetAccumulatedStats": memory.reset_accumulated_memory_stats,
    "resetPeakStats": memory.reset_peak_memory_stats,
    "getMemoryInfo": memory.mem_get_info,
    "getDeviceCapability": lambda index: {"supported_dtypes": supported_dtypes(index)},
}
