"""Versions of installed Python distributions, read without importing them."""

from __future__ import annotations

from collections.abc import Iterable

from accelhal.host.host import Host
from accelhal.host.torch_install import read_package_version


def package_versions(host: Host, names: Iterable[str]) -> dict[str, str]:
    """Distribution -> version, of those that are installed.

    What a package says of itself comes before its metadata: a wheel from PyPI leaves out the local
    part ("+cu128"), which tells what it was built for.
    """
    found = {}
    for name in names:
        folder = host.find_package(name) if name.isidentifier() else None
        version = (read_package_version(folder) if folder else None) or host.find_version(name)
        if version is not None:
            found[name] = version
    return found
