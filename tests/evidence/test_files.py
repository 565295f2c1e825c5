"""Any mix of files is read into one look; what cannot be is told in one error or a line each."""

from __future__ import annotations

import io
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from evidence.toy_tool import READERS, page, rows, toy_backend, uuid
from hypothesis import given, strategies as st

from accelhal.errors import AccelhalWarning, UsageError
from accelhal.evidence import files
from accelhal.evidence.boards import UNTOLD, readings, topology
from accelhal.evidence.document import write_snapshot
from accelhal.evidence.environment import BusBoard, Environment
from accelhal.evidence.files import Collected, evidence_readers, read_files
from accelhal.evidence.snapshot import Snapshot
from accelhal.facts import (
    BoardInfo,
    BoardKey,
    BoardReading,
    BoardRelation,
    Evidence,
    HostFacts,
    Link,
    Relation,
)
from accelhal.registry import backends, register


def write(folder: Path, name: str, text: str | bytes) -> str:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def read(*paths: str) -> Collected:
    return read_files(paths, READERS)


def board(number: int, **names: object) -> BoardReading:
    key = BoardKey("toy", "uuid", uuid(number))
    return BoardReading(BoardInfo(key, "Toymaker", "", "toy", "toys", uuid=uuid(number), **names))


HOST = HostFacts("Linux", "6.1", "x86_64", "3.12", "Toy CPU", 8, 1 << 30, None, "bare")
SNAPSHOT = Snapshot(
    taken="2026-01-01T00:00:00+00:00",
    accelhal="0.1.0",
    host=HOST,
    environment=Environment(
        boards=(BusBoard("0000:40:00.0", "Other", "1234:0001", None, 1, None),)
    ),
    evidence=(
        Evidence(
            "toy", "toys", (board(0), board(1)), (BoardRelation(0, 1, Relation.PIX),), notes=("n",)
        ),
    ),
)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_every_form_of_text(tmp_path: Path, encoding: str, ending: str) -> None:
    text = page(*rows(0, 1)).replace("\n", ending)
    found = read(write(tmp_path, "a.txt", text.encode(encoding)))
    assert [r.board.index for r in readings(found.snapshot)] == [0, 1]
    assert found.unread == ()


def test_a_snapshot_and_captures_are_one_look(tmp_path: Path) -> None:
    snapshot = write(tmp_path, "s.json", write_snapshot(SNAPSHOT))
    capture = write(tmp_path, "a.txt", "of today\n" + page(*rows(1, 2)))
    found = read(snapshot, capture)
    shown = readings(found.snapshot)
    assert [r.board.uuid for r in shown] == [uuid(0), uuid(1), uuid(2), None]
    assert shown[1].telemetry.temperature == 41
    assert (shown[1].board.name, shown[3].board.backend) == ("Toy 1", None)
    assert (found.snapshot.taken, found.snapshot.host) == (SNAPSHOT.taken, HOST)
    assert topology(found.snapshot).relation(0, 1) is Relation.PIX
    assert topology(found.snapshot).unknown == UNTOLD
    assert [str(u) for u in found.unread] == [
        f"{capture}, line 1: of no tool known here: 'of today'"
    ]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(page(*rows(0)).encode())))
    assert len(readings(read("-", "-").snapshot)) == 1


def test_a_section_that_contradicts_is_refused_and_the_rest_stands(tmp_path: Path) -> None:
    good = write(tmp_path, "a.txt", page(*rows(0, 1)))
    other = write(tmp_path, "b.txt", page(f"0 0000:10:00.0 {uuid(7)} 40") + page(*rows(2)))
    found = read(good, other)
    assert [r.board.index for r in readings(found.snapshot)] == [0, 1, 2]
    (refused,) = found.unread
    assert str(refused).startswith(f"{other}, lines 1 to 3: toy-smi contradicts what was read")
    assert "another uuid" in refused.reason


def test_a_look_that_names_boards_in_another_way_waits_for_one_that_joins(tmp_path: Path) -> None:
    addresses = write(tmp_path, "a.txt", page("- 0000:10:00.0 - 40"))
    numbers = write(tmp_path, "b.txt", page(f"0 - {uuid(0)} -"))
    both = write(tmp_path, "c.txt", page(f"- 0000:10:00.0 {uuid(0)} -"))
    (shown,) = readings(read(addresses, numbers, both).snapshot)
    assert (shown.board.pci, shown.board.index) == ("0000:10:00.0", 0)
    refused = read(addresses, numbers)
    assert len(readings(refused.snapshot)) == 1
    assert "which is which is not known" in refused.unread[0].reason


