"""The pages of `cnmon info`."""

from __future__ import annotations

import pytest
from accelhal_cambricon.evidence import READERS
from captured_samples import cnmon
from captured_samples.reading import only, read, refusal

from accelhal.evidence.merging import merged
from accelhal.facts import BoardKey, HealthStatus, ProcessMemory

MIB = 1 << 20


def test_a_card_with_everything() -> None:
    found = only(READERS, cnmon.INFO)
    card = found.boards[0]
    assert found.versions == {"tool": "5.99.22", "driver": "5.99.22"}
    assert card.board.key == BoardKey("mlu", "visible-order", "0")
    assert card.board.uuid == "00000001-9999-0000-0000-000000000001"
    assert card.board.pci == "0000:1b:00.0"
    sensors = card.telemetry
    assert sensors is not None
    assert (sensors.temperature, sensors.memory_temperature) == (78, 63)
    assert (sensors.power, sensors.power_limit, sensors.utilization) == (44, 150, 66)
    assert (sensors.memory_used, sensors.memory_total) == (17320 * MIB, 23308 * MIB)
    assert card.details is not None
    assert (card.details.firmware, card.details.compute_mode) == ("1.9.6", "default")
    assert card.processes == (ProcessMemory(101934, 15829 * MIB), ProcessMemory(101935, None))


def test_health_is_what_the_driver_says_of_device_and_driver() -> None:
    good, strange = only(READERS, cnmon.INFO).boards
    assert good.health is not None
    assert [(c.name, c.value) for c in good.health.checks] == [
        ("device", "good"),
        ("driver", "running"),
    ]
    assert good.health.status is HealthStatus.OK
    assert strange.health is not None
    assert strange.health.status is HealthStatus.UNKNOWN
    assert "Worried" in strange.health.checks[0].detail


def test_a_card_that_says_little() -> None:
    card = only(READERS, cnmon.INFO).boards[1]
    assert (card.board.uuid, card.board.pci) == (None, None)
    assert card.telemetry is not None
    assert (card.telemetry.temperature, card.telemetry.power) == (51, None)
    assert card.telemetry.reasons["*"] == "cnmon info does not show it"
    assert card.processes == ()


def test_virtual_memory_is_not_taken_for_the_boards_own() -> None:
    assert any("Virtual Memory Usage" in note for note in only(READERS, cnmon.INFO).notes)


def test_4_has_neither_health_nor_pci() -> None:
    (card,) = only(READERS, cnmon.INFO_4).boards
    assert (card.health, card.board.pci, card.details, card.processes) == (None,) * 4
    assert card.telemetry is not None
    assert card.telemetry.memory_used == 4096 * MIB


@pytest.mark.parametrize("text", ["MLU-00000001-9999-0000-0000-000000000001", "bad uuid", "N/A"])
def test_the_tools_prefix_is_no_part_of_a_uuid(text: str) -> None:
    found = only(READERS, cnmon.INFO.replace("00000001-9999-0000-0000-000000000001", text))
    expected = text.removeprefix("MLU-") if text.startswith("MLU-") else None
    assert found.boards[0].board.uuid == expected


def test_a_uuid_that_two_cards_share_is_none() -> None:
    text = cnmon.INFO.replace(
        "UUID                           :\n", "UUID : 00000001-9999-0000-0000-000000000001\n"
    )
    assert {board.board.uuid for board in only(READERS, text).boards} == {None}


@pytest.mark.parametrize(("bus", "device"), [("1g", "00"), ("1b", "20"), ("100", "00")])
def test_an_address_that_is_none(bus: str, device: str) -> None:
    text = cnmon.INFO.replace(": 1b", f": {bus}").replace(
        "Device                     : 00", f"Device : {device}"
    )
    assert only(READERS, text).boards[0].board.pci is None


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("63 C", "N/A", "memory_temperature"),
        ("66 %", "66", "utilization"),
        ("44 W", "44 kW", "power"),
        ("17320 MiB", "99999 MiB", "memory_used"),
        ("Total                      : 23308 MiB", "Total : 0 MiB", "memory_total"),
        ("23308 MiB", "23308 MB", "memory_total"),
    ],
)
def test_no_value_is_invented(old: str, new: str, field: str) -> None:
    card = only(READERS, cnmon.INFO.replace(old, new)).boards[0]
    assert card.telemetry is not None
    assert getattr(card.telemetry, field) is None


def test_the_boards_temperature_where_the_chips_is_none() -> None:
    card = only(READERS, cnmon.INFO.replace("78 C", "N/A")).boards[0]
    assert card.telemetry is not None
    assert card.telemetry.temperature == 64


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Card 0\n    Product Number : 1\n", "it says nothing of card 0"),
        ("Card 0\n", "it says nothing of card 0"),
        ("======CNMON v5.99.22======\n", "it tells of no card"),
        (cnmon.INFO_4.replace("Driver ", "Product Name "), "stands twice"),
        (cnmon.INFO.replace("101934", "one"), "a process that cannot be read"),
    ],
)
def test_a_damaged_page_is_refused(text: str, reason: str) -> None:
    assert reason in refusal(READERS, text)


def test_two_prints_in_one_file() -> None:
    found = read(READERS, cnmon.INFO + cnmon.INFO_4)
    assert not found.unread
    assert [len(section.evidence.boards) for section in found.sections] == [2, 1]


def test_table_and_details_of_one_host_make_one_look() -> None:
    table = cnmon.V5.replace("0000:3A:00.0", "0000:1B:00.0").replace("99.13", "99.22")
    info = cnmon.INFO.replace("MLU999-X4", "MLU999-X8").replace("MLU999-S4", "MLU999-X8")
    text = table.replace("99.14", "99.22") + info
    one, two = (section.evidence for section in read(READERS, text).sections)
    found = merged(one, two)
    assert [board.board.index for board in found.boards] == [0, 1]
    assert found.boards[0].board.uuid == "00000001-9999-0000-0000-000000000001"
    assert found.boards[0].telemetry is not None
    assert found.boards[0].telemetry.memory_temperature == 63
