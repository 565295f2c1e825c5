"""The pages of `npu-smi info -t …`: which key is which figure, and whose."""

from __future__ import annotations

import pytest
from accelhal_ascend.evidence import READERS
from captured_samples import npu_smi
from captured_samples.reading import only, read

from accelhal.facts import BoardKey, BoardReading, HealthStatus, ProcessMemory

MB = 1 << 20


def chips(text: str) -> tuple[BoardReading, ...]:
    return only(READERS, text).boards


def test_usages() -> None:
    found = only(READERS, npu_smi.USAGES)
    (board,) = found.boards
    sensors = board.telemetry
    assert found.source == "npu-smi info -t usages"
    assert board.board.tool_id == "4.0"
    assert board.board.key is None
    assert sensors is not None
    assert (sensors.utilization, sensors.memory_bandwidth_utilization) == (8, 9)
    assert sensors.memory_total == board.board.total_memory == 65536 * MB
    assert sensors.memory_used is None
    assert "whole percent" in sensors.reasons["memory_used"]
    assert sensors.reasons["*"] == "npu-smi info -t usages does not show it"
    assert "Aicpu Usage Rate(%)" in found.notes[0]


def test_older_releases_print_the_rate_of_the_cores_alone() -> None:
    (board,) = chips(npu_smi.USAGES.replace("	NPU Utilization(%)             : 8\n", ""))
    assert board.telemetry is not None
    assert board.telemetry.utilization == 7


def test_common_and_the_power_that_a_cards_controller_measures() -> None:
    (board,) = chips(npu_smi.COMMON)
    assert board.telemetry is not None
    assert board.telemetry.temperature == 43
    assert (board.telemetry.power, board.telemetry.core_clock) == (13.4, 960)
    assert board.details is not None
    assert board.details.max_core_clock == 1080


def test_memory() -> None:
    (board,) = chips(npu_smi.MEMORY)
    assert board.telemetry is not None
    assert (board.telemetry.memory_temperature, board.telemetry.memory_clock) == (51, 1600)
    assert board.telemetry.memory_total == 65536 * MB


def test_the_controllers_temperatures_are_not_the_chips() -> None:
    (board,) = chips(npu_smi.TEMPERATURE)
    assert board.telemetry is not None
    assert board.telemetry.temperature == 39


def test_power_of_a_card_with_two_chips_counts_once() -> None:
    one, two = chips(npu_smi.POWER)
    assert one.telemetry is not None
    assert two.telemetry is not None
    assert (one.telemetry.power, two.telemetry.power) == (203.5, None)
    assert "the card's" in two.telemetry.reasons["power"]


def test_health_and_the_faults_with_the_drivers_words() -> None:
    (board,) = chips(npu_smi.HEALTH)
    assert board.health is not None
    assert board.health.status is HealthStatus.FAILED
    faults = [(c.value, c.detail) for c in board.health.checks if c.name == "fault"]
    assert faults == [
        ("0x80E18005", "node type=X, sensor type=Y"),
        ("0x80CF8008", "node type=Z, sensor type=Y"),
    ]


def test_health_without_faults() -> None:
    (board,) = chips(npu_smi.A950_HEALTH)
    assert board.health is not None
    assert [check.name for check in board.health.checks] == ["device"]
    assert board.health.status is HealthStatus.OK


@pytest.mark.parametrize("codes", ["80E1800Z", "180E180051", "8_0", "-1"])
def test_codes_that_cannot_be_read_are_unknown(codes: str) -> None:
    (board,) = chips(npu_smi.HEALTH.replace("80E18005 80CF8008", codes))
    assert board.health is not None
    (fault,) = [check for check in board.health.checks if check.name == "fault"]
    assert (fault.status, fault.value) == (HealthStatus.UNKNOWN, None)
    assert codes in fault.detail


def test_errors_of_hbm_are_the_boards() -> None:
    (board,) = chips(npu_smi.ECC)
    errors = board.memory_errors
    assert errors is not None
    assert (errors.corrected, errors.uncorrected, errors.corrected_total) == (3, 1, 13)
    assert (errors.repaired, errors.repair_pending) == (3, True)
    assert errors.uncorrected_total is None
    assert errors.reasons["uncorrected_total"] == "the tool prints '4294967295'"


def test_errors_of_ddr_where_there_is_no_hbm() -> None:
    lines = [line for line in npu_smi.ECC.splitlines() if "HBM" not in line]
    (board,) = chips("\n".join(lines))
    assert board.memory_errors is not None
    assert (board.memory_errors.corrected, board.memory_errors.uncorrected) == (9, 9)


def test_processes() -> None:
    one, two = chips(npu_smi.PROCESSES)
    assert one.processes == (ProcessMemory(40004, 5118 * MB), ProcessMemory(40005, 7 * MB))
    assert two.processes == ()


