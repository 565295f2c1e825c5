"""`nvidia-smi -q -x` in its schemas: figures, words in their place, and documents refused."""

from __future__ import annotations

import pytest
from accelhal_cuda.evidence import READERS
from captured_samples.nvidia_smi import FIRST, SECOND, TABLE_384, XML_11, XML_12, XML_13
from captured_samples.reading import only, read, refusal

from accelhal.facts import BoardKey, HealthStatus, ProcessMemory


def swapped(text: str, old: str, new: str) -> str:
    """The text with a part of it put otherwise, which must be there."""
    assert old in text
    return text.replace(old, new, 1)


def test_schema_11() -> None:
    found = only(READERS, XML_11)
    [reading] = found.boards
    board = reading.board
    assert (board.key, board.name, board.index) == (BoardKey("cuda", "uuid", FIRST), "Toy T9", 0)
    assert (board.pci, board.serial) == ("0000:0a:00.0", "0000000000001")
    assert board.total_memory == 15360 << 20
    sensors = reading.telemetry
    assert sensors is not None
    assert (sensors.temperature, sensors.power, sensors.power_limit) == (40, 27.5, 60.0)
    assert (sensors.utilization, sensors.memory_bandwidth_utilization) == (11, 3)
    assert (sensors.core_clock, sensors.memory_clock) == (585, 5000)
    assert sensors.memory_used == 2048 << 20
    assert sensors.throttle_reasons == ("idle",)
    assert sensors.reasons == {"memory_temperature": "memory_temp: the tool prints 'N/A'"}
    details = reading.details
    assert details is not None
    assert (details.slowdown_temperature, details.shutdown_temperature) == (93, 96)
    assert (details.default_power_limit, details.compute_mode) == (70.0, "exclusive_process")
    assert (details.persistence, details.ecc, details.partitioned) == (True, True, None)
    assert details.reasons["partitioned"] == "current_mig: the tool prints 'N/A'"
    assert (details.firmware, details.node) == ("90.04.38.00.03", 0)
    assert (details.max_core_clock, details.max_memory_clock) == (1590, 5001)
    pcie = reading.pcie
    assert pcie is not None
    assert (pcie.generation, pcie.max_generation, pcie.lanes, pcie.max_lanes) == (1, 3, 8, 16)
    assert (pcie.replays, pcie.received, pcie.sent) == (7, 3e6, 2e6)
    assert reading.processes == (ProcessMemory(10001, 512 << 20),)


def test_errors_are_summed_over_the_kinds_of_memory_unless_one_is_silent() -> None:
    [reading] = only(READERS, XML_11).boards
    errors = reading.memory_errors
    assert errors is not None
    assert (errors.corrected, errors.uncorrected, errors.corrected_total) == (3, 0, 9)
    assert errors.uncorrected_total is None
    assert errors.reasons["uncorrected_total"] == "sram_uncorrectable: the tool prints 'N/A'"


def test_pages_are_retired_where_no_rows_are_remapped() -> None:
    [reading] = only(READERS, XML_11).boards
    errors = reading.memory_errors
    assert errors is not None
    assert (errors.repaired, errors.repair_pending, errors.repair_failed) == (5, True, None)
    assert errors.reasons["repair_failed"] == "remapped_rows: the tool prints 'N/A'"
    assert reading.health is not None
    assert reading.health.status is HealthStatus.DEGRADED


def test_schema_12() -> None:
    one, other = only(READERS, XML_12).boards
    assert one.telemetry is not None
    assert one.telemetry.throttle_reasons == ("thermal", "hardware_thermal")
    assert (one.telemetry.power, one.telemetry.power_limit) == (31.25, 450.0)
    assert one.memory_errors is not None
    assert (one.memory_errors.repaired, one.memory_errors.repair_failed) == (3, True)
    assert one.health is not None
    checks = {check.name: check.status for check in one.health.checks}
    assert checks == {
        "row_remap": HealthStatus.FAILED,
        "recovery": HealthStatus.FAILED,
        "throttle": HealthStatus.DEGRADED,
    }
    assert (one.processes, other.processes) == ((), None)
    assert (other.board.uuid, other.board.pci, other.board.index) == (SECOND, "0001:85:00.0", 1)
    assert (other.health, other.telemetry, other.pcie) == (None, None, None)


