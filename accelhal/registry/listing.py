"""The list of backends: every claim to a name, loaded, probed, and with a reason for each "no"."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import groupby

from accelhal import __version__
from accelhal.errors import (
    AccelhalError,
    BackendConflictError,
    BackendIncompatibleError,
    described,
)
from accelhal.facts import Probe, ProbeStatus
from accelhal.host import Host
from accelhal.host.entry_points import InstalledEntryPoint, canonical_name
from accelhal.registry.limited_call import PLUGIN_LIMIT_S, call_within
from accelhal.registry.plugins import BUILT_IN, installed_plugins, load_spec
from accelhal.registry.state import state
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

    @property
    def api_version(self) -> str | None:
        """The interface version it was written for ("1.0"), where the plugin loaded."""
        return ".".join(map(str, self.spec.api_version)) if self.spec else None


def limit(host: Host) -> frozenset[str] | None:
    """The names that ACCELHAL_BACKENDS lets through; None when it does not limit."""
    text = host.environ.get(LIMIT_VARIABLE, "")
    return frozenset(name.strip() for name in text.split(",") if name.strip()) or None


def backends() -> list[Backend]:
    """Every backend, most preferred first, each with its Probe; never raises for a broken one.

    A backend that looked available but failed to open shows the failure.
    """
    return [
        replace(backend, probe=state.downgraded.get(backend.name, backend.probe))
        for backend in list_backends(Host())
    ]


def list_backends(host: Host) -> list[Backend]:
    """Every backend as `host` shows it, most preferred first; never raises for a broken one."""
    claims, registered = _claims(), state.registered
    names = {*claims, *registered, cpu_spec.SPEC.name}
    found = [_describe(name, claims, registered, host) for name in names]
    return sorted(found, key=lambda backend: (-backend.priority, backend.name))


def find_backend(name: str, distribution: str | None, host: Host) -> Backend | None:
    """The backend of that name, from that distribution where one is pinned; None when absent."""
    claims, registered = _claims(), state.registered
    if distribution is None:
        known = name in claims or name in registered or name == cpu_spec.SPEC.name
        return _describe(name, claims, registered, host) if known else None
    if name == cpu_spec.SPEC.name and same_distribution(distribution, BUILT_IN):
        return _built_in([], host)
    plugins = [p for p in claims.get(name, ()) if same_distribution(distribution, p.distribution)]
    return _from_plugins(name, plugins, host) if plugins else None


def same_distribution(one: str, other: str) -> bool:
    """Whether two spellings name one distribution ("accelhal_x" and "Accelhal-X")."""
    return canonical_name(one) == canonical_name(other)


def claimants(name: str) -> list[str]:
    """The distributions that claim a name."""
    return [plugin.distribution for plugin in _claims().get(name, ())]


def _claims() -> dict[str, list[InstalledEntryPoint]]:
    plugins = sorted(installed_plugins(), key=lambda plugin: (plugin.name, plugin.distribution))
    return {name: list(group) for name, group in groupby(plugins, lambda plugin: plugin.name)}


def _describe(
    name: str,
    claims: Mapping[str, list[InstalledEntryPoint]],
    registered: Mapping[str, BackendSpec],
    host: Host,
) -> Backend:
    """The backend of that name: registered from code, built in, or a plugin's, in that order."""
    plugins = claims.get(name, [])
    if name in registered:
        return _probed(registered[name], "registered", "", host)
    if name == cpu_spec.SPEC.name:
        return _built_in(plugins, host)
    return _from_plugins(name, plugins, host)


def _from_plugins(name: str, plugins: list[InstalledEntryPoint], host: Host) -> Backend:
    distribution = ", ".join(plugin.distribution for plugin in plugins)
    version = ", ".join(plugin.version for plugin in plugins)
    if _is_left_out(name, host):
        return Backend(name, distribution, version, _disabled(name))
    try:
        spec = _load_only(name, plugins)
    except AccelhalError as error:
        return Backend(name, distribution, version, _refused(error), error=error)
    return _probed(spec, distribution, version, host)


def _load_only(name: str, plugins: list[InstalledEntryPoint]) -> BackendSpec:
    """The spec of the one plugin that claims the name."""
    if len({canonical_name(plugin.distribution) for plugin in plugins}) < len(plugins):
        raise BackendConflictError(
            f"backend {name!r} is claimed twice by {plugins[0].distribution}: "
            + " and ".join(plugin.value for plugin in plugins),
            backend=name,
            hint=f"reinstall or remove it: pip uninstall {plugins[0].distribution}",
        )
    if len(plugins) > 1:
        claimed = " and ".join(f"{plugin.distribution} {plugin.version}" for plugin in plugins)
        raise BackendConflictError(
            f"backend {name!r} is claimed by {claimed}",
            backend=name,
            hint=f"uninstall one, or pin it: ACCELHAL_DEVICE={name}@{plugins[0].distribution}:0",
        )
    return load_spec(plugins[0])


def _built_in(claims: list[InstalledEntryPoint], host: Host) -> Backend:
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
    return _probed(spec, BUILT_IN, __version__, host)


def _probed(spec: BackendSpec, distribution: str, version: str, host: Host) -> Backend:
    start = time.perf_counter()
    probe = _disabled(spec.name) if _is_left_out(spec.name, host) else _run_probe(spec, host)
    took = (time.perf_counter() - start) * 1e3
    return Backend(spec.name, distribution, version, probe, spec, probe_ms=took)


def _run_probe(spec: BackendSpec, host: Host) -> Probe:
    try:
        probe = call_within(PLUGIN_LIMIT_S, spec.probe, host)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        fault = f"its probe raised {described(error)}"
    else:
        if _is_probe(probe):
            return probe
        fault = f"its probe answered a {type(probe).__name__} that is no Probe of right fields"
    return Probe(
        ProbeStatus.LIBRARY_BROKEN,
        None,
        fault,
        f"report this to the plugin's author; {LIMIT_VARIABLE} without {spec.name} leaves it out",
    )


def _is_probe(value: object) -> bool:
    return (
        isinstance(value, Probe)
        and isinstance(value.status, ProbeStatus)
        and (value.count is None or (isinstance(value.count, int) and value.count >= 0))
        and isinstance(value.reason, str)
        and isinstance(value.hint, str)
        and isinstance(value.evidence, Mapping)
        and all(isinstance(text, str) for line in value.evidence.items() for text in line)
    )


def _is_left_out(name: str, host: Host) -> bool:
    allowed = limit(host)
    return allowed is not None and name not in allowed


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
