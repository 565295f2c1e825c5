"""Plugins as installed: which distributions register a backend, and the guarded load of one."""

from __future__ import annotations

import re
from importlib import metadata

from stevedore.driver import DriverManager

from accelhal.errors import BackendLoadError, described
from accelhal.host.entry_points import InstalledEntryPoint, read_entry_points
from accelhal.registry.limited_call import PLUGIN_LIMIT_S, call_within
from accelhal.registry.spec_check import check_spec
from accelhal.spi import ENTRY_POINT_GROUP, BackendSpec

BUILT_IN = "accelhal"
"""Distribution name under which the core's own backends are listed."""

_VALUE = re.compile(r"[\w.]+\s*:\s*[\w.]+\s*(\[.*\])?")


def installed_plugins() -> list[InstalledEntryPoint]:
    """Every claim to a backend name in the environment, read fresh; none is loaded yet."""
    return list(read_entry_points(ENTRY_POINT_GROUP).found)


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


def load_spec(plugin: InstalledEntryPoint) -> BackendSpec:
    """Import a plugin's spec.

    Raises:
        BackendLoadError: its module raised anything (OSError, AssertionError, SystemExit…), did not
            end within PLUGIN_LIMIT_S, or what it names is no BackendSpec.
        BackendIncompatibleError: it was written for another major version of the interface.
    """
    where = f"{plugin.distribution} {plugin.version} ({plugin.value})"
    try:
        spec = call_within(PLUGIN_LIMIT_S, _load, plugin)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise BackendLoadError(
            f"backend {plugin.name!r}: {where} raised {described(error)}",
            backend=plugin.name,
            operation="load plugin",
            hint=f"mend it, or remove it: pip uninstall {plugin.distribution}",
        ) from error
    return check_spec(spec, plugin.name, where)


def _load(plugin: InstalledEntryPoint) -> object:
    entry_point = metadata.EntryPoint(plugin.name, plugin.value, ENTRY_POINT_GROUP)
    if not _VALUE.fullmatch(plugin.value):
        raise ValueError(f"{plugin.value!r} is not of the form package.module:attribute")
    return _OnePlugin(entry_point).driver
