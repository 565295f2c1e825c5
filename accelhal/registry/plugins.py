"""Plugins as installed: which distributions register a backend, and the guarded load of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata

from stevedore.driver import DriverManager

from accelhal.errors import BackendIncompatibleError, BackendLoadError
from accelhal.spi import API_VERSION, ENTRY_POINT_GROUP, BackendSpec

BUILT_IN = "accelhal"
"""Distribution name under which the core's own backends are listed."""


@dataclass(frozen=True)
class Plugin:
    """A distribution's claim to a backend name, not loaded yet."""

    name: str
    distribution: str
    version: str
    entry_point: metadata.EntryPoint


def installed_plugins() -> list[Plugin]:
    """Every claim in the environment, read fresh: importlib.metadata keeps no stale cache."""
    return [
        Plugin(
            entry.name,
            entry.dist.name if entry.dist else "unknown",
            entry.dist.version if entry.dist else "",
            entry,
        )
        for entry in metadata.entry_points(group=ENTRY_POINT_GROUP)
    ]


class _OnePlugin(DriverManager[BackendSpec]):
    """stevedore's named load of exactly one entry point.

    stevedore's own listing is cached in files by coarse times, drops the distribution, and settles
    equal names silently; the entry point is therefore chosen here and stevedore only loads it.
    """

    def __init__(self, entry_point: metadata.EntryPoint) -> None:
        self._entry_point = entry_point
        super().__init__(
            ENTRY_POINT_GROUP,
            entry_point.name,
            invoke_on_load=False,
            on_load_failure_callback=_raise_load_failure,
        )

    def list_entry_points(self) -> list[metadata.EntryPoint]:
        return [self._entry_point]


def _raise_load_failure(
    manager: object, entry_point: metadata.EntryPoint, error: BaseException
) -> None:
    raise error


def load_spec(plugin: Plugin) -> BackendSpec:
    """Import a plugin's spec.

    Raises:
        BackendLoadError: its module raised anything (OSError, AssertionError, SystemExit…), or
            what it names is no BackendSpec.
        BackendIncompatibleError: it was written for another major version of the interface.
    """
    where = f"{plugin.distribution} {plugin.version} ({plugin.entry_point.value})"
    try:
        spec = _OnePlugin(plugin.entry_point).driver
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise BackendLoadError(
            f"backend {plugin.name!r}: {where} raised {type(error).__name__}: {error}",
            backend=plugin.name,
            operation="load plugin",
            hint=f"reinstall or remove it: pip uninstall {plugin.distribution}",
        ) from error
    if not isinstance(spec, BackendSpec):
        raise BackendLoadError(
            f"backend {plugin.name!r}: {where} names a {type(spec).__name__}, not a BackendSpec",
            backend=plugin.name,
            operation="load plugin",
            hint="the entry point must name a module-level accelhal.spi.BackendSpec",
        )
    check_spec(spec, plugin.name, where)
    return spec


def check_spec(spec: BackendSpec, name: str, where: str) -> None:
    """Refuse a spec whose name or interface version does not fit."""
    if spec.name != name:
        raise BackendLoadError(
            f"backend {name!r}: the spec of {where} calls itself {spec.name!r}",
            backend=name,
            operation="load plugin",
            hint="the entry point's name must be the spec's name, the torch device type",
        )
    if spec.api_version[0] != API_VERSION[0]:
        theirs, ours = (".".join(map(str, v)) for v in (spec.api_version, API_VERSION))
        raise BackendIncompatibleError(
            f"backend {name!r}: {where} was written for interface {theirs}, not {ours}",
            backend=name,
            operation="load plugin",
            hint=f"install an accelhal and a plugin that share interface {API_VERSION[0]}",
        )


def conflicting(plugins: Sequence[Plugin]) -> str:
    """The claimants of one name, for a message."""
    return " and ".join(f"{plugin.distribution} {plugin.version}" for plugin in plugins)
