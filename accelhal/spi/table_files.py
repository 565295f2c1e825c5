"""Reading a plugin's JSON table strictly: rows with sources, each attribute known and typed."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar

from accelhal.errors import UsageError, described
from accelhal.facts.sources import Source, Strength

T = TypeVar("T")


def read_table(path: Path, kind: str, parse: Callable[[dict[str, Any]], T]) -> T:
    """What `parse` makes of a JSON file.

    Raises:
        UsageError: the file cannot be read, or an attribute is missing, unknown or of the wrong
            type.
    """
    try:
        return parse(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(
            f"{path} is no file of {kind}: {described(error)}",
            operation=f"read {kind}",
            hint="its attributes are those of accelhal.facts",
        ) from error


def read_sources(document: Mapping[str, Any]) -> dict[str, Source]:
    """The sources of a file, by the short name under which its rows give them."""
    return {key: _source(key, row) for key, row in document["sources"].items()}


def only_known(row: Mapping[str, Any], known: Collection[str], what: str) -> None:
    """Raise a ValueError that names what a row has and should not."""
    unknown = sorted(set(row) - set(known))
    if unknown:
        raise ValueError(f"{what} has unknown {', '.join(unknown)}")


def text(row: Mapping[str, Any], name: str, default: str | None = None) -> str:
    """A text of a row, which must have it where there is no default."""
    value = row[name] if default is None else row.get(name, default)
    if type(value) is not str:
        raise TypeError(f"{name} is {value!r}, not text")
    return value


def texts(value: Any, what: str) -> tuple[str, ...]:
    """One text, or a list of one or more."""
    found = [value] if type(value) is str else value
    if type(found) is not list or not found or any(type(one) is not str for one in found):
        raise TypeError(f"{what} is {value!r}, not a text or a list of texts")
    return tuple(found)


def _source(key: str, row: dict[str, Any]) -> Source:
    only_known(row, ("text", "date", "strength"), f"source {key!r}")
    found = Source(text(row, "text"), text(row, "date"), Strength(row["strength"]))
    if not (found.text and found.date):
        raise ValueError(f"source {key!r} is empty")
    return found
