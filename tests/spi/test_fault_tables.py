"""Files of faults: what is taken, what is refused in words, and how a code is found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from accelhal.errors import UsageError
from accelhal.facts.faults import Fault, FaultAction, FaultSeverity
from accelhal.facts.sources import Source, Strength
from accelhal.spi.fault_tables import FaultFamily, FaultTable, read_faults

SOURCES = {"page": {"text": "a page", "date": "2026-11", "strength": "vendor document"}}
LEAST = {"code": "7", "meaning": "it broke", "severity": "error", "action": "reset"}


def read(folder: Path, *faults: dict[str, Any], **family: Any) -> FaultTable:
    whole = {"family": "alarm", "source": "page", "faults": list(faults), **family}
    return read_whole(folder, families=[whole])


def read_whole(folder: Path, **document: Any) -> FaultTable:
    path = folder / "faults.json"
    path.write_text(json.dumps({"sources": SOURCES, **document}))
    return read_faults(path)


def test_a_fault_is_taken_as_it_stands(tmp_path: Path) -> None:
    table = read(tmp_path, {**LEAST, "name": "BROKEN", "follow_up": "replace it"})
    assert table.faults == (
        Fault(
            family="alarm",
            code="7",
            name="BROKEN",
            meaning="it broke",
            severity=FaultSeverity.ERROR,
            action=FaultAction.RESET,
            follow_up="replace it",
            source=Source("a page", "2026-11", Strength.VENDOR_DOCUMENT),
        ),
    )


def test_a_class_gives_what_a_row_leaves_out(tmp_path: Path) -> None:
    grave = {"meaning": "grave", "severity": "fatal", "action": "rma"}
    rows = {"codes": ["1", "2"], "class": "grave"}, {"code": "3", "class": "grave", "meaning": "x"}
    table = read(tmp_path, *rows, classes={"grave": grave})
    assert [(one.code, one.meaning, one.action.value) for one in table.faults] == [
        ("1", "grave", "rma"),
        ("2", "grave", "rma"),
        ("3", "x", "rma"),
    ]


@pytest.mark.parametrize("code", [79, "79", " 79 ", "0x4f", "0X4F", "Fell_Off"])
def test_a_code_is_found_in_any_spelling(tmp_path: Path, code: int | str) -> None:
    found = read(tmp_path, {**LEAST, "code": "79", "name": "FELL_OFF"}).find("alarm", code)
    assert found is not None
    assert found.code == "79"


@pytest.mark.parametrize("code", [0x80E18402, "0x80E18402", "80e18402"])
def test_a_hexadecimal_code_needs_no_mark(tmp_path: Path, code: int | str) -> None:
    table = read(tmp_path, {**LEAST, "code": "0x80E18402"}, hexadecimal=True)
    found = table.find("alarm", code)
    assert found is not None
    assert found.code == "0x80E18402"


def test_a_code_without_a_row_is_none_or_of_its_class(tmp_path: Path) -> None:
    assert read(tmp_path, LEAST).find("alarm", 8) is None
    assert read(tmp_path, LEAST).find("alarm", "") is None
    assert read(tmp_path, LEAST).find("other", 7) is None
    new = {"meaning": "new", "severity": "warning", "action": "collect"}
    table = read(tmp_path, LEAST, classes={"unlisted": new, "Fatal": {**new, "severity": "fatal"}})
    found, fatal = table.find("alarm", 8), table.find("alarm", 8, "Fatal")
    assert found is not None
    assert fatal is not None
    assert (found.code, found.listed, found.severity) == ("8", False, FaultSeverity.WARNING)
    assert fatal.severity is FaultSeverity.FATAL
    assert table.find("alarm", 8, "Mild") is None


@given(st.one_of(st.integers(), st.text()), st.booleans())
def test_any_code_may_be_asked_for(code: int | str, hexadecimal: bool) -> None:
    table = FaultTable((), {"alarm": FaultFamily("alarm", hexadecimal, {})})
    assert table.find("alarm", code) is None


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"severity": "bad"}, "alarm 7: 'bad'"),
        ({"action": "pray"}, "alarm 7: 'pray'"),
        ({"source": "book"}, "alarm 7: 'book'"),
        ({"meaning": 3}, "alarm 7: meaning is 3"),
        ({"code": 7}, "codes is 7"),
        ({"class": "none"}, "alarm has no class 'none'"),
        ({"cause": "x"}, "unknown cause"),
    ],
)
def test_a_wrong_attribute_is_named(tmp_path: Path, row: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=f"faults.json is no file of faults: .*{says}"):
        read(tmp_path, {**LEAST, **row})


@pytest.mark.parametrize("again", ["7", "0x7", "07"])
def test_a_code_given_twice_is_refused(tmp_path: Path, again: str) -> None:
    with pytest.raises(UsageError, match=f"alarm {again} is given twice"):
        read(tmp_path, LEAST, {**LEAST, "code": again})


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ({"family": "none", "pattern": "(?P<code>1)"}, "'none', which is no family"),
        ({"family": "alarm", "pattern": "x"}, "finds no code"),
        ({"family": "alarm", "pattern": "("}, "unterminated|missing"),
    ],
)
def test_a_wrong_pattern_is_named(tmp_path: Path, pattern: dict[str, str], says: str) -> None:
    family = {"family": "alarm", "source": "page", "faults": [LEAST]}
    with pytest.raises(UsageError, match=says):
        read_whole(tmp_path, families=[family], log_patterns=[{"needle": "x", **pattern}])
