"""The list of backends: every claim to a name, loaded, probed, and with a reason for each "no"."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from accelhal.errors import AccelhalError, BackendConflictError, BackendIncompatibleError
from accelhal.facts import Probe, ProbeStatus
from accelhal.host import Host
from accelhal.registry.plugins import (
    BUILT_IN,
    Plugin,
    conflicting,
    installed_plugins,
    load_spec,
)
from accelhal.runtimes import cpu_spec
from accelhal.spi import BackendSpec

LIMIT_VARIABLE = "ACCELHAL_BACKENDS"
"""Comma-separated names: the backends that may be considered."""


@dataclass(frozen=True)
class Backend:
    """A backend as listed: who provides it, and whether it can be used here.

    Attributes:
        name: torch device type.
        distribution: the distribution that provides it; several are joined where they conflict.
        version: that distribution's version.
        probe: whether it can be used, and why not.
        spec: its description, or None where the plugin did not load.
        error: why the plugin did not load, or None.
        probe_ms: how long the probe took.
    """

    name: str
    distribution: str
    version: str
    probe: Probe
    spec: BackendSpec | None = None
    error: AccelhalError | None = None
    probe_ms: float = 0.0

    @property
    def vendor(self) -> str | None:
        """The vendor's name, where the plugin loaded."""
        return self.spec.vendor if self.spec else None

    @property
    def priority(self) -> int:
        """Rank in automatic choice; a plugin that did not load ranks last."""
        return self.spec.priority if self.spec else -1


_registered: dict[str, BackendSpec] = {}


def registered() -> dict[str, BackendSpec]:
    """Specs registered by `accelhal.register`, by name; they stand before installed plugins."""
    return _registered


def limit(host: Host) -> frozenset[str] | None:
    """The names that ACCELHAL_BACKENDS lets through; None when it does not limit."""
    text = host.environ.get(LIMIT_VARIABLE, "")
    return frozenset(name.strip() for name in text.split(",") if name.strip()) or None


def list_backends(host: Host) -> list[Backend]:
    """Every backend, most preferred first; never raises for a broken one."""
    claims = _claims()
    found = [
        _describe(name, plugins, host)
        for name, plugins in claims.items()
        if name not in _registered and name != cpu_spec.SPEC.name
    ]
    found += [_probed(spec, "registered", "", host) for spec in _registered.values()]
    if cpu_spec.SPEC.name not in _registered:
        found.append(_built_in(claims.get(cpu_spec.SPEC.name, []), host))
    return sorted(found, key=lambda backend: (-backend.priority, backend.name))


def find_backend(name: str, distribution: str | None, host: Host) -> Backend | None:
    """The backend of that name, from that distribution where one is pinned; None when absent."""
    if distribution is None:
        return next((backend for backend in list_backends(host) if backend.name == name), None)
    if name == cpu_spec.SPEC.name and distribution == BUILT_IN:
        return _probed(cpu_spec.SPEC, BUILT_IN, _own_version(), host)
    plugins = [p for p in _claims().get(name, ()) if p.distribution == distribution]
    return _describe(name, plugins, host) if plugins else None


def claimants(name: str) -> list[str]:
    """The distributions that claim a name."""
    return [plugin.distribution for plugin in _claims().get(name, ())]


def _claims() -> dict[str, list[Plugin]]:
    plugins = sorted(installed_plugins(), key=lambda plugin: (plugin.name, plugin.distribution))
    return {name: list(group) for name, group in groupby(plugins, lambda plugin: plugin.name)}


def _describe(name: str, plugins: list[Plugin], host: Host) -> Backend:
    distribution = ", ".join(plugin.distribution for plugin in plugins)
    version = ", ".join(plugin.version for plugin in plugins)
    allowed = limit(host)
    if allowed is not None and name not in allowed:
        return Backend(name, distribution, version, _disabled(name))
    if len(plugins) > 1:
        error: AccelhalError = BackendConflictError(
            f"backend {name!r} is claimed by {conflicting(plugins)}",
            backend=name,
            hint=f"uninstall one, or pin it: ACCELHAL_DEVICE={name}@{plugins[0].distribution}:0",
        )
        return Backend(name, distribution, version, _refused(error), error=error)
    try:
        spec = load_spec(plugins[0])
    except AccelhalError as failure:
        return Backend(name, distribution, version, _refused(failure), error=failure)
    return _probed(spec, distribution, version, host)


def _built_in(claims: list[Plugin], host: Host) -> Backend:
    """The cpu backend, unless an installed plugin claims its name."""
    spec = cpu_spec.SPEC
    rivals = [plugin.distribution for plugin in claims]
    if rivals:
        error = BackendConflictError(
            f"backend {spec.name!r} is built in and also claimed by {', '.join(rivals)}",
            backend=spec.name,
            hint=f"uninstall {rivals[0]}, or choose {spec.name}@{BUILT_IN}",
        )
        return Backend(spec.name, ", ".join([BUILT_IN, *rivals]), "", _refused(error), error=error)
    return _probed(spec, BUILT_IN, _own_version(), host)


def _probed(spec: BackendSpec, distribution: str, version: str, host: Host) -> Backend:
    allowed = limit(host)
    start = time.perf_counter()
    if allowed is not None and spec.name not in allowed:
        probe = _disabled(spec.name)
    else:
        probe = _run_probe(spec, host)
    took = (time.perf_counter() - start) * 1e3
    return Backend(spec.name, distribution, version, probe, spec, probe_ms=took)


def _run_probe(spec: BackendSpec, host: Host) -> Probe:
    try:
        return spec.probe(host)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return Probe(
            ProbeStatus.LIBRARY_BROKEN,
            None,
            f"its probe raised {type(error).__name__}: {error}",
            "report this to the plugin's author: a probe must not raise",
        )


def _disabled(name: str) -> Probe:
    return Probe(
        ProbeStatus.DISABLED,
        None,
        f"{LIMIT_VARIABLE} does not name it",
        f"add {name} to {LIMIT_VARIABLE}, or unset it",
    )


def _refused(error: AccelhalError) -> Probe:
    incompatible = isinstance(error, (BackendConflictError, BackendIncompatibleError))
    status = ProbeStatus.INCOMPATIBLE if incompatible else ProbeStatus.LIBRARY_BROKEN
    return Probe(status, None, error.message, error.hint or "")


def _own_version() -> str:
    from accelhal import __version__

    return __version__


def reasons(backends: Iterable[Backend]) -> list[str]:
    """One line for each backend that cannot be used: name, status and reason."""
    return [
        f"{backend.name}: {backend.probe.reason}"
        for backend in backends
        if backend.probe.status is not ProbeStatus.AVAILABLE
    ]
