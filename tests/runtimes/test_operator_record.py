"""Records of operators as files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from accelhal.errors import UsageError
from accelhal.runtimes.operator_record import (
    OperatorRecord,
    read_record,
    read_records,
    record_text,
)

WORDS = st.from_regex(r"[a-z_][a-zA-Z0-9_]{0,8}", fullmatch=True)
OPERATORS = st.builds(
    lambda namespace, name, overload: f"{namespace}::{name}" + (f".{overload}" if overload else ""),
    WORDS,
    WORDS,
    st.none() | WORDS.filter(lambda word: word != "default"),
)
RECORDS = st.builds(
    OperatorRecord,
    package=WORDS,
    version=st.text(max_size=9),
    torch=st.text(max_size=9),
    source=st.text(max_size=9),
    fallback=st.booleans(),
    kernels=st.frozensets(OPERATORS, max_size=9),
    conditional=st.frozensets(OPERATORS, max_size=3),
)


@given(record=RECORDS)
def test_what_is_written_is_read_again(
    record: OperatorRecord, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("record") / "record.json"
    file.write_text(record_text(record), encoding="utf-8")
    assert read_record(file) == record


def test_an_operator_a_line() -> None:
    record = OperatorRecord(
        "torch", "2.13.0", "2.13.0", "a test", False, frozenset({"aten::add.out", "aten::add"})
    )
    assert '      "add": "default out"' in record_text(record).splitlines()


@pytest.mark.parametrize(
    "change",
    [
        {"kernels": None},
        {"kernels": {"aten": ["add"]}},
        {"kernels": {"aten": {"add": 1}}},
        {"fallback": "yes"},
        {"version": 2},
    ],
)
def test_what_is_no_record_is_refused(change: dict[str, object], tmp_path: Path) -> None:
    good = OperatorRecord("torch", "1", "1", "a test", False, frozenset({"aten::add"}))
    file = tmp_path / "record.json"
    file.write_text(json.dumps({**json.loads(record_text(good)), **change}))
    with pytest.raises(UsageError, match="is not a record of operators"):
        read_record(file)


@pytest.mark.parametrize("text", [None, "", "[]", "{", "{}", "\udcff"])
def test_other_files_are_refused(text: str | None, tmp_path: Path) -> None:
    file = tmp_path / "record.json"
    if text is not None:
        file.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(UsageError, match=r"record\.json is not a record of operators"):
        read_record(file)


def test_records_of_a_folder_are_read_newest_first(tmp_path: Path) -> None:
    for version in ("2.9.0", "2.13.0", "2.13.0.post2"):
        record = OperatorRecord("fake", version, "2.13.0", "a test", False, frozenset())
        (tmp_path / f"fake-{version}.json").write_text(record_text(record))
    (tmp_path / "README.md").write_text("no record")
    found = [record.version for record in read_records(tmp_path)]
    assert found == ["2.13.0.post2", "2.13.0", "2.9.0"]
    assert read_records(tmp_path / "nowhere") == ()
