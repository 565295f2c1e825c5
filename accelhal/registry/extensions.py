"""Loading what a plugin names under its extensions."""

from __future__ import annotations

from importlib import import_module
from typing import TypeVar

from accelhal.errors import BackendLoadError, described
from accelhal.spi import BackendSpec

T = TypeVar("T")


def load_extension(spec: BackendSpec, key: str, kind: type[T]) -> T | None:
    """The object under a key of a spec's extensions; None where it has no such key.

    Args:
        spec: the backend's.
        key: one of `accelhal.spi.EXTENSIONS`.
        kind: the class that the object must be an instance of.

    Raises:
        BackendLoadError: it cannot be imported, or is something else.
    """
    location = spec.extensions.get(key)
    if location is None:
        return None
    module, _, attribute = location.partition(":")
    try:
        found = getattr(import_module(module), attribute)
        if not isinstance(found, kind):
            raise TypeError(f"{location} is a {type(found).__name__} where {kind.__name__} is due")
    except Exception as error:
        raise BackendLoadError(
            f"{spec.name}: its extension {key!r} raised {described(error)}",
            backend=spec.name,
            operation="load plugin",
            hint="report this to the plugin's author",
        ) from error
    return found