def test_margins_are_no_temperatures() -> None:
    one, _ = only(READERS, XML_12).boards
    assert one.details is None or one.details.slowdown_temperature is None
    assert one.details is None or one.details.shutdown_temperature is None


def test_schema_13() -> None:
    board, first, second = only(READERS, XML_13).boards
    assert board.board.index is None, "one board of four, which is not said"
    assert board.telemetry is not None
    assert board.telemetry.power == 68.92
    assert board.telemetry.utilization is None
    assert board.telemetry.reasons["utilization"] == "gpu_util: the tool prints 'N/A'"
    assert board.memory_errors is not None
    assert board.memory_errors.uncorrected == 7
    assert board.memory_errors.repair_pending is True
    assert board.details is not None
    assert (board.details.fabric, board.details.partitioned) == ("Completed", True)
    assert board.processes == ()
    assert [part.board.parent for part in (first, second)] == [board.board.key] * 2
    assert [part.board.index for part in (first, second)] == [0, 1]
    assert first.board.key == BoardKey("cuda", "logic-id", f"{FIRST}:0")
    assert first.board.total_memory == 40448 << 20
    assert first.telemetry is not None
    assert (first.telemetry.memory_used, first.telemetry.utilization) == (1024 << 20, None)
    assert first.processes == (ProcessMemory(10002, 1000 << 20),)
    assert second.processes == ()


@pytest.mark.parametrize(
    ("word", "action"),
    [
        ("None", "none"),
        ("Reset", "reset the board"),
        ("Reboot", "reboot the host"),
        ("Drain P2P", "drain its links"),
        ("Drain and Reset", "drain it and reset it"),
        ("N/A", None),
        ("Sing", None),
    ],
)
def test_what_the_driver_asks_for(word: str, action: str | None) -> None:
    reading = only(READERS, swapped(XML_13, "Drain and Reset", word)).boards[0]
    assert reading.health is not None
    asked = [check.value for check in reading.health.checks if check.name == "recovery"]
    assert asked == ([] if action is None else [action])


def test_a_lost_board() -> None:
    [reading] = only(READERS, swapped(XML_11, "40 C", "GPU is lost")).boards
    assert reading.health is not None
    assert [check.value for check in reading.health.checks] == ["GPU is lost"]
    assert reading.health.status is HealthStatus.FAILED
    [reading] = only(READERS, swapped(XML_11, "40 C", "[GPU requires reset]")).boards
    assert reading.health is not None
    assert "reset the board" in [check.value for check in reading.health.checks]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("N/A", "gpu_temp: the tool prints 'N/A'"),
        ("[N/A]", "gpu_temp: the tool prints '[N/A]'"),
        ("[Unknown Error]", "gpu_temp: the tool prints '[Unknown Error]'"),
        (
            "Requested functionality has been deprecated",
            "gpu_temp: the tool prints 'Requested functionality has been depreca…'",
        ),
        ("", "gpu_temp: the tool prints ''"),
        ("40 F", "gpu_temp: the tool prints '40 F'"),
        ("40", "gpu_temp: the tool prints '40'"),
        ("1e3 C", "gpu_temp: the tool prints '1e3 C'"),
        ("4000 C", "gpu_temp: the driver answered 4000, which is no temperature"),
        ("٤٠ C", "gpu_temp: the tool prints '٤٠ C'"),
    ],
)
def test_what_is_no_temperature(said: str, reason: str) -> None:
    [reading] = only(READERS, swapped(XML_11, "40 C", said)).boards
    assert reading.telemetry is not None
    assert reading.telemetry.temperature is None
    assert reading.telemetry.reasons["temperature"] == reason


