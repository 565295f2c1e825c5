"""What this process did with backends, in one place, so that a test can start afresh."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from accelhal.errors import BackendLoadError
from accelhal.facts import Probe
from accelhal.runtimes.translation import call_runtime
from accelhal.spi import BackendSpec, Runtime

OPEN_LIMIT_S = 300.0
"""How long one thread waits while another opens a backend: importing torch and a vendor's package
from a cold network file system takes tens of seconds."""


@dataclass(frozen=True, eq=False)
class OpenBackend:
    """A backend in use by this process: its spec, its runtime, and who provides it."""

    spec: BackendSpec
    runtime: Runtime
    distribution: str

    def ask(self, operation: str, *args: object) -> Any:
        """Call a method of the runtime that belongs to no one device; known errors are typed."""
        return call_runtime(self.runtime, self.spec.name, operation, *args)


@dataclass
class RegistryState:
    """Changed under `alone()` only.

    Attributes:
        registrations: specs given to `register()`, oldest first.
        opened: backends in use, by name.
        opening: names of the backends being opened, outermost first.
        downgraded: probes of backends that looked available and did not open, by name.
        automatic: the automatic choice, by the value of ACCELHAL_BACKENDS.
        hanging: calls of plugins' code that did not end in time; each is made only once.
        warned: the warnings given, each once.
    """

    registrations: list[BackendSpec] = field(default_factory=list)
    opened: dict[str, OpenBackend] = field(default_factory=dict)
    opening: list[str] = field(default_factory=list)
    downgraded: dict[str, Probe] = field(default_factory=dict)
    automatic: dict[str, OpenBackend] = field(default_factory=dict)
    hanging: list[tuple[Callable[..., object], tuple[object, ...]]] = field(default_factory=list)
    warned: set[str] = field(default_factory=set)

    @property
    def registered(self) -> dict[str, BackendSpec]:
        """The specs in force of those registered, by name; they stand before installed plugins."""
        return {spec.name: spec for spec in tuple(self.registrations)}


state = RegistryState()
_lock = threading.RLock()


@contextmanager
def alone() -> Iterator[None]:
    """Hold the registry; a thread may hold it more than once.

    Raises:
        BackendLoadError: another thread held it for OPEN_LIMIT_S.
    """
    lock = _lock
    if not lock.acquire(timeout=OPEN_LIMIT_S):
        raise BackendLoadError(
            f"another thread has been opening {' and '.join(state.opening) or 'a backend'} for "
            f"{OPEN_LIMIT_S:g} s",
            operation="open",
            hint="its vendor's package or driver hangs; `accelhal doctor --deep` says where",
        )
    try:
        yield
    finally:
        lock.release()


def _after_fork() -> None:
    """Threads do not live on in a forked child; what they held must not stay held."""
    global _lock
    _lock = threading.RLock()
    state.opening.clear()


os.register_at_fork(after_in_child=_after_fork)