def test_a_snapshot_of_another_host_is_refused(tmp_path: Path) -> None:
    one = write(tmp_path, "a.json", write_snapshot(SNAPSHOT))
    host = replace(HOST, cpu_model="Another CPU")
    other = write(tmp_path, "b.json", write_snapshot(replace(SNAPSHOT, host=host)))
    found = read(one, other)
    assert len(readings(found.snapshot)) == 3
    assert "another host" in found.unread[0].reason


def test_links_are_near_whoever_tells_of_them() -> None:
    key = board(1).board.key
    linked = replace(board(0), links=(Link("ToyLink", key, True),))
    evidence = Evidence("toy", "toys", (linked, board(1)), (BoardRelation(0, 1, Relation.SYS),))
    assert topology(Snapshot(evidence=(evidence,))).relation(0, 1) is Relation.LINK


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.txt", b"\xff\xfe\x00\xd8", "is no text"),
        ("a.txt", b"toy\xb0\xc1", "its byte 3 is not utf-8"),
        ("a.txt", b"\x7fELF\0\0", "zero bytes"),
        ("a.json", b'{"schema": "accelhal.snapshot/2"}', "update accelhal"),
        ("a.json", b'{"schema":"accelhal.snapshot/1",', "no JSON"),
        ("a.json", b'{"schema": "accelhal.devices/1"}', "not accelhal.snapshot/1"),
        ("a.json", b'{"schema": "accelhal.snapshot/1", "notes": 1}', "notes: 1 is not a list"),
        ("a.txt", b"hello", "nothing in .*is known here(.|\n)*of no tool(.|\n)*toy-smi"),
        ("a.txt", b"", "nothing in .*is known here"),
    ],
)
def test_one_error_names_file_and_reason(
    tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    path = write(tmp_path, name, content)
    with pytest.raises(UsageError, match=words) as caught:
        read(path)
    assert path in caught.value.message
    assert caught.value.hint


def test_files_that_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGEST", 64)
    large = write(tmp_path, "large.txt", page(*rows(0, 1)))
    for path, words in (
        (str(tmp_path), "it is a folder"),
        (str(tmp_path / "absent"), "there is no such file"),
        (large, "larger than"),
        ("a\0b", "null byte"),
    ):
        with pytest.raises(UsageError, match=words):
            read(path)


@pytest.mark.usefixtures("fresh_registry")
def test_readers_are_the_installed_plugins() -> None:
    with register(toy_backend()):
        assert READERS[0] in evidence_readers(backends())


@pytest.mark.usefixtures("fresh_registry")
@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("no_such_module:READERS", "no_such_module"),
        ("evidence.toy_tool:READER", "EvidenceReader where tuple is due"),
        ("evidence.toy_tool:STRANGE_READERS", "'toy-smi', which is no reader"),
    ],
)
def test_readers_that_do_not_load_are_warned_of(location: str, words: str) -> None:
    with register(toy_backend(location)), pytest.warns(AccelhalWarning, match=words):
        evidence_readers(backends())


@given(
    st.binary(max_size=200)
    | st.text(max_size=200).map(lambda text: b"{" + text.encode("utf-8", "replace"))
)
def test_any_bytes_are_read_or_refused_in_words(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = write(tmp_path_factory.mktemp("any"), "a.txt", content)
    with pytest.raises(UsageError, match=r"cannot be read|is known here"):
        read(path)


UNAME = "Linux node7 {} #1 SMP x86_64 GNU/Linux\n"
STARTED = "BOOT_IMAGE=/vmlinuz root=/dev/sda1 {}\n"


@pytest.mark.parametrize("line", [UNAME, STARTED])
def test_a_page_of_another_start_is_told_and_not_read(tmp_path: Path, line: str) -> None:
    one, other = (
        write(tmp_path, "a", line.format("5.15.0")),
        write(tmp_path, "b", line.format("6.8.0")),
    )
    found = read(one, other)
    assert found.snapshot.record == read(one).snapshot.record
    (unread,) = found.unread
    assert (unread.file, unread.line, unread.count) == (other, 1, 1)
    assert "contradicts" in unread.reason
    assert "6.8.0" in unread.reason


@pytest.mark.parametrize("line", [UNAME, STARTED])
def test_the_same_page_twice_is_no_contradiction(tmp_path: Path, line: str) -> None:
    text = line.format("5.15.0")
    assert read(write(tmp_path, "a", text), write(tmp_path, "b", text)).unread == ()
