"""The backend for a program that names none, with a reason for every one passed over."""

from __future__ import annotations

import os
from dataclasses import replace

from accelhal.device_name import DeviceName, parse_device_name
from accelhal.errors import (
    AccelhalError,
    BackendLoadError,
    BackendNotFoundError,
    DeviceNotFoundError,
    UsageError,
    warn,
)
from accelhal.facts import Probe, ProbeStatus
from accelhal.host import Host
from accelhal.registry.listing import LIMIT_VARIABLE, Backend, limit, list_backends
from accelhal.registry.opening import open_backend
from accelhal.registry.state import OpenBackend, alone, state

DEVICE_VARIABLE = "ACCELHAL_DEVICE"
"""The device to use where the program names none: "npu", "npu:0", "npu@distribution:0"."""


def choose() -> tuple[OpenBackend, int | None]:
    """The backend for a program that names none: ACCELHAL_DEVICE, else the best that opens."""
    name = named_device()
    if name is not None:
        return open_backend(name), name.index
    key = os.environ.get(LIMIT_VARIABLE, "")
    found = state.automatic.get(key)
    if found is None:
        with alone():
            if state.opening:
                raise BackendLoadError(
                    f"{state.opening[-1]}: while it was being opened, it asked for the default "
                    "device",
                    backend=state.opening[-1],
                    operation="open",
                    hint="report this to the plugin's author: open_runtime must name a device",
                )
            found = state.automatic.get(key) or _choose_automatically()
            state.automatic[key] = found
    return found, None


def named_device() -> DeviceName | None:
    """The device that ACCELHAL_DEVICE names, whether it is here or not; None where it is unset.

    Raises:
        UsageError: it is no device name.
    """
    text = os.environ.get(DEVICE_VARIABLE)
    if not text:
        return None
    try:
        return parse_device_name(text)
    except UsageError as error:
        raise UsageError(
            f"{DEVICE_VARIABLE}={text!r} is not a device name", hint=error.hint
        ) from error


def _choose_automatically() -> OpenBackend:
    """The most preferred backend that opens and counts a device; the caller holds the lock."""
    host = Host()
    known = list_backends(host)
    passed: list[Backend] = []
    for backend in known:
        spec = backend.spec
        if spec is not None and spec.simulated:
            continue
        if spec is None or backend.probe.status is not ProbeStatus.AVAILABLE:
            passed.append(backend)
            continue
        try:
            found = open_backend(DeviceName(backend.name))
        except AccelhalError as error:
            probe = _downgrade(backend, error)
            passed.append(replace(backend, probe=probe))
            if spec.priority > 0:
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
    why = "".join(f"\n  {line}" for line in _reasons(passed))
    # What the last resort lacks is the shortest way to a backend.
    step = next((b.probe.hint for b in reversed(passed) if b.probe.hint), None)
    raise BackendNotFoundError(
        f"no backend can be used{named}:{why}",
        hint=step or "`accelhal doctor` shows the next step",
    )


def _downgrade(backend: Backend, error: AccelhalError) -> Probe:
    empty = isinstance(error, DeviceNotFoundError)
    status = ProbeStatus.NO_HARDWARE if empty else ProbeStatus.LIBRARY_BROKEN
    probe = replace(
        backend.probe, status=status, reason=error.message, hint=error.hint or backend.probe.hint
    )
    state.downgraded[backend.name] = probe
    return probe


def _warn_fallback(found: OpenBackend, passed: list[Backend]) -> None:
    lines = _reasons(passed) or ["no accelerator plugin is installed"]
    _warn_once(f"using {found.spec.name}; no accelerator can be used: " + "; ".join(lines))


def _reasons(passed: list[Backend]) -> list[str]:
    return [f"{backend.name}: {backend.probe.reason}" for backend in passed]


def _warn_once(text: str) -> None:
    if text not in state.warned:
        state.warned.add(text)
        warn(text)
