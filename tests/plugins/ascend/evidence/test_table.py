"""The table of `npu-smi info`: every layout, and what stands in a cell instead of a figure."""

from __future__ import annotations

import pytest
from accelhal_ascend.evidence import READERS
from captured_samples import npu_smi
from captured_samples.npu_smi import chip, table
from captured_samples.reading import only, read, refusal

from accelhal.facts import BoardKey, HealthStatus, ProcessMemory

MB = 1 << 20


def test_two_rows_are_a_chip() -> None:
    found = only(READERS, npu_smi.TWO)
    assert (found.backend, found.source) == ("npu", "npu-smi info")
    assert found.versions == {"tool": "99.1.rc1", "driver": "99.2.0"}
    one, two = found.boards
    assert (one.board.name, one.board.index, one.board.pci) == ("910B9", 0, "0000:10:00.0")
    assert one.board.key == BoardKey("npu", "logic-id", "0")
    assert one.board.tool_id == "0.0"
    assert one.board.total_memory == 65536 * MB
    assert one.telemetry is not None
    assert (one.telemetry.temperature, one.telemetry.power) == (43, 101.8)
    assert (one.telemetry.utilization, one.telemetry.memory_used) == (7, 3318 * MB)
    assert two.telemetry is not None
    assert (two.telemetry.memory_used, two.telemetry.memory_total) == (28220 * MB, 32768 * MB)


@pytest.mark.parametrize(
    ("word", "status", "value"),
    [
        ("OK", HealthStatus.OK, "normal"),
        ("Warning", HealthStatus.DEGRADED, "minor alarm"),
        ("Alarm", HealthStatus.FAILED, "major alarm"),
        ("Critical", HealthStatus.FAILED, "critical alarm"),
        ("UNKNOWN", HealthStatus.FAILED, "missing"),
        ("Fine", HealthStatus.UNKNOWN, None),
        ("NA", HealthStatus.UNKNOWN, None),
    ],
)
def test_health_is_the_drivers_verdict(word: str, status: HealthStatus, value: str | None) -> None:
    (board,) = only(READERS, table(*chip(0, health=word))).boards
    assert board.health is not None
    assert board.health.status is status
    assert board.health.checks[0].value == value


def test_cards_with_gaps_have_numbers_that_only_the_mapping_tells() -> None:
    found = only(READERS, table(*chip(4), *chip(6))).boards
    assert [board.board.index for board in found] == [None, None]
    assert [board.board.tool_id for board in found] == ["4.0", "6.0"]
    assert found[0].board.key == BoardKey("npu", "pci", "0000:14:00.0")


def test_a3_has_two_chips_a_card_and_tells_their_files() -> None:
    one, two = only(READERS, npu_smi.A3).boards
    assert [board.board.tool_id for board in (one, two)] == ["6.0", "6.1"]
    assert [board.board.index for board in (one, two)] == [None, None]
    assert one.details is not None
    assert two.details is not None
    assert (one.details.node, two.details.node) == (12, 13)
    assert two.telemetry is not None
    assert two.telemetry.power is None
    assert two.telemetry.reasons["power"].startswith("the tool prints '-': it is the card's")


def test_the_processes_below_the_table_are_the_chips() -> None:
    one, two = only(READERS, npu_smi.A3).boards
    assert one.processes == ()
    assert two.processes == (ProcessMemory(10001, 7746 * MB),)


def test_a_card_that_the_processes_leave_out_was_not_looked_at() -> None:
    lines = npu_smi.A950.splitlines()
    cut = [line for line in lines if "NPU 0 " not in line]
    one, two = only(READERS, "\n".join(cut)).boards
    assert one.processes is None
    assert two.processes == (ProcessMemory(30003, 39852 * MB),)


def test_a_damaged_list_of_processes_leaves_the_chips() -> None:
    damaged = npu_smi.A3.replace("10001", "10x01")
    found = read(READERS, damaged)
    assert [board.processes for board in found.sections[0].evidence.boards] == [None, None]
    assert found.unread[0].reason == "npu-smi info: the process's numbers cannot be read"


