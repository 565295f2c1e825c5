"""What the suite's child processes do: one task, described on standard input.

Nothing is imported here that a task about imports could not account for.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from accelhal.testing.child_process import RESULT_MARK

if TYPE_CHECKING:
    from accelhal.facade import Device

_INNER_LIMIT_S = 60
"""Seconds after which a process that a task itself starts is ended."""

_HARMLESS_NODES = frozenset({"/dev/null", "/dev/urandom", "/dev/random", "/dev/tty", "/dev/zero"})
_STARTING = frozenset({"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system"})
"""Audit events (docs.python.org/3/library/audit_events.html) of a process that is started."""


def import_spec(location: str, packages: Sequence[str]) -> dict[str, Any]:
    """Import a spec and probe this host; say what that imported and what it touched."""
    import threading

    from accelhal.host import Host

    touched: list[str] = []
    watching = True

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        # Hooks stay for the life of the process.
        if watching:
            what = _touches(event, arguments)
            if what is not None:
                touched.append(what)

    sys.addaudithook(watch)
    environment = dict(os.environ)
    spec = _attribute(location)
    imported = _imported(packages)
    probe = spec.probe(Host())
    watching = False
    return {
        "imported": imported,
        "imported_by_probe": [name for name in _imported(packages) if name not in imported],
        "touched": touched,
        "threads": threading.active_count() - 1,
        "environment_changed": dict(os.environ) != environment,
        "status": probe.status.value,
    }


def identify(backend: str) -> list[dict[str, Any]]:
    """Each device of the backend, as this process sees it."""
    return [_identity(device) for device in _devices(backend)]


def count(backend: str) -> dict[str, Any]:
    """Devices of the backend in this process, or the error that opening it gives."""
    from accelhal.errors import AccelhalError

    try:
        return {"devices": [_identity(device) for device in _devices(backend)], "error": None}
    except AccelhalError as error:
        return {"devices": [], "error": type(error).__name__, "message": str(error)}


def open_broken(backend: str) -> dict[str, Any]:
    """Open a backend that cannot be; say what that raised, and whether the process goes on."""
    import accelhal
    from accelhal.errors import AccelhalError

    listed = {found.name: found.probe.status.value for found in accelhal.backends()}
    raised: BaseException | None = None
    try:
        accelhal.device(backend)
    except BaseException as error:
        raised = error
    return {
        "status": listed.get(backend),
        "raised": type(raised).__name__ if raised else None,
        "message": str(raised),
        "typed": isinstance(raised, AccelhalError),
        "others_work": backend == "cpu" or _computes(accelhal.device("cpu")),
    }


def unpickle(backend: str, pickled: str) -> dict[str, Any]:
    """The device that another process pickled, as it is bound here."""
    import pickle

    del backend  # opened by the pickle itself
    device = pickle.loads(bytes.fromhex(pickled))
    return {**_identity(device), "computes": _computes(device)}


def fork(backend: str, use_first: bool) -> dict[str, Any]:
    """Fork after importing everything, or after use; both processes then use the device."""
    import torch

    import accelhal

    torch.set_num_threads(1)  # the thread pool of a parent is gone in its forked child
    accelhal.backends()
    if use_first:
        assert _computes(_devices(backend)[0]), "the parent's own use"
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(_INNER_LIMIT_S)
        os.close(read)
        os.write(write, json.dumps(_use_in_fork(backend)).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as answer:
        text = answer.read()
    _, status = os.waitpid(child, 0)
    found: dict[str, Any] = json.loads(text) if text else {"computes": False, "kind": None}
    return {**found, "exit_status": status, "parent_computes": _computes(_devices(backend)[0])}


def spawn(backend: str, setup: str) -> dict[str, Any]:
    """Use the device, then hand it to a spawned process."""
    import multiprocessing
    import pickle

    device = _devices(backend)[-1]
    assert _computes(device), "the parent's own use"
    context = multiprocessing.get_context("spawn")
    answers = context.SimpleQueue()
    process = context.Process(target=_spawned, args=(setup, pickle.dumps(device), answers))
    process.start()
    process.join(_INNER_LIMIT_S)
    if process.exitcode is None:
        process.kill()
        process.join()
    answer: dict[str, Any] = answers.get() if process.exitcode == 0 else {}
    return {**answer, "exit_code": process.exitcode, "sent": _identity(device)}


def collective_backends(backend: str) -> list[str]:
    """Names of the collective libraries that torch knows once the backend is open."""
    import torch.distributed

    _devices(backend)
    known: list[str] = torch.distributed.Backend.backend_list
    return [name for name in known if torch.distributed.is_backend_available(name)]


def all_reduce(backend: str, library: str, rank: int, world: int, store: str) -> list[float]:
    """Sum a tensor over `world` processes; gloo takes it from the host."""
    import datetime

    import torch
    import torch.distributed as dist

    devices = _devices(backend)
    device = devices[rank % len(devices)]
    with device:
        dist.init_process_group(
            library,
            init_method=f"file://{store}",
            rank=rank,
            world_size=world,
            timeout=datetime.timedelta(seconds=60),
        )
        where = "cpu" if library == "gloo" else device.torch_device
        tensor = torch.full((4,), float(rank + 1), device=where)
        dist.all_reduce(tensor)
        found: list[float] = tensor.cpu().tolist()
        dist.destroy_process_group()
    return found


TASKS: dict[str, Callable[..., Any]] = {
    task.__name__: task
    for task in (
        import_spec,
        identify,
        count,
        open_broken,
        unpickle,
        fork,
        spawn,
        collective_backends,
        all_reduce,
    )
}


def _attribute(location: str) -> Any:
    from importlib import import_module

    module, _, name = location.partition(":")
    return getattr(import_module(module), name)


def _touches(event: str, arguments: tuple[Any, ...]) -> str | None:
    """What an audit event does to the host that a probe must not, or None."""
    if event == "ctypes.dlopen" and arguments[0]:
        return f"loads {arguments[0]}"
    if event == "open" and isinstance(arguments[0], str):
        node = arguments[0]
        return f"opens {node}" if node.startswith("/dev/") and node not in _HARMLESS_NODES else None
    return f"starts a process ({event})" if event in _STARTING else None


def _imported(packages: Sequence[str]) -> list[str]:
    return [name for name in packages if name in sys.modules]


def _devices(backend: str) -> list[Device]:
    import accelhal

    return accelhal.devices(backend)


def _identity(device: Device) -> dict[str, Any]:
    key = device.location.key
    return {
        "backend": device.backend,
        "index": device.index,
        "key": None if key is None else [key.source, key.value],
        "uuid": device.properties.uuid,
    }


def _computes(device: Device) -> bool:
    import torch

    with device:
        found = (torch.ones(4, device=device.torch_device) * 2).cpu()
    return found.tolist() == [2.0] * 4


def _use_in_fork(backend: str) -> dict[str, Any]:
    try:
        return {"computes": _computes(_devices(backend)[0]), "kind": None}
    except Exception as error:
        return {"computes": False, "kind": _kind(backend, error), "message": str(error)}


def _kind(backend: str, error: Exception) -> str | None:
    from accelhal.device_name import parse_device_name
    from accelhal.registry import open_backend

    try:
        return open_backend(parse_device_name(backend)).runtime.classify_error(error).label
    except Exception:
        return None


def _spawned(setup: str, pickled: bytes, answers: Any) -> None:
    import pickle

    exec(setup, {})
    device = pickle.loads(pickled)
    answers.put({**_identity(device), "computes": _computes(device)})


def main() -> None:
    """Run the task that standard input describes, and print its result."""
    order = json.load(sys.stdin)
    if order["setup"]:
        exec(order["setup"], {})
    result = TASKS[order["task"]](**order["arguments"])
    sys.stdout.flush()
    print(f"\n{RESULT_MARK}{json.dumps(result)}", flush=True)
