"""The frameworks that are installed: read from their files, or from what the evidence lists."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from accelhal.doctor.facts import Facts
from accelhal.facts.compatibility import PairVerdict
from accelhal.registry.extensions import load_extension
from accelhal.spi import BackendSpec
from accelhal.spi.compatibility_tables import CompatibilityTables
from accelhal.spi.doctor import NotShownError

CHIP_AXES = frozenset({"arch", "soc"})
"""Components of the compatibility tables that are chips, not software."""

_CPU_TAG = "cpu"
"""Local part of the version of a build without any toolkit ("2.9.0+cpu")."""


@dataclass(frozen=True)
class InstalledTorch:
    """The torch that programs import.

    Attributes:
        version: with its local part.
        builds: toolkit that it was built for -> version; empty for a build without any, None where
            the evidence does not say.
        source: where that was read.
    """

    version: str
    builds: Mapping[str, str] | None
    source: str = "installed packages"


def installed_torch(facts: Facts) -> InstalledTorch | None:
    """The installed torch; None without one.

    Raises:
        NotShownError: the evidence lists no packages.
    """
    if facts.live:
        torch = facts.torch
        if torch is None:
            return None
        return InstalledTorch(torch.version, torch.build, str(torch.path / "version.py"))
    version = packages(facts).get("torch")
    if version is None:
        return None
    builds = facts.record.torch_builds
    if builds is None and version.partition("+")[2] == _CPU_TAG:
        builds = {}
    return InstalledTorch(version, builds)


def packages(facts: Facts) -> Mapping[str, str]:
    """Python distribution -> version, of those that were looked for.

    Raises:
        NotShownError: the evidence lists none.
    """
    seen = facts.record.packages
    environment = facts.snapshot.environment if not facts.live else None
    if seen is None and environment is not None:
        seen = {name: text for name, text in environment.versions.items() if text[:1].isdigit()}
    if seen is None:
        raise NotShownError("the installed packages", commands=("pip list", "accelhal env"))
    if facts.live and facts.torch is not None:
        return {**seen, "torch": facts.torch.version}
    return seen


def has_package(name: str, facts: Facts) -> bool:
    """Whether a package can be imported, as far as its distribution's name tells in evidence.

    Raises:
        NotShownError: the evidence lists no packages.
    """
    if facts.live:
        return facts.host.find_package(name) is not None
    return name in {one.replace("-", "_") for one in packages(facts)}


def components(spec: BackendSpec, facts: Facts, tables: CompatibilityTables) -> dict[str, str]:
    """What a vendor's tables can judge: component -> version as far as seen."""
    found: dict[str, str] = {}
    try:
        seen = packages(facts)
    except NotShownError:
        seen = {}
    for name, version in seen.items():
        if (component := name.replace("-", "_")) in tables.components:
            found[component] = version
    if "python" in tables.components:
        with suppress(NotShownError):  # left out: nothing is said of it
            found["python"] = facts.system.python
    return {**found, **facts.versions(spec.name)}


def tables_of(spec: BackendSpec) -> CompatibilityTables | None:
    """The vendor's compatibility tables, if its plugin has any."""
    return load_extension(spec, "compatibility", CompatibilityTables)


def sources_of(verdict: PairVerdict) -> Mapping[str, str]:
    """Where the rows that decided were read."""
    return {source.text: f"{source.strength.value}, {source.date}" for source in verdict.sources}