def test_names_that_are_none_leave_the_next_best() -> None:
    text = swapped(swapped(XML_11, FIRST, "[Unknown Error]"), "Toy T9", "ERR!")
    [reading] = only(READERS, text).boards
    assert reading.board.key == BoardKey("cuda", "pci", "0000:0a:00.0")
    assert (reading.board.uuid, reading.board.name) == (None, "")


def test_without_declaration_and_schema() -> None:
    text = "".join(XML_11.splitlines(keepends=True)[2:])
    assert only(READERS, text).boards == only(READERS, XML_11).boards


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("v11.dtd", "v14.dtd", "v10 to v13"),
        ("nvsmi_device_v11.dtd", "file:///etc/passwd", "schema"),
        ('"nvsmi_device_v11.dtd">', '"nvsmi_device_v11.dtd" [<!ENTITY a "aa">]>', "declarations"),
        ("40 C", "&lol;", "entity"),
        ("<gpu_temp>", "40 C", "no XML"),
        ("<gpu_temp>", "stray <gpu_temp>", "follows text"),
        ("</gpu_temp>", "</gpu_temp> stray", "text between the elements"),
        ('id="00000000:0A:00.0"', 'id="left"', "id"),
        ('id="00000000:0A:00.0"', "", "id"),
        ("nvidia_smi_log>\n\t<timestamp>", "other>\n\t<timestamp>", "another kind"),
        ("<pid>10001", "<pid>many", "process"),
        ("<attached_gpus>1", "<attached_gpus>0", "board 1 of 0"),
    ],
)
def test_documents_that_are_refused(old: str, new: str, reason: str) -> None:
    assert reason in refusal(READERS, swapped(XML_11, old, new))
    assert not read(READERS, swapped(XML_11, old, new)).sections


def test_entities_are_not_expanded() -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    text = swapped(XML_11, 'v11.dtd">', f'v11.dtd" [<!ENTITY l0 "ha">{laughs}]>')
    found = read(READERS, swapped(text, "40 C", "&l9;"))
    assert not found.sections
    assert "declarations" in found.unread[0].reason
    assert len(found.unread) == 1


@pytest.mark.parametrize("lines", [3, 20, len(XML_11.splitlines()) - 1])
def test_a_document_that_is_cut_off(lines: int) -> None:
    found = read(READERS, "\n".join(XML_11.splitlines()[:lines]))
    assert not found.sections
    assert "cut off" in found.unread[0].reason
    assert found.unread[0].line == lines


def test_what_follows_a_document_that_is_cut_off_is_read() -> None:
    cut = "".join(XML_11.splitlines(keepends=True)[:20])
    found = read(READERS, cut + XML_12)
    assert [section.evidence for section in found.sections] == [only(READERS, XML_12)]


def test_another_tools_output_after_a_document_that_is_cut_off_is_read() -> None:
    cut = "".join(XML_11.splitlines(keepends=True)[:20])
    found = read(READERS, cut + TABLE_384)
    assert [section.evidence for section in found.sections] == [only(READERS, TABLE_384)]
    assert "text between" in found.unread[0].reason


def test_a_document_on_one_line() -> None:
    found = only(READERS, "".join(line.strip() for line in XML_12.splitlines()))
    assert found == only(READERS, XML_12)


def test_two_boards_of_one_name() -> None:
    assert "UUID" in refusal(READERS, swapped(XML_12, SECOND, FIRST)) or "key" in refusal(
        READERS, swapped(XML_12, SECOND, FIRST)
    )


def test_nesting_without_end() -> None:
    deep = "<a>" * 50 + "</a>" * 50
    assert "deeper" in refusal(READERS, swapped(XML_11, "<gpu_temp>", f"{deep}<gpu_temp>"))


def test_a_slice_without_number() -> None:
    assert "number" in refusal(READERS, swapped(XML_13, "<index>0", "<index>N/A"))
