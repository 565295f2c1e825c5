"""--from: the boards of files in the place of this host's, for every command that lists boards."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from evidence.toy_tool import page, rows, toy_backend, uuid

from accelhal.cli.evidence_option import _one_by_one
from accelhal.cli.exit_codes import ExitCode
from accelhal.cli.main import cli
from accelhal.evidence.document import write_snapshot
from accelhal.evidence.environment import Environment, ListedBackend
from accelhal.evidence.snapshot import Snapshot
from accelhal.facts import (
    BoardInfo,
    BoardKey,
    BoardReading,
    BoardRelation,
    Evidence,
    HealthReport,
    HealthStatus,
    ProbeStatus,
    Relation,
)
from accelhal.registry import register

pytestmark = pytest.mark.usefixtures("fresh_registry")


@pytest.fixture(autouse=True)
def toy(fresh_registry: None) -> Iterator[None]:
    with register(toy_backend()):
        yield


@pytest.fixture
def captures(tmp_path: Path) -> list[str]:
    for number in range(2):
        (tmp_path / f"{number}.txt").write_text("Tue Jan  6 2026\n" + page(*rows(number)))
    return [str(tmp_path / f"{number}.txt") for number in range(2)]


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


@pytest.mark.parametrize(
    "form",
    [
        ["--from", "{0}", "{1}", "--json"],
        ["--json", "--from", "{0}", "{1}"],
        ["--from", "{0}", "--from", "{1}", "--json"],
        ["--from", "{0}", "--json", "--from", "{1}"],
        ["--from={0}", "{1}", "--json"],
    ],
)
def test_files_after_one_from_or_after_several(captures: list[str], form: list[str]) -> None:
    arguments = [argument.format(*captures) for argument in form]
    result = invoke("devices", *arguments)
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    assert [board["index"] for board in document["boards"]] == [0, 1]
    assert document["evidence"]["files"] == captures


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        (["a", "--from", "b", "-", "c", "-x", "d"], "a --from b --from - --from c -x d"),
        (["--from", "--", "b"], "--from -- b"),
        (["--from", "a", "--", "b"], "--from a -- b"),
    ],
)
def test_what_follows_another_option_is_no_file(given: list[str], taken: str) -> None:
    assert " ".join(_one_by_one(given)) == taken


def test_without_a_file_it_is_wrong_usage(captures: list[str]) -> None:
    assert invoke("devices", "--from").exit_code == ExitCode.USAGE
    assert invoke("devices", captures[0]).exit_code == ExitCode.USAGE
    absent = invoke("devices", "--from", "absent.txt")
    assert absent.exit_code == ExitCode.USAGE
    assert "absent.txt cannot be read: there is no such file" in absent.stderr


def test_the_table_says_that_it_is_evidence_and_what_was_seen(captures: list[str]) -> None:
    result = invoke("devices", "--from", *captures)
    assert result.stdout.startswith("Evidence, not this host: ")
    words = result.stdout.split()
    for word in ("0000:11:00.0", "Toy", "41", "Temp."):
        assert word in words
    assert "Power" not in words
    assert "accelhal: not read: " in result.stderr
    assert "'Tue Jan  6 2026'" in result.stderr


def test_figures_that_do_not_fit_beside_the_boards_stand_below_them(
    snapshot: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wide = invoke("devices", "--from", snapshot).stdout
    assert len([line for line in wide.splitlines() if "toy 0" in line]) == 1
    monkeypatch.setenv("COLUMNS", "60")
    narrow = invoke("devices", "--from", snapshot).stdout.splitlines()
    assert max(map(len, narrow)) <= 60
    boards, figures = (line.split() for line in narrow if line.startswith("Board"))
    assert boards == ["Board", "Vendor", "Device", "Memory", "Driver", "NUMA", "Backend"]
    assert figures == ["Board", "Health"]
    assert [line.split() for line in narrow[-3:]] == [["toy", str(n), "degraded"] for n in range(3)]


def test_what_was_not_read_is_a_few_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("".join(f"line {n}\n{page(*rows(n))}" for n in range(9)))
    told = invoke("devices", "--from", str(path)).stderr.splitlines()
    assert len(told) == 6
    assert told[-1] == "accelhal: not read: 4 more"


def test_json_has_the_keys_of_live_boards_and_real_identities(captures: list[str]) -> None:
    document = json.loads(invoke("devices", "--from", *captures, "--json").stdout)
    live = json.loads(invoke("devices", "--json").stdout)
    assert set(live) <= set(document)
    assert document["schema"] == live["schema"]
    first = document["boards"][0]
    assert (first["uuid"], first["temperature"], first["power"]) == (uuid(0), 40.0, None)
    assert document["evidence"]["sources"] == {"toy": "toy-smi"}
    assert document["evidence"]["unread"][0] == {
        "file": captures[0],
        "line": 1,
        "count": 1,
        "reason": "of no tool known here: 'Tue Jan  6 2026'",
    }


def board(number: int) -> BoardReading:
    key = BoardKey("toy", "uuid", uuid(number))
    info = BoardInfo(
        key, "Toymaker", "Toy 1", "toy", "toys", number, uuid(number), numa_node=number // 2
    )
    return BoardReading(info, health=HealthReport(HealthStatus.DEGRADED))


@pytest.fixture
def snapshot(tmp_path: Path) -> str:
    listed = ListedBackend("toy", "accelhal-toy", "1", "1.1", ProbeStatus.AVAILABLE, 2, "is here")
    taken = Snapshot(
        taken="2026-01-01T00:00:00+00:00",
        environment=Environment(backends=(listed,)),
        evidence=(
            Evidence(
                "toy",
                "toys",
                tuple(map(board, range(3))),
                (BoardRelation(0, 1, Relation.PIX), BoardRelation(1, 2, Relation.SYS)),
            ),
        ),
        notes=("toy: health of 1 of 3 boards not read: it hangs",),
    )
    path = tmp_path / "s.json"
    path.write_text(write_snapshot(taken))
    return str(path)


def test_a_snapshot_has_backends_and_devices_too(snapshot: str) -> None:
    result = invoke("devices", "--from", snapshot, "--json")
    document = json.loads(result.stdout)
    assert document["backends"][0]["status"] == "available"
    assert [device["name"] for device in document["devices"]] == ["toy:0", "toy:1"]
    assert document["boards"][0]["health"] == "degraded"
    assert "it hangs" in result.stderr
    table = invoke("devices", "--from", snapshot).stdout
    assert "taken 2026-01-01T00:00:00+00:00" in table
    assert "degraded" in table
    assert "toy 0" in table


def test_the_matrix_of_a_snapshot(snapshot: str) -> None:
    document = json.loads(invoke("topo", "--from", snapshot, "--json").stdout)
    assert document["matrix"] == [
        ["board", "pix", None],
        ["pix", "board", "sys"],
        [None, "sys", "board"],
    ]
    assert document["evidence"]["files"] == [snapshot]
    table = invoke("topo", "--from", snapshot).stdout
    assert table.startswith("Evidence, not this host: ")
    assert "?     the evidence does not say" in table
    assert "\nPIX   one PCIe switch\n" in table
    assert "BOARD" not in table


def test_a_plot_of_it(snapshot: str, tmp_path: Path) -> None:
    plot = tmp_path / "topo.svg"
    assert invoke("topo", "--from", snapshot, "--plot", str(plot)).exit_code == 0
    assert "3 boards" in plot.read_text() or plot.stat().st_size > 1000
    wrong = invoke("topo", "--from", snapshot, "--plot", str(tmp_path / "topo.docx"))
    assert wrong.exit_code == ExitCode.USAGE
    assert "image format" in wrong.stderr


def test_an_empty_snapshot(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text(write_snapshot(Snapshot(taken="2026-01-01T00:00:00+00:00")))
    for command in ("devices", "topo"):
        result = invoke(command, "--from", str(path))
        assert result.exit_code == 0
        assert "No accelerator board is shown." in result.stdout


@pytest.mark.parametrize("after", [(), ("--json",)])
def test_an_option_without_a_file_says_what_it_needs(after: tuple[str, ...]) -> None:
    result = invoke("devices", "--from", *after)
    assert result.exit_code == ExitCode.USAGE
    assert "--from needs a file" in result.output
    assert "--from FILE..." in result.output
