"""The host as probes and checks read it: root, environment and package finder injectable."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path


def find_installed_package(name: str) -> Path | None:
    """Where the top-level package `name` lies, found without importing it; None when absent."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):  # ValueError: a half-made module stands in sys.modules
        return None
    if spec is None or not (spec.origin or spec.submodule_search_locations):
        return None
    locations = list(spec.submodule_search_locations or ())
    return Path(locations[0]) if locations else Path(str(spec.origin))


def find_installed_version(name: str) -> str | None:
    """The version of the installed distribution `name`; None where it is absent or unreadable."""
    try:
        return importlib.metadata.version(name) or None
    except Exception:  # damaged metadata: its parser raises what it likes
        return None


def _environment() -> Mapping[str, str]:
    return os.environ


@dataclass(frozen=True)
class Host:
    """A host to look at: this one, or a tree of files and an environment that stand for another.

    Paths are given as on the host ("/dev/null"); reads that fail answer None, never raise.
    """

    root: Path = Path("/")
    environ: Mapping[str, str] = field(default_factory=_environment)
    find_package: Callable[[str], Path | None] = find_installed_package
    find_version: Callable[[str], str | None] = find_installed_version

    def path(self, absolute: str) -> Path:
        """Where the host's path `absolute` lies here."""
        return self.root / absolute.lstrip("/")

    def exists(self, absolute: str) -> bool:
        """Whether the path exists and may be looked at."""
        try:
            return self.path(absolute).exists()
        except OSError:
            return False

    def read_text(self, absolute: str) -> str | None:
        """The file's text, or None when it is absent or not readable."""
        try:
            # A bus scan reads thousands of files: os.path costs half of what pathlib does.
            path = os.path.join(self.root, absolute.lstrip("/"))
            with open(path, encoding="utf-8", errors="replace") as file:
                return file.read()
        except OSError:
            return None

    def glob(self, pattern: str) -> list[str]:
        """The host's paths that match an absolute pattern, in natural order (dev2 before dev10)."""
        try:
            found = [
                "/" + str(path.relative_to(self.root))
                for path in self.root.glob(pattern.lstrip("/"))
            ]
        except OSError:
            return []
        return sorted(found, key=lambda path: (len(path), path))

    def link_name(self, absolute: str) -> str | None:
        """Last component of a symbolic link's target, or None when there is no link."""
        try:
            return os.path.basename(os.readlink(self.path(absolute)))
        except OSError:
            return None

    def link_target(self, absolute: str) -> str | None:
        """The host's path that a symbolic link names, or None when there is no link."""
        try:
            target = os.readlink(self.path(absolute))
        except OSError:
            return None
        return os.path.normpath(os.path.join(os.path.dirname(absolute), target))
