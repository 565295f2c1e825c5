"""Opening a backend: by name, or by automatic choice with a reason for every one passed over."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import ExitStack
from dataclasses import dataclass, replace

from accelhal.device_name import DeviceName, parse_device_name
from accelhal.errors import (
    AccelhalError,
    BackendConflictError,
    BackendIncompatibleError,
    BackendLoadError,
    BackendNotFoundError,
    DeviceNotFoundError,
    UsageError,
    warn,
)
from accelhal.facts import Probe, ProbeStatus
from accelhal.host import Host
from accelhal.registry.listing import (
    LIMIT_VARIABLE,
    Backend,
    claimants,
    find_backend,
    limit,
    list_backends,
    reasons,
    registered,
)
from accelhal.registry.plugins import check_spec
from accelhal.runtimes.torch_loading import load_torch
from accelhal.spi import BackendSpec, Runtime

DEVICE_VARIABLE = "ACCELHAL_DEVICE"
"""The device to use where the program names none: "npu", "npu:0", "npu@distribution:0"."""

_REFUSED: dict[ProbeStatus, type[AccelhalError]] = {
    ProbeStatus.NOT_INSTALLED: BackendLoadError,
    ProbeStatus.LIBRARY_BROKEN: BackendLoadError,
    ProbeStatus.INCOMPATIBLE: BackendIncompatibleError,
    ProbeStatus.DISABLED: BackendNotFoundError,
    ProbeStatus.HIDDEN_BY_ENV: DeviceNotFoundError,
}
"""Statuses that an explicit choice does not try to open, and the error each gives."""

_lock = threading.RLock()
_opened: dict[str, OpenBackend] = {}
_downgraded: dict[str, Probe] = {}
_automatic: dict[str, OpenBackend] = {}  # by the value of ACCELHAL_BACKENDS
_warned: set[str] = set()


@dataclass(frozen=True, eq=False)
class OpenBackend:
    """A backend in use by this process: its spec, its runtime, and who provides it."""

    spec: BackendSpec
    runtime: Runtime
    distribution: str


def backends() -> list[Backend]:
    """Every backend, most preferred first, each with its Probe; never raises for a broken one.

    A backend that looked available but failed to open shows the failure.
    """
    return [
        replace(backend, probe=_downgraded.get(backend.name, backend.probe))
        for backend in list_backends(Host())
    ]


def register(spec: BackendSpec, *, override: bool = False) -> ExitStack:
    """Register a backend from code, before any installed plugin of that name.

    Args:
        spec: the backend.
        override: take the place of one registered before, or installed.

    Returns:
        A context manager; leaving it (or `.close()`) takes the registration back. Ignore it to
        register for the life of the process.

    Raises:
        BackendConflictError: the name is taken and `override` is false, or it is in use.
        BackendIncompatibleError: the spec was written for another interface version.
    """
    check_spec(spec, spec.name, "register()")
    with _lock:
        if spec.name in _opened:
            raise BackendConflictError(
                f"backend {spec.name!r} is in use in this process",
                backend=spec.name,
                hint="register it before its first use",
            )
        rivals = [*(["register()"] if spec.name in registered() else []), *claimants(spec.name)]
        if rivals and not override:
            raise BackendConflictError(
                f"backend {spec.name!r} is provided by {', '.join(rivals)} already",
                backend=spec.name,
                hint="pass override=True to take its place",
            )
        before = registered().get(spec.name)
        registered()[spec.name] = spec
        _automatic.clear()
    undo = ExitStack()
    undo.callback(_unregister, spec, before)
    return undo


def _unregister(spec: BackendSpec, before: BackendSpec | None) -> None:
    with _lock:
        if registered().get(spec.name) is not spec:
            return
        del registered()[spec.name]
        if before is not None:
            registered()[spec.name] = before
        _opened.pop(spec.name, None)
        _downgraded.pop(spec.name, None)
        _automatic.clear()


def is_open(name: str) -> bool:
    """Whether this process uses the backend."""
    return name in _opened


def choose() -> tuple[OpenBackend, int | None]:
    """The backend for a program that names none: ACCELHAL_DEVICE, else the best that opens."""
    named = os.environ.get(DEVICE_VARIABLE)
    if named:
        return _open_named(named)
    key = os.environ.get(LIMIT_VARIABLE, "")
    found = _automatic.get(key)
    if found is None:
        with _lock:
            found = _automatic.get(key) or _choose_automatically()
            _automatic[key] = found
    return found, None


def _open_named(text: str) -> tuple[OpenBackend, int | None]:
    try:
        name = parse_device_name(text)
    except UsageError as error:
        raise UsageError(
            f"{DEVICE_VARIABLE}={text!r} is not a device name", hint=error.hint
        ) from error
    return open_backend(name), name.index


def open_backend(name: DeviceName) -> OpenBackend:
    """Open a backend by name, once per process.

    Raises:
        BackendError or DeviceNotFoundError: with the Probe's reason and next step.
    """
    found = _opened.get(name.backend)
    if found is None:
        with _lock:
            found = _opened.get(name.backend)
            if found is None:
                found = _opened[name.backend] = _open(_listed(name))
    if name.distribution not in (None, found.distribution):
        raise BackendConflictError(
            f"backend {name.backend!r} is already in use from {found.distribution}",
            backend=name.backend,
            hint=f"choose {name.distribution} before the first use of {name.backend}",
        )
    return found


def _listed(name: DeviceName) -> Backend:
    host = Host()
    backend = find_backend(name.backend, name.distribution, host)
    if backend is None:
        raise _not_found(name, list_backends(host))
    if backend.error is not None:
        raise backend.error
    status = backend.probe.status
    if status in _REFUSED:
        raise _REFUSED[status](
            f"{name.backend}: {backend.probe.reason}",
            backend=name.backend,
            operation="open",
            hint=backend.probe.hint or None,
        )
    return backend


def _not_found(name: DeviceName, known: list[Backend]) -> BackendNotFoundError:
    names = [backend.name for backend in known]
    if name.distribution is not None and name.backend in names:
        providers = ", ".join(b.distribution for b in known if b.name == name.backend)
        return BackendNotFoundError(
            f"{name.distribution} provides no backend {name.backend!r}",
            backend=name.backend,
            hint=f"it is provided by {providers}",
        )
    by_vendor = [
        b.name for b in known if name.backend in f"{b.vendor or ''} {b.distribution}".lower()
    ]
    import difflib  # 5 ms that only this error needs

    guesses = by_vendor or difflib.get_close_matches(name.backend, names, n=1)
    hint = f"did you mean {guesses[0]!r}? " if guesses else ""
    return BackendNotFoundError(
        f"no backend is named {name.backend!r}",
        backend=name.backend,
        hint=f"{hint}installed: {', '.join(names)}; `accelhal devices` shows them all",
    )


def _open(backend: Backend) -> OpenBackend:
    """Load torch and open the runtime; the caller holds the lock."""
    spec = backend.spec
    assert spec is not None, "a listed backend without error has a spec"
    _check_private_use(spec)
    _load_torch_once()
    _check_private_use(spec)
    try:
        runtime = spec.open_runtime()
        count = runtime.device_count()
    except KeyboardInterrupt:
        raise
    except AccelhalError:
        raise
    except BaseException as error:
        raise BackendLoadError(
            f"{spec.name}: opening failed with {type(error).__name__}: {error}",
            backend=spec.name,
            operation="open",
            hint=backend.probe.hint or f"`accelhal doctor --deep` looks into {spec.name}",
        ) from error
    if count < 1:
        available = backend.probe.status is ProbeStatus.AVAILABLE
        reason = "it opened, but counts no device" if available else backend.probe.reason
        raise DeviceNotFoundError(
            f"{spec.name}: {reason}",
            backend=spec.name,
            operation="open",
            hint=backend.probe.hint or "`accelhal doctor` says why",
        )
    return OpenBackend(spec, runtime, backend.distribution)


def _load_torch_once() -> None:
    if "torch" in sys.modules:
        load_torch()
        return
    broken = {
        backend.spec.torch_package: backend
        for backend in list_backends(Host())
        if backend.spec is not None
        and backend.spec.torch_package
        and backend.probe.status in (ProbeStatus.LIBRARY_BROKEN, ProbeStatus.INCOMPATIBLE)
    }
    for failure in load_torch(broken.keys()):
        warn(
            f"{failure.package} was left out of torch: {failure.reason}. A plain `import torch` "
            "would have failed; `accelhal doctor --deep` says more"
        )


def _check_private_use(spec: BackendSpec) -> None:
    """One process holds one out-of-tree device type: say so before the import, not after."""
    if not spec.needs_privateuse1:
        return
    others = [
        b.spec.name
        for b in _opened.values()
        if b.spec.needs_privateuse1 and b.spec.name != spec.name
    ]
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "_C"):
        owner = torch._C._get_privateuse1_backend_name()
        if owner not in ("privateuseone", spec.name):
            others.append(owner)
    if others:
        raise BackendIncompatibleError(
            f"{spec.name} and {others[0]} cannot share a process: torch has one place for "
            f"out-of-tree devices and {others[0]} holds it",
            backend=spec.name,
            operation="open",
            hint="use one process for each vendor",
        )


def _choose_automatically() -> OpenBackend:
    """The most preferred backend that opens and counts a device; the caller holds the lock."""
    host = Host()
    known = list_backends(host)
    passed: list[Backend] = []
    for backend in known:
        if backend.spec is not None and backend.spec.simulated:
            continue
        if backend.probe.status is not ProbeStatus.AVAILABLE:
            passed.append(backend)
            continue
        try:
            found = open_backend(DeviceName(backend.name))
        except AccelhalError as error:
            probe = _downgrade(backend, error)
            passed.append(replace(backend, probe=probe))
            if backend.spec is not None and backend.spec.priority > 0:
                _warn_once(f"{backend.name} looked available but did not open: {error.message}")
            if isinstance(error, BackendLoadError) and error.operation == "import torch":
                raise
            continue
        if found.spec.priority == 0:
            _warn_fallback(found, passed)
        return found
    wanted = limit(host)
    unknown = sorted((wanted or frozenset()) - {backend.name for backend in known})
    named = f" ({LIMIT_VARIABLE} names {', '.join(unknown)}, not installed)" if unknown else ""
    why = "".join(f"\n  {line}" for line in reasons(passed))
    raise BackendNotFoundError(
        f"no backend can be used{named}:{why}", hint="`accelhal doctor` shows the next step"
    )


def _downgrade(backend: Backend, error: AccelhalError) -> Probe:
    empty = isinstance(error, DeviceNotFoundError)
    status = ProbeStatus.NO_HARDWARE if empty else ProbeStatus.LIBRARY_BROKEN
    probe = replace(
        backend.probe, status=status, reason=error.message, hint=error.hint or backend.probe.hint
    )
    _downgraded[backend.name] = probe
    return probe


def _warn_fallback(found: OpenBackend, passed: list[Backend]) -> None:
    lines = reasons(passed) or ["no accelerator plugin is installed"]
    _warn_once(f"using {found.spec.name}; no accelerator can be used: " + "; ".join(lines))


def _warn_once(text: str) -> None:
    if text not in _warned:
        _warned.add(text)
        warn(text)
