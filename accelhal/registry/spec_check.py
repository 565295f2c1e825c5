"""What a BackendSpec must be before anything of it is used: a mistake costs its plugin alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from accelhal.device_name import BACKEND_NAME
from accelhal.errors import BackendIncompatibleError, BackendLoadError
from accelhal.host.device_nodes import DeviceNodes
from accelhal.host.library_search import LibraryFile
from accelhal.host.visible_devices import VisibleDevices
from accelhal.spi import API_VERSION, EXTENSIONS, BackendSpec


def check_spec(spec: object, name: str | None, where: str) -> BackendSpec:
    """The spec, unless it does not keep what BackendSpec promises.

    Args:
        spec: what the plugin gave.
        name: the name it is installed under, or None where it was not installed.
        where: who gave it, for the message.

    Raises:
        BackendLoadError: it is no BackendSpec, a field is of the wrong kind, or its name differs.
        BackendIncompatibleError: it was written for another major version of the interface.
    """
    if not isinstance(spec, BackendSpec):
        raise _refused(
            f"{where} names a {type(spec).__name__}, not a BackendSpec",
            name,
            "the entry point must name a module-level accelhal.spi.BackendSpec",
        )
    for field, (promise, keeps) in _PROMISES.items():
        value = getattr(spec, field)
        if not keeps(value):
            raise _refused(
                f"the spec of {where} has {field}={value!r}, which is not {promise}",
                name,
                "report this to the plugin's author: accelhal.spi.BackendSpec says what it takes",
            )
    if name is not None and spec.name != name:
        raise _refused(
            f"the spec of {where} calls itself {spec.name!r}",
            name,
            "the entry point's name must be the spec's name, the torch device type",
        )
    if spec.api_version[0] != API_VERSION[0]:
        theirs, ours = (".".join(map(str, v)) for v in (spec.api_version, API_VERSION))
        raise BackendIncompatibleError(
            f"backend {spec.name!r}: {where} was written for interface {theirs}, not {ours}",
            backend=spec.name,
            operation="load plugin",
            hint=f"install an accelhal and a plugin that share interface {API_VERSION[0]}",
        )
    # A newer minor version may know more extensions; those are not used.
    unknown = set(spec.extensions) - set(EXTENSIONS)
    if unknown and spec.api_version <= API_VERSION:
        raise _refused(
            f"the spec of {where} has unknown extensions: {', '.join(sorted(unknown))}",
            name,
            f"the extensions are {', '.join(EXTENSIONS)}",
        )
    return spec


def _refused(what: str, name: str | None, hint: str) -> BackendLoadError:
    whose = "" if name is None else f"backend {name!r}: "
    return BackendLoadError(whose + what, backend=name, operation="load plugin", hint=hint)


def _tuple_of(kind: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, tuple) and all(isinstance(v, kind) for v in value)


def _is_backend_name(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(BACKEND_NAME, value) is not None


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_version(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and all(map(_is_integer, value))


def _are_vendor_ids(value: Any) -> bool:
    return _tuple_of(str)(value) and all(re.fullmatch("[0-9a-f]{4}", v) for v in value)


def _are_references(value: Any) -> bool:
    return isinstance(value, Mapping) and _tuple_of(str)((*value, *value.values()))


_PROMISES: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "name": ("a torch device type in lower case", _is_backend_name),
    "vendor": ("a string", lambda value: isinstance(value, str)),
    "api_version": ("a pair of integers", _is_version),
    "priority": ("an integer", _is_integer),
    "probe": ("a function", callable),
    "open_runtime": ("a function", callable),
    "open_management": ("a function or None", lambda value: value is None or callable(value)),
    "driver_library": (
        "a LibraryFile or None",
        lambda value: value is None or isinstance(value, LibraryFile),
    ),
    "locate": ("a function or None", lambda value: value is None or callable(value)),
    "torch_package": ("a string or None", lambda value: value is None or isinstance(value, str)),
    "needs_privateuse1": ("True or False", lambda value: isinstance(value, bool)),
    "visible_devices": ("a tuple of VisibleDevices", _tuple_of(VisibleDevices)),
    "device_nodes": ("a tuple of DeviceNodes", _tuple_of(DeviceNodes)),
    "distributed_backend": ("a string", lambda value: isinstance(value, str)),
    "pci_vendor_ids": ("a tuple of four lower-case hexadecimal digits each", _are_vendor_ids),
    "simulated": ("True or False", lambda value: isinstance(value, bool)),
    "extensions": ("a mapping of strings to strings", _are_references),
}
