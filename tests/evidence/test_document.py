"""A snapshot reads back as it was written, and nothing else reads as one."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from typing import Any

import pytest
from evidence.snapshots import SNAPSHOTS
from hypothesis import HealthCheck, given, settings, strategies as st

from accelhal.evidence.document import (
    SnapshotError,
    read_snapshot,
    recheck,
    redacted,
    write_snapshot,
)
from accelhal.evidence.snapshot import Snapshot
from accelhal.facts import (
    BoardInfo,
    BoardKey,
    BoardReading,
    BoardRelation,
    Evidence,
    HealthReport,
    HealthStatus,
    Link,
    Relation,
    Telemetry,
)
from accelhal.redaction import PrivateNames

heavy = settings(max_examples=50, suppress_health_check=list(HealthCheck))


@heavy
@given(SNAPSHOTS)
def test_round_trip(snapshot: Snapshot) -> None:
    assert repr(read_snapshot(write_snapshot(snapshot))) == repr(snapshot)


def whole() -> Snapshot:
    boards = [BoardInfo(BoardKey("toy", "uuid", n), "Toymaker", "Toy", "toy", "t") for n in "ab"]
    first = BoardReading(
        boards[0],
        telemetry=Telemetry(power=70.0, throttle_reasons=("hot",)),
        health=HealthReport(HealthStatus.OK),
        links=(Link("ToyLink", boards[1].key, errors={"crc": 1}),),
    )
    return Snapshot(
        taken="2026-01-01T00:00:00+00:00",
        evidence=(
            Evidence(
                "toy",
                "toy-smi",
                (first, BoardReading(boards[1])),
                (BoardRelation(0, 1, Relation.LINK),),
                {"driver": "1"},
            ),
        ),
    )


def changed(path: str, value: Any) -> str:
    document = json.loads(write_snapshot(whole()))
    place: Any = document
    *above, last = (int(key) if key.isdecimal() else key for key in path.split("."))
    for key in above:
        place = place[key]
    if value is LEFT_OUT:
        del place[last]
    else:
        place[last] = value
    return json.dumps(document)


LEFT_OUT = object()
BOARD = "evidence.0.boards.0"


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("evidence", 3, "evidence: 3 is not a list"),
        ("evidence", "toy", "evidence: 'toy' is not a list"),
        ("evidence.0", [], r"evidence\[0\]: \[\] is not a table"),
        ("evidence.0.backend", None, r"evidence\[0\].backend: None is not a text"),
        ("evidence.0.backend", LEFT_OUT, r"evidence\[0\].backend: it is missing"),
        ("evidence.0.versions", ["1"], r"evidence\[0\].versions: .* is not a table"),
        ("evidence.0.versions", {"driver": 1}, "versions.*: 1 is not a text"),
        ("evidence.0.relations.0.other", 2, "boards 0 and 2 of 2"),
        ("evidence.0.relations.0.one", 1, "boards 1 and 1 of 2"),
        ("evidence.0.relations.0.relation", "near", "relation: 'near' is none of board, link"),
        (f"{BOARD}.board.index", True, "board.index: True is not a whole number"),
        (f"{BOARD}.board.index", 1.5, "board.index: 1.5 is not a whole number"),
        (f"{BOARD}.board.key.source", "name", "key.source: 'name' is none of uuid, pci"),
        (f"{BOARD}.telemetry.power", "70", "telemetry.power: '70' is not a number"),
        (f"{BOARD}.telemetry.power", 10**400, "telemetry.power: 1000+ is not finite"),
        (f"{BOARD}.telemetry.throttle_reasons", "hot", "throttle_reasons: 'hot' is not a list"),
        (f"{BOARD}.health.status", "fine", "health.status: 'fine' is none of ok"),
        (f"{BOARD}.links.0.errors", {"crc": "1"}, "errors.*: '1' is not a whole number"),
        (f"{BOARD}.board", {}, r"board.key: it is missing \(and 4 more\)"),
        ("redacted", 1, "redacted: 1 is not true or false"),
        ("taken", "yesterday", "no ISO 8601 time"),
        ("schema", "accelhal.devices/1", "its schema is 'accelhal.devices/1'"),
        ("schema", None, "its schema is None"),
        ("schema", "accelhal.snapshot/0", "there is no schema"),
    ],
)
def test_a_wrong_field_is_named(path: str, value: Any, words: str) -> None:
    with pytest.raises(SnapshotError, match=words):
        read_snapshot(changed(path, value))


def test_a_newer_version_is_refused_with_both_named() -> None:
    with pytest.raises(SnapshotError, match=r"accelhal.snapshot/2.*accelhal.snapshot/1") as caught:
        read_snapshot(changed("schema", "accelhal.snapshot/2"))
    assert "update accelhal" in caught.value.hint


def test_fields_that_a_later_accelhal_adds_are_passed_over() -> None:
    assert read_snapshot(changed(f"{BOARD}.telemetry.colour", "red")) == whole()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"a": NaN}',
        '{"a": -Infinity}',
        "[" * 100_000,
        changed(f"{BOARD}.telemetry.power", 1).replace('"power": 1', '"power": 1e999'),
    ],
)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(SnapshotError):
        read_snapshot(text)


def test_numbers_that_are_none_are_not_written() -> None:
    snapshot = whole()
    reading = replace(snapshot.evidence[0].boards[0], telemetry=Telemetry(power=float("nan")))
    evidence = replace(snapshot.evidence[0], boards=(reading,), relations=())
    with pytest.raises(ValueError, match="Out of range"):
        write_snapshot(replace(snapshot, evidence=(evidence,)))


@pytest.mark.parametrize("power", [float("nan"), float("inf"), "70", True])
def test_a_fact_with_such_a_value_is_refused(power: Any) -> None:
    with pytest.raises(SnapshotError, match="power"):
        recheck(Telemetry(power=power))


@heavy
@given(SNAPSHOTS, st.data())
def test_a_document_with_any_value_changed_reads_or_is_refused(
    snapshot: Snapshot, data: st.DataObject
) -> None:
    document = json.loads(write_snapshot(snapshot))
    place: Any = document
    while isinstance(place, (dict, list)) and place:
        keys = list(place) if isinstance(place, dict) else range(len(place))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], (dict, list)) or not place[key] or data.draw(st.booleans()):
            place[key] = data.draw(st.sampled_from([None, 1, -1.5, "x", [], {}, [1], True]))
            break
        place = place[key]
    with contextlib.suppress(SnapshotError):
        read_snapshot(json.dumps(document))


@pytest.mark.parametrize("serial", ["unknown", "degraded", "logic-id", "visible-order", "Toymaker"])
def test_a_serial_that_is_a_word_of_the_document_spoils_nothing_else(serial: str) -> None:
    board = BoardInfo(
        BoardKey("toy", "logic-id", "0"), "Toymaker", "Toy", "toy", "t", serial=serial
    )
    reading = BoardReading(board, health=HealthReport(HealthStatus.UNKNOWN))
    taken = Snapshot(evidence=(Evidence("toy", "t", (reading,)),))
    found = redacted(taken, PrivateNames()).evidence[0].boards[0]
    assert found == replace(reading, board=replace(board, serial="<serial-1>"))