def test_board_of_a_card() -> None:
    found = only(READERS, npu_smi.CARD_BOARD)
    (board,) = found.boards
    assert found.versions == {"driver": "99.2.0"}
    assert (board.board.pci, board.board.serial) == ("0000:14:00.0", "000111222333")
    assert board.board.key == BoardKey("npu", "pci", "0000:14:00.0")
    assert board.details is not None
    assert (board.details.firmware, board.details.part_number) == ("9.9.0.1", None)
    assert board.details.reasons["part_number"] == "the tool prints 'NA'"


def test_chips_of_one_card_share_its_label_and_not_its_address() -> None:
    found = chips(
        npu_smi.CARD_BOARD.replace("Chip Count                     : 1", "Chip Count : 2")
    )
    assert [board.board.tool_id for board in found] == ["4.0", "4.1"]
    assert {board.board.serial for board in found} == {"000111222333"}
    assert {board.board.pci for board in found} == {None}


def test_board_of_a_chip() -> None:
    (found,) = chips(npu_smi.CHIP_BOARD)
    assert found.board.tool_id == "6.1"
    assert found.board.name == "Ascend910_9999"
    assert found.board.uuid == "00000001-0000000A-00000003-00000004-00000005"
    assert found.board.key == BoardKey("npu", "uuid", found.board.uuid)
    assert found.board.pci == "0000:9e:00.0"


@pytest.mark.parametrize(
    "die",
    [
        "NA",
        " ".join(["00000000"] * 5),
        " ".join(["FFFFFFFF"] * 5),
        "00000001 00000002",
        " ".join(["0000000Z"] * 5),
    ],
)
def test_a_die_without_a_number_is_not_named(die: str) -> None:
    text = npu_smi.CHIP_BOARD.replace("00000001 0000000A 00000003 00000004 00000005", die)
    (found,) = chips(text)
    assert found.board.uuid is None


def test_board_of_a_950() -> None:
    (found,) = chips(npu_smi.A950_BOARD)
    assert (found.board.index, found.board.tool_id) == (2, "2.0")
    assert found.board.name == "Ascend950ZZ"
    assert found.board.uuid == "00000001-00000002-00000003-00000004-00000005"
    assert found.details is not None
    assert found.details.part_number == "M-1"


def test_pages_one_after_the_other_are_sections() -> None:
    found = read(READERS, "".join(npu_smi.PAGES))
    assert not found.unread
    assert len(found.sections) == len(npu_smi.PAGES)


def test_lines_that_lost_their_indent_and_the_blank_ones_are_read_alike() -> None:
    bare = "\n".join(line.strip() for line in npu_smi.USAGES.splitlines() if line.strip())
    assert chips(bare) == chips(npu_smi.USAGES)


def test_what_the_tool_says_of_its_own_failure_is_told() -> None:
    text = npu_smi.USAGES.replace("	Chip ID", "Failed to query npu chip: 0 info.\n	Chip ID")
    assert any("Failed to query" in note for note in only(READERS, text).notes)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            npu_smi.USAGES.replace("	Chip ID                        : 0\n", ""),
            "values of no chip",
        ),
        (npu_smi.USAGES.replace(": 4\n	Chip", ": four\n	Chip"), "NPU ID is 'four'"),
        (
            "	NPU ID                         : 4\n	Chip Count : 1\n",
            "it says nothing of NPU 4",
        ),
        (
            "	NPU ID : 4\n	Chip Count : 1\n\n	Product Type : X\n	Chip ID : 0\n",
            "'Product Type'",
        ),
        (npu_smi.POWER.replace("Chip ID                        : 1", "Chip ID : 0"), "twice"),
        (npu_smi.MEMORY.replace("DDR Capacity", "HBM Capacity"), "stands twice in one block"),
        (
            npu_smi.CARD_BOARD.replace("Chip Count                     : 1", "A : 1"),
            "how many chips",
        ),
        (npu_smi.PROCESSES.replace("40004", "4000x"), "a process that cannot be read"),
    ],
)
def test_a_damaged_page_is_refused(text: str, reason: str) -> None:
    found = read(READERS, text)
    assert not found.sections
    assert reason in found.unread[0].reason


def test_a_page_that_is_cut_off_is_one_fault() -> None:
    text = "\n".join(npu_smi.USAGES.splitlines()[:-3])
    assert [unread.reason for unread in read(READERS, text).unread] == [
        "npu-smi info -t: NPU 4: values of no chip: the page is cut off, or damaged"
    ]


def test_a_page_printed_with_c_does_not_say_whose_it_is() -> None:
    lines = npu_smi.MEMORY.splitlines()[3:-1]
    found = read(READERS, "\n".join(lines))
    assert not found.sections
    assert "print it with -i alone" in found.unread[0].reason


def test_a_page_printed_with_c_does_not_spoil_the_one_before() -> None:
    nameless = "\n".join(npu_smi.MEMORY.splitlines()[2:-1])
    for page in (npu_smi.USAGES, npu_smi.CARD_BOARD):
        found = read(READERS, page + nameless)
        assert len(found.sections) == 1
        assert "print it with -i alone" in found.unread[0].reason
