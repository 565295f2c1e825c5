"""Versions that go together, as a plugin knows them: its extension "compatibility" and its file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from accelhal.facts.compatibility import (
    BuildTargets,
    Compatibility,
    Exclusion,
    KnownSet,
    PairVerdict,
)
from accelhal.facts.sources import Source
from accelhal.spi.table_files import only_known, read_sources, read_table, text, texts


@dataclass(frozen=True)
class CompatibilityTables:
    """The value of the extension "compatibility".

    Attributes:
        read: reads the rows.
        judge: component -> version, and axis -> name, as found in one place (the host, or a
            container) -> a verdict for every two that the vendor's rules speak of. What was not
            found is left out. It raises nothing for any text.
        components: what `judge` understands -> what is meant.
    """

    read: Callable[[], Compatibility]
    judge: Callable[[Mapping[str, str]], tuple[PairVerdict, ...]]
    components: Mapping[str, str]


def read_compatibility(path: Path) -> Compatibility:
    """The rows of a JSON file.

    It has "sources" (short name -> attributes of Source) and "sets" (table -> rows: a component
    with its ranges is what has none of the other names of a KnownSet's attributes), and may have
    "builds" and "exclusions" (rows of their attributes).

    Raises:
        UsageError: the file cannot be read, or an attribute is missing, unknown or of the wrong
            type.
    """
    return read_table(path, "compatibility rows", _parsed)


def _parsed(document: dict[str, Any]) -> Compatibility:
    only_known(document, ("sources", "sets", "builds", "exclusions"), "the file")
    sources = read_sources(document)
    return Compatibility(
        sets={
            table: tuple(_known_set(row, sources) for row in rows)
            for table, rows in document["sets"].items()
        },
        builds=tuple(_build(row, sources) for row in document.get("builds", ())),
        exclusions=tuple(_exclusion(row, sources) for row in document.get("exclusions", ())),
    )


def _known_set(row: dict[str, Any], sources: Mapping[str, Source]) -> KnownSet:
    enough, measured = row.get("enough", True), row.get("measured", False)
    if type(enough) is not bool or type(measured) is not bool:
        raise TypeError(f"enough is {enough!r}, measured is {measured!r}")
    versions = {
        component: texts(value, component)
        for component, value in row.items()
        if component not in _SET
    }
    if len(versions) < 2:
        raise ValueError(f"a set of one component: {row}")
    only = {axis: texts(names, axis) for axis, names in row.get("only", {}).items()}
    return KnownSet(
        versions=versions,
        only=only,
        enough=enough,
        measured=measured,
        source=sources[row["source"]],
    )


_SET = ("source", "only", "enough", "measured")
_BUILD = ("release", "build", "platform", "targets", "portable", "source")
_EXCLUSION = ("component", "versions", "axis", "names", "instead", "source")


def _build(row: dict[str, Any], sources: Mapping[str, Source]) -> BuildTargets:
    only_known(row, _BUILD, "a build")
    return BuildTargets(
        release=text(row, "release"),
        build=text(row, "build"),
        platform=text(row, "platform"),
        targets=texts(row["targets"], "targets"),
        portable=texts(row["portable"], "portable") if "portable" in row else (),
        source=sources[row["source"]],
    )


def _exclusion(row: dict[str, Any], sources: Mapping[str, Source]) -> Exclusion:
    only_known(row, _EXCLUSION, "an exclusion")
    return Exclusion(
        component=text(row, "component"),
        versions=texts(row["versions"], "versions"),
        axis=text(row, "axis"),
        names=texts(row["names"], "names"),
        instead=texts(row["instead"], "instead") if "instead" in row else (),
        source=sources[row["source"]],
    )
