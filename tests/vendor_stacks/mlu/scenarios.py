"""What the children of these tests do; every function returns plain JSON values.

Nothing is imported here that a scenario about imports could not account for.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import json
import os
import threading
import warnings
from pathlib import Path
from typing import Any

# ---- the stand-in's interface


def interface(classes: dict[str, list[str]]) -> dict[str, Any]:
    """Public names of torch.mlu with their parameters; of classes, the methods that are asked for.

    Args:
        classes: class -> methods whose parameters to tell, where the stand-in has them.
    """
    import torch
    import torch_mlu  # noqa: F401

    public = {name: value for name, value in vars(torch.mlu).items() if not name.startswith("_")}
    functions = {name: value for name, value in public.items() if inspect.isfunction(value)}
    kinds = {name: value for name, value in public.items() if inspect.isclass(value)}
    return {
        "names": sorted(public),
        "functions": {name: _parameters(value) for name, value in functions.items()},
        "methods": {
            name: {
                method: _parameters(getattr(kinds[name], method), skip=method == "__new__")
                for method in methods
                if _is_own(kinds[name], method)
            }
            for name, methods in classes.items()
            if name in kinds
        },
        "attributes": {name: _own_attributes(value) for name, value in kinds.items()},
        "properties": sorted(vars(torch.mlu.get_device_properties(0))),
        "event_is_torch_event": issubclass(torch.mlu.Event, torch.Event),
        "stream_is_torch_stream": issubclass(torch.mlu.Stream, torch.Stream),
    }


def _parameters(function: Any, skip: bool = False) -> list[str]:
    found: list[str] = []
    parameters = [p for p in inspect.signature(function).parameters.values() if p.name != "self"]
    for parameter in parameters[skip:]:
        star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in "".join(found):
            found.append("*")
        default = "" if parameter.default is parameter.empty else f"={parameter.default!r}"
        found.append(f"{star}{parameter.name}{default}")
    return found


def _is_own(kind: type, method: str) -> bool:
    return any(method in vars(base) for base in _standin_bases(kind))


def _own_attributes(kind: type) -> list[str]:
    return sorted({n for base in _standin_bases(kind) for n in vars(base) if n[0] != "_"})


def _standin_bases(kind: type) -> list[type]:
    known = ("torch_mlu", "accelhal_mock.python_mode.graphs")
    return [base for base in kind.__mro__ if base.__module__.startswith(known)]


# ---- what torch.mlu does, called as a program would that trusts its likeness to torch.cuda


def untaught() -> dict[str, Any]:
    """The deviations that the runtime must know, met without it."""
    import torch
    import torch_mlu  # noqa: F401

    found: dict[str, Any] = {"fresh": torch.mlu.is_initialized()}
    torch.mlu.device_count()
    found["after_count"] = torch.mlu.is_initialized()
    torch.mlu.set_rng_state(torch.zeros(3, dtype=torch.uint8), 0)  # of no generator's size
    torch.mlu.manual_seed_all(77)
    with contextlib.suppress(RuntimeError):
        torch.mlu.reset_peak_memory_stats(0)
        found["reset_before_use"] = "accepted"
    torch.mlu.memory_allocated(0)
    found["after_getter"] = torch.mlu.is_initialized()
    found["seed"] = torch.mlu.initial_seed()
    found["properties_without_argument"] = _error(lambda: torch.mlu.get_device_properties())
    found["properties_of_no_device"] = _error(lambda: torch.mlu.get_device_properties(9))
    found["uuid"] = getattr(torch.mlu.get_device_properties(0), "uuid", None)
    found["low_priority"] = _error(lambda: torch.mlu.Stream(0, 1))
    found["priority_range"] = torch.mlu.Stream.priority_range()
    found["query"] = torch.mlu.Event().query()
    untimed = [torch.mlu.Event() for _ in "ab"]
    found["unplaced"] = _error(lambda: untimed[0].elapsed_time(untimed[1]))
    for event in untimed:
        event.record()
    found["untimed"] = untimed[0].elapsed_time(untimed[1])
    found["bf16"] = torch.mlu.is_bf16_supported()
    found["out_of_memory"] = _error(lambda: torch.empty(1 << 50, dtype=torch.uint8, device="mlu:0"))
    found["total_without_index"] = _error(lambda: torch.mlu.mem_get_info(torch.device("mlu")))
    found["default_stream_capture"] = _error(
        lambda: torch.mlu.graph(torch.mlu.MLUGraph(), stream=torch.mlu.default_stream()).__enter__()
    )
    modes = inspect.signature(torch.mlu.graph).parameters["capture_error_mode"]
    found["capture_error_mode"] = modes.default
    with torch.mlu.stream(torch.mlu.Stream(1)):
        found["device_in_stream"] = torch.mlu.current_device()
    found["device_after_stream"] = torch.mlu.current_device()
    torch.mlu.set_stream(torch.mlu.Stream(1))
    found["device_after_set_stream"] = torch.mlu.current_device()
    return found


def _error(call: Any) -> list[str] | None:
    try:
        call()
    except Exception as error:
        return [type(error).__name__, str(error)]
    return None


# ---- the same through accelhal


def before_use() -> dict[str, Any]:
    """Everything that can be asked of a device without using it; then a forked child uses it."""
    import torch

    import accelhal

    device = accelhal.devices("mlu")[1]
    figures = [
        device.memory_allocated(),
        device.max_memory_allocated(),
        device.memory_reserved(),
        device.max_memory_reserved(),
        *vars(device.memory_stats()).values(),
    ]
    device.reset_peak_memory_stats()
    device.empty_cache()
    device.supports("graphs")
    device.Event()
    return {
        "figures": figures,
        "located": device.location.key is not None,
        "initialized": torch.mlu.is_initialized(),
        "forked": _use_in_fork(device),
    }


def _use_in_fork(device: Any) -> dict[str, Any]:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, json.dumps(_use(device)).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        found: dict[str, Any] = json.loads(answer.read())
    os.waitpid(child, 0)
    return found


def _use(device: Any) -> dict[str, Any]:
    import torch

    try:
        total = torch.ones(4, device=device.torch_device).sum().item()
    except Exception as error:
        return {"error": str(error), "kind": device.classify_error(error).label}
    return {"total": total}


def taught() -> dict[str, Any]:
    """The deviations that a program meets through accelhal: none."""
    import torch

    import accelhal

    first, second = accelhal.devices("mlu")
    properties = second.properties
    dtypes = second.supported_dtypes()
    found: dict[str, Any] = {
        "priorities": [second.Stream(priority).priority for priority in (5, 0, -2, -9)],
        "properties": [properties.name, properties.arch, properties.uuid],
        "bf16": [torch.bfloat16 in kind for kind in (dtypes.compute, dtypes.autocast)],
        "autocast_fp8": _error(lambda: first.autocast(torch.float8_e4m3fn)),
        "autocast_float64": _error(lambda: first.autocast(torch.float64)),
        "second_exists": _error(lambda: accelhal.device("mlu:2")),
    }
    untimed = [first.Event(), first.Event()]
    timed = [first.Event(enable_timing=True), first.Event(enable_timing=True)]
    for event in (*untimed, timed[0]):
        event.record()
    found["untimed"] = _error(lambda: untimed[0].elapsed_time(untimed[1]))
    found["unrecorded"] = _error(lambda: timed[0].elapsed_time(timed[1]))
    unplaced = _caught(lambda: torch.mlu.Event(True).elapsed_time(torch.mlu.Event(True)))
    found["unplaced_kind"] = first.classify_error(unplaced).label
    exhausted = _caught(lambda: torch.empty(1 << 50, dtype=torch.uint8, device="mlu:0"))
    found["out_of_memory_kind"] = first.classify_error(exhausted).label
    with second.stream(second.Stream()):
        found["device_in_stream"] = torch.mlu.current_device()
    found["device_after_stream"] = torch.mlu.current_device()
    found["allocator"] = [
        key in vars(first.memory_stats()) and vars(first.memory_stats())[key] is not None
        for key in ("allocations", "alloc_retries", "ooms", "inactive_split")
    ]
    return {**found, **_captured(), "private": _other_private_device()}


def _caught(call: Any) -> Exception:
    try:
        call()
    except Exception as error:
        return error
    raise AssertionError("it raised nothing")


def _captured() -> dict[str, Any]:
    """Capture on each device while the first is current, and in each error mode."""
    import torch

    import accelhal

    devices = accelhal.devices("mlu")
    found: dict[str, Any] = {"replayed": [], "modes": {}}
    for device in devices:
        x = torch.ones(4, device=device.torch_device)
        graph = device.Graph()
        with device.graph(graph):
            y = x * 2
        x.fill_(5.0)
        graph.replay()
        device.synchronize()
        found["replayed"].append(y.cpu().tolist())
    for mode in ("", "global", "thread_local", "relaxed"):
        chosen = {"capture_error_mode": mode} if mode else {}
        found["modes"][mode or "default"] = _error(lambda c=chosen: _watched(devices[0], c))
    found["device_after"] = torch.mlu.current_device()
    return found


def _watched(device: Any, chosen: dict[str, str]) -> None:
    """Capture, while another thread asks whether an event is done."""
    import torch

    event = device.Event()
    event.record()
    x = torch.ones(4, device=device.torch_device)
    device.synchronize()
    with device.graph(device.Graph(), **chosen):
        asking = threading.Thread(target=lambda: _error(event.query))
        asking.start()
        asking.join(30)
        x.mul_(2)


def identify() -> list[Any]:
    """Key, UUID and pickle of each device; the program changes the variable after opening."""
    import pickle

    import accelhal

    devices = accelhal.devices("mlu")
    os.environ["CN_VISIBLE_DEVICES"] = "0"
    return [
        {
            "key": [device.location.key.source, device.location.key.value],
            "uuid": device.properties.uuid,
            "pickle": pickle.dumps(device).hex(),
        }
        for device in devices
        if device.location.key is not None
    ]


def unpickle(pickled: str) -> str:
    """The name here of a device that another process pickled."""
    import pickle

    return str(pickle.loads(bytes.fromhex(pickled)))


def _other_private_device() -> dict[str, Any]:
    """Simulated boards beside torch.mlu, which holds the one place for out-of-tree devices."""
    import accelhal_mock

    return {
        "python_mode": _error(lambda: accelhal_mock.install(mode="python")),
        "chosen_mode": accelhal_mock.install().choice.mode,
    }


# ---- half-broken installations


def open_mlu() -> dict[str, Any]:
    """What listing and opening say, and whether the process goes on."""
    import accelhal

    listed = {backend.name: backend.probe for backend in accelhal.backends()}["mlu"]
    before = dict(os.environ)
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        error = _error(lambda: accelhal.device("mlu"))
        cpu = accelhal.device("cpu")
    return {
        "status": listed.status.value,
        "reason": listed.reason,
        "error": error,
        "warnings": [str(warning.message) for warning in issued],
        "environment_kept": dict(os.environ) == before,
        "cpu": _use(cpu),
        "import": _error(lambda: importlib.import_module("torch_mlu")),
    }


def open_beside_another_accelerator() -> dict[str, Any]:
    """torch has an accelerator of its own already."""
    import torch

    torch.accelerator.current_accelerator = lambda check_available=False: torch.device("cuda")
    return {**open_mlu(), "has_module": hasattr(torch, "mlu")}


def migrated() -> dict[str, Any]:
    """The package has bound torch.cuda to its own boards."""
    import accelhal

    opened = str(accelhal.device("mlu"))
    import torch

    return {
        "variable": os.environ.get("TORCH_DEVICE_BACKEND_AUTOLOAD"),
        "torch_cuda_counts": torch.cuda.device_count(),
        "torch_cuda_available": torch.cuda.is_available(),
        "cuda": _error(lambda: accelhal.device("cuda")),
        "mlu": opened,
    }


def choose_on_a_host_with_boards(folder: str) -> dict[str, Any]:
    """Automatic choice on a host whose bus and nodes show two Cambricon boards."""
    from host_tree import HostTree

    import accelhal
    from accelhal.registry import choosing, listing, opening

    tree = HostTree(Path(folder))
    for number, address in enumerate(("0000:39:00.0", "0000:3d:00.0")):
        tree.pci(address, "cabc", "1200", driver="cambricon-pci")
        tree.file(f"/dev/cambricon_dev{number}")
    tree.file("/dev/cambricon_ctl").file("/usr/lib/libcnrt.so")
    tree.package("torch", "2.13.0+cpu").package("torch_mlu", "1.33.1")
    for module in (choosing, listing, opening):
        module.Host = lambda: tree.host
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        device = accelhal.device()
    listed = {backend.name: backend.probe for backend in accelhal.backends()}["mlu"]
    return {
        "device": str(device),
        "status": listed.status.value,
        "reason": listed.reason,
        "warnings": [str(warning.message) for warning in issued],
    }


def autoloaded() -> dict[str, Any]:
    """torch has loaded the package by itself."""
    import torch

    import accelhal

    return {"by_torch": hasattr(torch, "mlu"), "device": str(accelhal.device("mlu:1"))}
