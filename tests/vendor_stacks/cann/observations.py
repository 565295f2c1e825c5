"""Looks at torch_npu and at accelhal over it, in one child process; prints what it saw as JSON.

`torch_npu` in a result is what the vendor's package does by itself: the reason for what accelhal
does.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import sys
import warnings
from collections.abc import Callable
from typing import Any

import accelhal
from accelhal.facade import Device

Seen = dict[str, Any]


def unused_device(devices: list[Device]) -> Seen:
    """Memory figures before the first use, which torch_npu's own initialisation would end."""
    import torch

    device = devices[0]
    device.reset_peak_memory_stats()
    figures = [device.memory_allocated(), device.max_memory_allocated(), device.memory_reserved()]
    stats = device.memory_stats()
    return {
        "figures": figures,
        "allocated": stats.allocated,
        "initialized": torch.npu.is_initialized(),
        "torch_npu": dict(torch.npu.memory_stats(0)),
    }


def properties(devices: list[Device]) -> Seen:
    """What a device is, and what looking at it says aloud."""
    import torch

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = [device.properties for device in devices]
    raw = torch.npu.get_device_properties(1)
    return {
        "warnings": [str(each.message) for each in said if "capability" in str(each.message)],
        "arch": found[1].arch,
        "compute_units": found[1].compute_units,
        "uuids": [each.uuid for each in found],
        "keys": [[key.source, key.value] for key in (each.location.key for each in devices) if key],
        "torch_npu_major": raw.major,
        "torch_npu_keyword": _error(lambda: torch.npu.get_device_properties(device=0)),
    }


def indices(devices: list[Device]) -> Seen:
    """Whether a call leaves torch's helper to find an index: it asks CUDA first."""
    import torch  # noqa: F401

    missing: list[str] = []
    originals: dict[Any, Any] = {}
    for name, module in list(sys.modules.items()):
        helper = vars(module).get("_get_device_index") if name.startswith("torch_npu") else None
        if helper is not None:
            originals[module] = helper
            module._get_device_index = _watched(helper, missing)  # type: ignore[attr-defined]
    device = devices[1]
    for call in (
        Device.synchronize,
        Device.Stream,
        Device.current_stream,
        Device.default_stream,
        Device.Event,
        Device.Graph,
        Device.graph_pool_handle,
        Device.mem_get_info,
        Device.memory_allocated,
        Device.memory_stats,
        Device.empty_cache,
        Device.get_rng_state,
        Device.supported_dtypes,
    ):
        call(device)
    with device, device.stream(device.Stream()):
        device.manual_seed(0)
    for module, helper in originals.items():
        module._get_device_index = helper
    return {"watched": len(originals), "missing": missing}


def streams(devices: list[Device]) -> Seen:
    """Streams that can be shown, though torch_npu's priority cannot be read."""
    import torch

    stream = devices[1].Stream(-1)
    with devices[1].stream(stream):
        torch.ones(2, device="npu:1")
    stream.synchronize()
    with torch.npu.stream(stream):
        current = torch.npu.current_device()
    torch.npu.set_device(0)
    return {
        "shown": "npu:1" in repr(stream),
        "torch_npu_priority": _error(lambda: stream.priority),
        "torch_npu_current_inside": current,
    }


def events(devices: list[Device]) -> Seen:
    """Times that were not taken."""
    import torch

    raw = [torch.npu.Event(), torch.npu.Event()]
    ours = [devices[0].Event(), devices[0].Event()]
    for event in (*raw, *ours):
        event.record()
    devices[0].synchronize()
    return {
        "error": _error(lambda: ours[0].elapsed_time(ours[1])),
        "torch_npu": raw[0].elapsed_time(raw[1]),
    }


def captures(devices: list[Device]) -> Seen:
    """The error mode of a capture, which is not the vendor's fourth positional parameter."""
    import torch

    graph, swapped = devices[0].Graph(), devices[0].Graph()
    modes: list[Any] = []
    begin = torch.npu.NPUGraph.capture_begin

    def watched(self: Any, *arguments: Any, **named: Any) -> Any:
        modes.append(named["capture_error_mode"])
        return begin(self, *arguments, **named)

    torch.npu.NPUGraph.capture_begin = watched
    with devices[0].graph(graph, capture_error_mode="relaxed"):
        pass
    torch.npu.NPUGraph.capture_begin = begin
    context = torch.npu.graph(swapped, None, devices[0].Stream(), "relaxed")
    return {
        "mode": modes,
        "auto_dispatch": bool(graph.auto_dispatch_capture),
        "torch_npu_mode": context.capture_error_mode,
        "torch_npu_auto_dispatch": bool(swapped.auto_dispatch_capture),
    }


