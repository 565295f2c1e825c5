"""Installed entry points, read one distribution at a time: a damaged one costs only itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import metadata


@dataclass(frozen=True)
class InstalledEntryPoint:
    """An entry point and the distribution that installed it.

    Attributes:
        name: its name.
        value: what it names, "package.module:attribute".
        distribution: the distribution.
        version: the distribution's version, empty where its metadata does not say.
    """

    name: str
    value: str
    distribution: str
    version: str

    @property
    def package(self) -> str:
        """The top-level package that it names."""
        return self.value.partition(":")[0].partition(".")[0]


@dataclass(frozen=True)
class EntryPoints:
    """The entry points of one group.

    Attributes:
        found: of every distribution, the one first on the path where it is there twice.
        damaged: distributions whose metadata cannot be read, where they lie -> why.
    """

    found: tuple[InstalledEntryPoint, ...]
    damaged: dict[str, str]


def read_entry_points(group: str) -> EntryPoints:
    """The entry points of `group`.

    `importlib.metadata.entry_points` fails as a whole on one distribution without a name, or with
    one malformed line.
    """
    found: dict[tuple[str, str, str], InstalledEntryPoint] = {}
    damaged: dict[str, str] = {}
    for distribution in metadata.distributions():
        try:
            entries = _entries(distribution, group)
        except Exception as error:  # whatever the files hold: parsers raise what they like
            damaged[_place(distribution)] = f"{type(error).__name__}: {error}"
            continue
        for entry in entries:
            key = (canonical_name(entry.distribution), entry.name, entry.value)
            found.setdefault(key, entry)
    return EntryPoints(tuple(found.values()), damaged)


def canonical_name(distribution: str) -> str:
    """A distribution's name as pip compares it: "Accelhal.Foo_bar" is "accelhal-foo-bar" (PEP 503).

    https://packaging.python.org/en/latest/specifications/name-normalization/
    """
    return re.sub(r"[-_.]+", "-", distribution).lower()


def _entries(distribution: metadata.Distribution, group: str) -> list[InstalledEntryPoint]:
    # Reading names takes most of the time, and few distributions have the group.
    if group not in (distribution.read_text("entry_points.txt") or ""):
        return []
    name, version = distribution.metadata["Name"], distribution.metadata["Version"]
    if not name:
        raise ValueError("it does not say which distribution it is")
    if not _is_first_of_its_name(distribution, name):
        return []
    entries = [entry for entry in distribution.entry_points if entry.group == group]
    if not all(entry.name and entry.value for entry in entries):
        raise ValueError("an entry point lacks its name or its value")
    return [InstalledEntryPoint(entry.name, entry.value, name, version or "") for entry in entries]


def _is_first_of_its_name(distribution: metadata.Distribution, name: str) -> bool:
    """Whether an import finds this one; another of the name may lie earlier on the path."""
    try:
        first = metadata.distribution(name)
    except metadata.PackageNotFoundError:  # its folder is not named like it: nothing else is either
        return True
    return first.read_text("entry_points.txt") == distribution.read_text("entry_points.txt")


def _place(distribution: metadata.Distribution) -> str:
    """Where its files lie; only files on a path say so."""
    return str(getattr(distribution, "_path", distribution))
