"""Files of compatibility rows: what is taken, and what is refused in words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from accelhal.errors import UsageError
from accelhal.facts.compatibility import Compatibility
from accelhal.facts.sources import Source, Strength
from accelhal.spi.compatibility_tables import read_compatibility

SOURCES = {"page": {"text": "a page", "date": "2026-11", "strength": "vendor document"}}
BUILD = {"release": "2.9", "build": "one", "platform": "x86_64", "targets": ["a"], "source": "page"}


def read(folder: Path, **document: Any) -> Compatibility:
    path = folder / "compatibility.json"
    path.write_text(json.dumps({"sources": SOURCES, "sets": {}, **document}))
    return read_compatibility(path)


def test_rows_are_taken_as_they_stand(tmp_path: Path) -> None:
    rows = read(
        tmp_path,
        sets={"pairs": [{"kit": "1", "driver": ["2", "3"], "enough": False, "source": "page"}]},
        builds=[{**BUILD, "portable": "b"}],
        exclusions=[
            {"component": "kit", "versions": "*", "axis": "soc", "names": "x", "source": "page"}
        ],
    )
    [pair] = rows.sets["pairs"]
    assert pair.versions == {"kit": ("1",), "driver": ("2", "3")}
    assert (pair.enough, pair.measured) == (False, False)
    assert pair.source == Source("a page", "2026-11", Strength.VENDOR_DOCUMENT)
    assert (rows.builds[0].targets, rows.builds[0].portable) == (("a",), ("b",))
    assert (rows.exclusions[0].names, rows.exclusions[0].instead) == (("x",), ())


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({"sets": {"p": [{"kit": "1", "driver": "2"}]}}, "source"),
        ({"sets": {"p": [{"kit": "1", "driver": "2", "source": "book"}]}}, "book"),
        ({"sets": {"p": [{"kit": "1", "source": "page"}]}}, "a set of one component"),
        ({"sets": {"p": [{"kit": 1, "driver": "2", "source": "page"}]}}, "kit is 1"),
        ({"sets": {"p": [{"kit": [], "driver": "2", "source": "page"}]}}, r"kit is \[\]"),
        ({"sets": {"p": [{"kit": "1", "driver": "2", "enough": 1, "source": "page"}]}}, "enough"),
        ({"sources": {"page": {"text": "", "date": "x", "strength": "vendor document"}}}, "empty"),
        ({"sources": {"page": {"text": "a", "date": "x", "strength": "rumour"}}}, "rumour"),
        ({"builds": [{**BUILD, "colour": "red"}]}, "colour"),
        ({"exclusions": [{"component": "kit"}]}, "versions"),
        ({"pairs": []}, "pairs"),
    ],
)
def test_a_wrong_row_is_named(tmp_path: Path, document: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=f"compatibility.json is no file of .*{says}"):
        read(tmp_path, **document)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="FileNotFoundError"):
        read_compatibility(tmp_path / "none.json")