def memory(devices: list[Device]) -> Seen:
    """Counters and the error of exhausted memory."""
    import torch

    held = torch.empty(1024, device="npu:0")
    stats = devices[0].memory_stats()
    try:
        torch.empty(1 << 45, dtype=torch.uint8, device="npu:0")
        kind, text = None, ""
    except RuntimeError as error:
        kind, text = devices[0].classify_error(error).label, str(error)
    return {
        "allocations": stats.allocations,
        "allocated": stats.allocated,
        "held": held.nbytes,
        "kind": kind,
        "text": text,
    }


def autocast(devices: list[Device]) -> Seen:
    """An element type that autocast does not take."""
    import torch

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        torch.autocast("npu", dtype=torch.float64)
    return {
        "error": _error(lambda: devices[0].autocast(torch.float64)),
        "torch_npu": len(said) > 0,
    }


def wrong_index(devices: list[Device]) -> Seen:
    """A device that does not exist."""
    import torch

    return {
        "error": _error(lambda: accelhal.device("npu:7")),
        "torch_npu": _error(lambda: torch.npu.set_device(7)),
    }


def other_vendor(devices: list[Device]) -> Seen:
    """A second backend for torch's one place for out-of-tree devices."""
    return {"error": _error(lambda: accelhal.device("mlu"))}


def stream_order(devices: list[Device]) -> Seen:
    """A copy in one stream, read in another one with a wait and without: the simulation's own."""
    import torch

    device = devices[0]
    source = device.pin_memory(torch.ones(4))
    matrix = torch.eye(128).to("npu:0")
    found = {}
    for waits in (False, True):
        target = torch.zeros(4).to("npu:0")
        device.synchronize()
        producer, consumer = device.Stream(), device.Stream()
        with device.stream(producer):
            for _ in range(20):
                matrix = matrix @ matrix
            target.copy_(source, non_blocking=True)
        if waits:
            consumer.wait_stream(producer)
        with device.stream(consumer):
            seen = target.clone()
        device.synchronize()
        found["with a wait" if waits else "without"] = seen.cpu().tolist()
    return found


def lost_device(devices: list[Device]) -> Seen:
    """An injected loss of the board at the next synchronise; it is taken back after."""
    library = ctypes.CDLL("libascendcl.so")
    library.sim_cann_fail(b"aclrtSynchronizeDeviceWithTimeout=507899")
    try:
        error = _error(devices[0].synchronize)
    finally:
        library.sim_cann_fail(b"")
    devices[0].synchronize()
    return {"error": error}


def forked_child(devices: list[Device]) -> Seen:
    """A child of os.fork(), after the parent has used the device."""
    import torch

    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # what torch_npu alone would do is wait for its parent's threads
        try:
            torch.ones(2, device="npu:0").cpu()
            kind = "none"
        except RuntimeError as error:
            kind = devices[0].classify_error(error).label
        os.write(write, kind.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        kind = answer.read()
    _, status = os.waitpid(child, 0)
    devices[0].synchronize()
    return {"kind": kind, "status": status}


def _error(call: Callable[[], Any]) -> list[str] | None:
    """Class and text of what a call raises."""
    try:
        call()
    except Exception as error:
        return [type(error).__name__, str(error)]
    return None


def _watched(helper: Callable[..., Any], missing: list[str]) -> Callable[..., Any]:
    def find(device: Any = None, *arguments: Any, **named: Any) -> Any:
        if device is None:
            missing.append(_entered())
        return helper(device, *arguments, **named)

    return find


def _entered() -> str:
    """The function of torch_npu that was called from outside of it."""
    frame = sys._getframe(2)
    name = ""
    while frame is not None and frame.f_globals["__name__"].startswith("torch_npu"):
        name, frame = frame.f_code.co_name, frame.f_back
    return name


LOOKS = (
    unused_device,
    properties,
    indices,
    streams,
    events,
    captures,
    memory,
    autocast,
    wrong_index,
    other_vendor,
    stream_order,
    lost_device,
    forked_child,
)


def main() -> None:
    environment = dict(os.environ)
    devices = accelhal.devices("npu")
    seen: Seen = {"environment_kept": dict(os.environ) == environment}
    for look in LOOKS:
        with contextlib.redirect_stdout(sys.stderr):
            try:
                seen[look.__name__] = look(devices)
            except Exception as error:
                seen[look.__name__] = {"raised": f"{type(error).__name__}: {error}"}
    print(json.dumps(seen))


if __name__ == "__main__":
    main()
