"""Opening a backend by name: torch first, then its runtime, each "no" an error with a next step."""

from __future__ import annotations

import operator
import os
import sys

from accelhal.device_name import DeviceName
from accelhal.errors import (
    AccelhalError,
    BackendConflictError,
    BackendIncompatibleError,
    BackendLoadError,
    BackendNotFoundError,
    DeviceNotFoundError,
    described,
    did_you_mean,
    warn,
)
from accelhal.facts import DEFECTS, Probe, ProbeStatus
from accelhal.host import Host
from accelhal.host.visible_devices import active_mask, explain
from accelhal.registry.listing import Backend, find_backend, list_backends, same_distribution
from accelhal.registry.state import OpenBackend, alone, state
from accelhal.runtimes.torch_loading import load_torch, privateuse1_owner
from accelhal.spi import BackendSpec, Runtime

_REFUSED: dict[ProbeStatus, type[AccelhalError]] = {
    ProbeStatus.NOT_INSTALLED: BackendLoadError,
    ProbeStatus.LIBRARY_BROKEN: BackendLoadError,
    ProbeStatus.INCOMPATIBLE: BackendIncompatibleError,
    ProbeStatus.DISABLED: BackendNotFoundError,
    ProbeStatus.HIDDEN_BY_ENV: DeviceNotFoundError,
}
"""Statuses that an explicit choice does not try to open, and the error each gives."""


_ANY_BOARD = ("accelerator", "auto", "best", "gpu")
"""Names that people try and that mean no backend in particular."""


def is_open(name: str) -> bool:
    """Whether this process uses the backend."""
    return name in state.opened


def open_backend(name: DeviceName) -> OpenBackend:
    """Open a backend by name, once per process.

    Raises:
        BackendError or DeviceNotFoundError: with the Probe's reason and next step.
    """
    found = state.opened.get(name.backend)
    if found is None:
        with alone():
            found = state.opened.get(name.backend)
            if found is None:
                found = state.opened[name.backend] = _open_once(name)
                state.downgraded.pop(name.backend, None)
    if name.distribution and not same_distribution(name.distribution, found.distribution):
        raise BackendConflictError(
            f"backend {name.backend!r} is already in use from {found.distribution}",
            backend=name.backend,
            hint=f"choose {name.distribution} before the first use of {name.backend}",
        )
    return found


def _open_once(name: DeviceName) -> OpenBackend:
    if name.backend in state.opening:
        raise BackendLoadError(
            f"{name.backend}: while it was being opened, it asked for itself",
            backend=name.backend,
            operation="open",
            hint="report this to the plugin's author",
        )
    state.opening.append(name.backend)
    try:
        return _open(_listed(name))
    finally:
        state.opening.remove(name.backend)


def find_spec(name: DeviceName) -> BackendSpec:
    """What describes the backend of that name; nothing is opened, whatever its probe says.

    Raises:
        BackendError: there is no such backend, or its plugin is broken.
    """
    spec = _found(name).spec
    assert spec is not None, "a backend without an error has one"
    return spec


def _found(name: DeviceName) -> Backend:
    host = Host()
    backend = find_backend(name.backend, name.distribution, host)
    if backend is None:
        raise _not_found(name, list_backends(host))
    if backend.error is not None:
        raise backend.error
    return backend


def _listed(name: DeviceName) -> Backend:
    backend = _found(name)
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
    if name.backend in _ANY_BOARD:
        guess = "leave the name out for the best device; "
    else:
        guess = did_you_mean(by_vendor[0] if by_vendor else name.backend, names)
    return BackendNotFoundError(
        f"no backend is named {name.backend!r}",
        backend=name.backend,
        hint=f"{guess}installed: {', '.join(names)}; `accelhal devices` shows them all",
    )


def _open(backend: Backend) -> OpenBackend:
    """Load torch and open the runtime; the caller holds the lock."""
    spec = backend.spec
    assert spec is not None, "a listed backend without error has a spec"
    _check_private_use(spec)
    _load_torch_once()
    _check_private_use(spec)  # a package that torch loads by itself may have taken the place
    try:
        runtime = spec.open_runtime()
        if not isinstance(runtime, Runtime):
            raise TypeError(f"open_runtime returned a {type(runtime).__name__}, not a Runtime")
        count = operator.index(runtime.device_count())
    except (KeyboardInterrupt, AccelhalError):
        raise
    except BaseException as error:
        raise BackendLoadError(
            f"{spec.name}: {_doubt(backend.probe)}opening failed with {described(error)}",
            backend=spec.name,
            operation="open",
            hint=backend.probe.hint or f"`accelhal doctor --deep` looks into {spec.name}",
        ) from error
    if count < 1:
        available = backend.probe.status is ProbeStatus.AVAILABLE
        reason = "it opened, but counts no device" if available else backend.probe.reason
        mask = active_mask(spec.visible_devices, os.environ)
        if mask is not None:
            reason += f"; {explain(mask)}"
        raise DeviceNotFoundError(
            f"{spec.name}: {reason}",
            backend=spec.name,
            operation="open",
            hint=backend.probe.hint or "`accelhal doctor` says why",
        )
    return OpenBackend(spec, runtime, backend.distribution)


def _doubt(probe: Probe) -> str:
    """Why the probe expected no device, to stand before what happened all the same."""
    return "" if probe.status is ProbeStatus.AVAILABLE else f"{probe.reason}; "


def _load_torch_once() -> None:
    if "torch" in sys.modules:
        load_torch()
        return
    broken = {
        backend.spec.torch_package
        for backend in list_backends(Host())
        if backend.spec is not None
        and backend.spec.torch_package
        and backend.probe.status in DEFECTS
    }
    for failure in load_torch(broken):
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
        for b in state.opened.values()
        if b.spec.needs_privateuse1 and b.spec.name != spec.name
    ]
    owner = privateuse1_owner()
    if owner not in (None, spec.name):
        others.append(owner)
    if others:
        raise BackendIncompatibleError(
            f"{spec.name} and {others[0]} cannot share a process: torch has one place for "
            f"out-of-tree devices and {others[0]} holds it",
            backend=spec.name,
            operation="open",
            hint="use one process for each vendor",
        )
