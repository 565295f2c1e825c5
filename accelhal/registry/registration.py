"""Backends registered from code, before what is installed."""

from __future__ import annotations

from contextlib import ExitStack

from accelhal.errors import BackendConflictError
from accelhal.registry.listing import claimants
from accelhal.registry.spec_check import check_spec
from accelhal.registry.state import alone, state
from accelhal.spi import BackendSpec


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
        BackendLoadError: it is no BackendSpec, or a field of it is of the wrong kind.
    """
    check_spec(spec, None, "register()")
    with alone():
        if spec.name in state.opened:
            raise BackendConflictError(
                f"backend {spec.name!r} is in use in this process",
                backend=spec.name,
                hint="register it before its first use",
            )
        rivals = [*(["register()"] if spec.name in state.registered else []), *claimants(spec.name)]
        if rivals and not override:
            raise BackendConflictError(
                f"backend {spec.name!r} is provided by {', '.join(rivals)} already",
                backend=spec.name,
                hint="pass override=True to take its place",
            )
        state.registrations.append(spec)
        state.automatic.clear()
    undo = ExitStack()
    undo.callback(_unregister, spec)
    return undo


def _unregister(spec: BackendSpec) -> None:
    with alone():
        in_force = state.registered.get(spec.name)
        for position in reversed(range(len(state.registrations))):
            if state.registrations[position] is spec:
                del state.registrations[position]
                break
        if state.registered.get(spec.name) is not in_force:
            state.opened.pop(spec.name, None)
            state.downgraded.pop(spec.name, None)
            state.automatic.clear()