def test_the_old_layout_numbers_devices_as_the_driver_does() -> None:
    found = only(READERS, npu_smi.OLD)
    one, two = found.boards
    assert found.versions == {}
    assert [board.board.index for board in (one, two)] == [0, 1]
    assert [board.board.tool_id for board in (one, two)] == ["3.0", "5.0"]
    assert one.telemetry is not None
    assert one.telemetry.power is None
    assert one.telemetry.reasons["power"] == "the tool prints 'NA'"
    assert one.telemetry.memory_used == 1074 * MB
    assert two.board.pci is None
    assert two.telemetry is not None
    assert (two.telemetry.memory_used, two.telemetry.memory_total) == (None, 21534 * MB)


def test_the_wide_frame_of_later_releases() -> None:
    found = only(READERS, npu_smi.WIDE)
    (board,) = found.boards
    assert found.versions["driver"] == "26.9.rc1"
    assert board.board.pci == "0000:c1:00.0"
    assert board.processes == (ProcessMemory(20002, 512 * MB),)


def test_the_950_has_no_cards_and_its_numbers_are_the_drivers() -> None:
    one, two = only(READERS, npu_smi.A950).boards
    assert [board.board.index for board in (one, two)] == [0, 2]
    assert (one.board.pci, two.board.pci) == (None, "0000:71:00.0")
    assert one.board.name == ""  # masked
    assert two.board.name == "Ascend950ZZ"
    assert one.telemetry is not None
    assert one.telemetry.utilization == 11
    assert one.processes == ()


def test_what_stands_before_the_table_is_named() -> None:
    found = read(READERS, "DrvMngGetConsoleLogLevel failed. (ret=4)\n" + npu_smi.TWO)
    assert len(found.sections) == 1
    assert [unread.line for unread in found.unread] == [1]


@pytest.mark.parametrize("name", ["xxx", "910XX", "-"])
def test_a_masked_name_is_none(name: str) -> None:
    (board,) = only(READERS, table(*chip(0, name=name))).boards
    assert board.board.name == ""


@pytest.mark.parametrize(
    ("row", "field", "reason"),
    [
        ({"temperature": "999"}, "temperature", "999"),
        ({"temperature": "-"}, "temperature", "'-'"),
        ({"power": "NA"}, "power", "'NA'"),
        ({"power": "1e3"}, "power", "'1e3'"),
        ({"load": "101"}, "utilization", "101"),
        ({"memory": "70000/ 65536"}, "memory_used", "70000 MB used of 65536"),
        ({"memory": "NA / 65536"}, "memory_used", "'NA'"),
        ({"memory": "3318 / xxxxx"}, "memory_total", "'xxxxx'"),
    ],
)
def test_no_value_is_invented(row: dict[str, str], field: str, reason: str) -> None:
    (board,) = only(READERS, table(*chip(0, **row))).boards
    assert board.telemetry is not None
    assert getattr(board.telemetry, field) is None
    assert reason in board.telemetry.reasons[field]


def test_memory_is_ddr_where_there_is_no_hbm() -> None:
    text = table(*chip(0, memory="0    / 0")).replace(
        "7           0    / 0", "7           1 / 4096"
    )
    (board,) = only(READERS, text).boards
    assert board.telemetry is not None
    assert (board.telemetry.memory_used, board.telemetry.memory_total) == (MB, 4096 * MB)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (table(*chip(0)).rsplit("\n", 2)[0], "no frame ends it"),
        ("\n".join(table(*chip(0)).splitlines()[:-2]), "second row of this chip is missing"),
        (table(), "has no rows"),
        (table(*chip(0), *chip(0, bus="0000:99:00.0")), "two of its chips"),
        (table(*chip(0), *chip(1, bus="0000:10:00.0")), "two of its chips"),
        (table(*chip(0)).replace("AICore(%)", "AIBore(%)"), "a heading that is not known"),
        (table(*chip(0)).replace("Bus-Id", "Bus-Ed"), "headings that are not known"),
        (table(*chip(0)).replace("| 0     910B9", "| 0A    910B9"), "numbers cannot be read"),
        (table(*chip(0, power="1 2")), "4 figures under 3 headings"),
        (table(*chip(0))[:-100], "cut off"),
    ],
)
def test_a_damaged_table_is_refused(text: str, reason: str) -> None:
    found = read(READERS, text)
    assert not found.sections
    assert reason in refusal(READERS, text)


def test_rows_of_another_width_are_refused() -> None:
    text = table(*chip(0)).replace("| OK            |", "| OK   |     x  |")
    assert "4 cells in a row where 3 are due" in refusal(READERS, text)
