"""The table of `cnmon` in the layouts of 1.x, 4.x and 5.x."""

from __future__ import annotations

import pytest
from accelhal_cambricon.evidence import READERS
from captured_samples import cnmon
from captured_samples.reading import only, read, refusal

from accelhal.facts import BoardKey, ProcessMemory

MIB = 1 << 20


def test_two_rows_are_a_card() -> None:
    found = only(READERS, cnmon.V5)
    assert (found.backend, found.source) == ("mlu", "cnmon")
    assert found.versions == {"tool": "5.99.13", "driver": "5.99.14"}
    one, two = found.boards
    assert one.board.key == BoardKey("mlu", "visible-order", "0")
    assert (one.board.name, one.board.index, one.board.pci) == ("MLU999-X8", 0, "0000:3a:00.0")
    sensors = one.telemetry
    assert sensors is not None
    assert (sensors.temperature, sensors.utilization) == (32, 12)
    assert (sensors.power, sensors.power_limit) == (106, 250)
    assert (sensors.memory_used, sensors.memory_total) == (5 * MIB, 23374 * MIB)
    assert one.details is not None
    assert two.details is not None
    assert (one.details.firmware, one.details.compute_mode) == ("1.9.6", "default")
    assert two.details.compute_mode == "exclusive"
    assert one.details.partitioned is None
    assert one.health is None


def test_one_table_of_processes_is_of_all_cards() -> None:
    one, two = only(READERS, cnmon.V5).boards
    assert (one.processes, two.processes) == ((), (ProcessMemory(50005, 1024 * MIB),))


def test_a_card_without_a_fan_with_masked_name_and_memory() -> None:
    (board,) = only(READERS, cnmon.MODE).boards
    assert board.board.name == ""
    assert board.board.total_memory is None
    sensors = board.telemetry
    assert sensors is not None
    assert (sensors.temperature, sensors.memory_used, sensors.memory_total) == (35, 0, None)
    assert sensors.reasons["memory_total"] == "the tool prints 'xxxxx'"
    assert board.details is not None
    assert board.details.partitioned is False
    assert board.processes is None


def test_a_count_of_errors_of_no_said_kind_is_not_read() -> None:
    found = only(READERS, cnmon.MODE)
    assert found.boards[0].memory_errors is None
    assert any("Ecc-Error" in note for note in found.notes)


def test_4_prints_the_drivers_version_with_each_card() -> None:
    found = only(READERS, cnmon.V4)
    assert found.versions == {"tool": "4.99.11", "driver": "4.99.12"}
    assert [board.board.index for board in found.boards] == [0, 2]
    assert {board.board.pci for board in found.boards} == {None}
    assert found.boards[0].telemetry is not None
    assert found.boards[0].telemetry.memory_used == 7 * MIB


def test_cards_that_tell_of_two_drivers_tell_of_none() -> None:
    found = only(READERS, cnmon.V4.replace("v4.99.12", "v4.99.19", 1))
    assert found.versions == {"tool": "4.99.11"}


def test_1_prints_watts_with_decimals() -> None:
    found = only(READERS, cnmon.V1)
    (board,) = found.boards
    assert found.versions == {"tool": "1.99.0", "driver": "4.9.9"}
    assert board.telemetry is not None
    assert (board.telemetry.power, board.telemetry.power_limit) == (3.7, 8.25)
    assert board.processes == ()


def test_a_table_without_its_header() -> None:
    found = only(READERS, "\n".join(cnmon.MODE.splitlines()[2:]))
    assert found.versions == {}
    assert len(found.boards) == 1


def test_a_virtual_function_is_named_and_not_taken_for_the_card() -> None:
    text = cnmon.V4.replace("| 2     /  ", "| 0     1  ")
    found = only(READERS, text)
    assert len(found.boards) == 1
    assert "cnmon also shows VF 1 of card 0." in found.notes


@pytest.mark.parametrize(
    ("old", "new", "field", "reason"),
    [
        ("35C", "N/A", "temperature", "'N/A'"),
        ("35C", "95F", "temperature", "'95F'"),
        ("35C", "999C", "temperature", "999"),
        ("0%  ", "N/A ", "utilization", "'N/A'"),
        ("0%  ", "101%", "utilization", "101"),
        ("105 W", "N/A W", "power", "'N/A'"),
        ("550 W", "550kW", "power_limit", "550kW"),
        ("0 MiB/ xxxxx MiB", "9 MiB/     5 MiB", "memory_used", "9 MiB"),
        ("0 MiB/ xxxxx MiB", "0 GiB/    32 GiB", "memory_total", "GiB"),
    ],
)
def test_no_value_is_invented(old: str, new: str, field: str, reason: str) -> None:
    (board,) = only(READERS, cnmon.MODE.replace(old, new)).boards
    assert board.telemetry is not None
    assert getattr(board.telemetry, field) is None
    assert reason in board.telemetry.reasons[field]


@pytest.mark.parametrize(("old", "new"), [("FULL", "MIM "), ("Default", "Sleeping")])
def test_modes_of_no_known_meaning(old: str, new: str) -> None:
    (board,) = only(READERS, cnmon.MODE.replace(old, new)).boards
    assert board.details is not None
    assert None in (board.details.partitioned, board.details.compute_mode)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (cnmon.V5.replace("Bus-Id", "Bas-Id"), "headings that are not known"),
        (cnmon.V5.replace("CNMON v5.99.13", "CNMON v5.99.13 x"), "a header that is not known"),
        ("\n".join(cnmon.MODE.splitlines()[:-1]), "no frame ends it"),
        ("\n".join(cnmon.MODE.splitlines()[:-2]), "damaged or cut off"),
        ("\n".join(cnmon.MODE.splitlines()[:6]), "has no rows"),
        ("\n".join(cnmon.MODE.splitlines()[:4]), "cut off in its head"),
        (cnmon.MODE.replace("| 0     /", "| x     /"), "cannot be read"),
        (cnmon.V5.replace("| 1     /", "| 0     /", 1), "two of its cards"),
        (cnmon.V5.replace("3D", "3A", 1), "two of its cards"),
        (
            cnmon.MODE.replace("0%                  0 |", "0%                    |"),
            "cannot be read",
        ),
    ],
)
def test_a_damaged_table_is_refused(text: str, reason: str) -> None:
    assert reason in refusal(READERS, text)


def test_a_damaged_list_of_processes_leaves_the_cards() -> None:
    found = read(READERS, cnmon.V5.replace("50005", "5x005"))
    assert len(found.sections) == 1
    assert {board.processes for board in found.sections[0].evidence.boards} == {None}
    assert found.unread[-1].reason == "cnmon: a process that cannot be read"


def test_processes_alone() -> None:
    text = cnmon.V5[cnmon.V5.index("|  Card  MI") :]
    (board,) = only(READERS, text).boards
    assert (board.board.index, board.processes) == (1, (ProcessMemory(50005, 1024 * MIB),))


def test_a_list_of_processes_without_an_end_is_cut_off() -> None:
    text = "\n".join(cnmon.V5[cnmon.V5.index("|  Card  MI") :].splitlines()[:-1])
    assert "cut off" in refusal(READERS, text)
