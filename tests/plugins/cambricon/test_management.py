"""Boards and figures of the simulated libcndev.so, read by the plugin's Management."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest
from accelhal_cambricon import cndev as calls, cndev_sources
from accelhal_cambricon.cndev_figures import SHUTDOWN_TEMPERATURE, SLOWDOWN_TEMPERATURE, field_value
from accelhal_cambricon.cndev_library import LIBRARY
from accelhal_cambricon.location import locate
from accelhal_cambricon.management import CndevManagement
from accelhal_cambricon.probe import VISIBLE_DEVICES
from vendor_stacks.cndev.simulated import (
    cndev as cndev,
    key,
    library as library,
    old_cndev as old_cndev,
    old_library as old_library,
    uuid,
)
from vendor_stacks.simulated_library import SetScenario, scenario as scenario

from accelhal.drivers.readings import NotReportedError
from accelhal.facts import (
    BoardDetails,
    BoardInfo,
    BoardKey,
    Link,
    MemoryErrors,
    PcieLink,
    ProcessMemory,
    Relation,
    Telemetry,
)
from accelhal.host.visible_devices import active_mask

NONE = "the driver library does not report it"

READERS = ("telemetry", "details", "memory_errors", "pcie", "health", "links", "partitions")


def of_uuid(value: str) -> BoardKey:
    return BoardKey("mlu", "uuid", value)


# ---- which boards there are


def test_a_board_is_named_by_all_that_identifies_it(
    cndev: CndevManagement, scenario: SetScenario
) -> None:
    scenario("boards 2\nset 1 serial 0x1a2b3c\n")
    assert cndev.boards()[1] == BoardInfo(
        key=key(1),
        vendor="Cambricon",
        name="MLU370-X8",
        backend="mlu",
        source="CNDev",
        index=1,
        uuid=uuid(1),
        serial="1a2b3c",
        pci="0000:3a:00.0",
        total_memory=23374 << 20,
        numa_node=1,
    )


def test_a_handle_is_not_an_index(cndev: CndevManagement, scenario: SetScenario) -> None:
    """Boards 0 and 1 have the handles 100 and 103."""
    scenario("boards 2\nset 0 power 50\nset 1 power 99\nset 1 minor 6\n")
    assert [cndev.telemetry(key(index)).power for index in range(2)] == [50, 99]
    assert cndev.details(key(1)).node == 6


def test_a_board_answers_to_each_of_its_keys(cndev: CndevManagement, scenario: SetScenario) -> None:
    scenario("boards 2\nset 1 temperature 61\n")
    keys = [
        key(1),
        of_uuid(uuid(1)),
        of_uuid(f"MLU-{uuid(1)}"),
        BoardKey("mlu", "pci", "0000:3a:00.0"),
    ]
    assert [cndev.telemetry(name).temperature for name in keys] == [61] * 4


@pytest.mark.parametrize("value", [None, "3,1", f"{uuid(3)},{uuid(1)}"])
def test_a_torch_devices_board_is_found_under_every_variable(
    cndev: CndevManagement, scenario: SetScenario, value: str | None
) -> None:
    scenario("boards 4\n" + "".join(f"set {n} temperature {40 + n}\n" for n in range(4)))
    mask = active_mask(VISIBLE_DEVICES, {} if value is None else {"CN_VISIBLE_DEVICES": value})
    found = locate(1, mask).key
    assert found is not None
    assert cndev.telemetry(found).temperature == 41


@pytest.mark.parametrize("told", ["", "00000000-0000-0000-0000-000000000000"])
def test_an_empty_uuid_is_no_key(cndev: CndevManagement, scenario: SetScenario, told: str) -> None:
    scenario(f"boards 1\nset 0 uuid {told}\n")
    [board] = cndev.boards()
    assert (board.key, board.uuid) == (key(0), None)


def test_a_uuid_that_two_boards_have_is_none(cndev: CndevManagement, scenario: SetScenario) -> None:
    scenario(f"boards 3\nset 0 uuid {uuid(9)}\nset 2 uuid {uuid(9)}\n")
    assert [board.uuid for board in cndev.boards()] == [None, uuid(1), None]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("set 0 name MLU590-M9", "MLU590-M9"),
        ("set 0 name Unknown\nset 0 series 26", "MLU590"),
        ("set 0 name Unknown\nset 0 series 77", "MLU"),
        ("set 0 name Unknown\nset 0 series -1", "MLU"),
    ],
)
def test_names_come_as_texts_and_not_as_codes(
    cndev: CndevManagement, scenario: SetScenario, settings: str, expected: str
) -> None:
    scenario(f"boards 1\n{settings}\n")
    assert cndev.boards()[0].name == expected


def test_no_board_and_sixty_four(cndev: CndevManagement, scenario: SetScenario) -> None:
    scenario("boards 0\n")
    assert list(cndev.boards()) == []
    scenario("fail * cndevGetDeviceCount 12\n")
    assert list(cndev.boards()) == []
    scenario("boards 64\n")
    assert [board.key for board in cndev.boards()] == [key(index) for index in range(64)]
    assert all(cndev.telemetry(key(index)).power for index in range(64))


# ---- figures


def test_sensors_are_in_our_units(cndev: CndevManagement, scenario: SetScenario) -> None:
    """CNDev counts watts and MiB."""
    scenario("boards 1\nset 0 throttle_power 1\nset 0 throttle_thermal 1\n")
    assert cndev.telemetry(key(0)) == Telemetry(
        temperature=68,
        memory_temperature=63,
        power=106,
        power_limit=250,
        utilization=66,
        core_clock=1300,
        memory_used=106 << 20,
        memory_total=23374 << 20,
        throttle_reasons=("power_cap", "thermal"),
        reasons={
            "memory_bandwidth_utilization": NONE,
            "memory_clock": "the driver gives the memory's transfer rate, not its clock",
        },
    )


@pytest.mark.parametrize(
    ("figure", "settings"),
    [
        ("memory_temperature", "set 0 memory_temperature 0xffffffff00"),
        ("power", "set 0 power -1"),
        ("power", "set 0 power 0x7fffffff"),
        ("utilization", "set 0 utilization 101"),
        ("utilization", "set 0 utilization -1"),
        ("core_clock", "set 0 clock -1"),
        ("memory_total", "set 0 total 0"),
        ("memory_used", "set 0 used 99999999"),
        ("throttle_reasons", "set 0 throttle_tdp 7"),
    ],
)
def test_what_stands_for_no_value_is_none_with_a_reason(
    cndev: CndevManagement, scenario: SetScenario, figure: str, settings: str
) -> None:
    scenario(f"boards 1\n{settings}\n".replace("0xffffffff00", "-300"))
    found = cndev.telemetry(key(0))
    assert getattr(found, figure) is None
    assert found.reasons[figure]


def test_details(cndev: CndevManagement, scenario: SetScenario) -> None:
    scenario("boards 1\nset 0 part 3GU1-01\nset 0 minor 5\nset 0 field_52 93\nset 0 field_53 105\n")
    assert cndev.details(key(0)) == BoardDetails(
        part_number="3GU1-01",
        firmware="1.1.6",
        node=5,
        slowdown_temperature=93,
        shutdown_temperature=105,
        default_power_limit=250,
        max_core_clock=1400,
        cpu_affinity=(0, 1, 2, 3, 32),
        ecc=True,
        compute_mode="default",
        partitioned=False,
        reasons={"max_memory_clock": NONE, "persistence": NONE, "fabric": NONE},
    )


def test_each_field_value_has_a_code_and_a_type_of_its_own(
    cndev: CndevManagement, scenario: SetScenario
) -> None:
    """The call succeeds where the entry does not; then the older call's thresholds are taken."""
    scenario("boards 1\nset 0 field_52 93\nset 0 field_type_52 0\n")
    found = cndev.details(key(0))
    assert (found.slowdown_temperature, found.shutdown_temperature) == (93, 110)
    scenario("boards 1\nset 0 field_52 93\nset 0 field_type_52 77\n")
    assert cndev.details(key(0)).slowdown_temperature == 95
    scenario("boards 1\nfail 0 cndevGetOverTemperatureInfo 10\n")
    assert f"field {SHUTDOWN_TEMPERATURE}" in cndev.details(key(0)).reasons["shutdown_temperature"]


def test_the_scope_of_a_field_value_is_passed_on(
    library: Path, scenario: SetScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The simulated board has no second link or core for the figure."""
    monkeypatch.setenv(LIBRARY.variable, str(library))
    scenario("boards 1\nset 0 field_52 93\n")
    started = calls.Cndev()
    assert field_value(started, 100, SLOWDOWN_TEMPERATURE) == 93
    with pytest.raises(NotReportedError, match="INVALID_ARGUMENT"):
        field_value(started, 100, SLOWDOWN_TEMPERATURE, scope=1)


def test_memory_errors_and_repairs(cndev: CndevManagement, scenario: SetScenario) -> None:
    scenario(
        "boards 1\nset 0 sram_sbe 1\nset 0 dram_sbe 2\nset 0 parity 4\nset 0 dram_dbe 8\n"
        "set 0 all_sbe 90\nset 0 all_dbe 9\nset 0 rows 3\nset 0 bad_rows 2\n"
        "set 0 retire_pending 1\n"
    )
    assert cndev.memory_errors(key(0)) == MemoryErrors(3, 12, 90, 9, 5, True, False)


def test_without_spare_rows_pages_of_both_causes_count(
    cndev: CndevManagement, scenario: SetScenario
) -> None:
    """The cause is the caller's field of the structure."""
    fails = "fail 0 cndevGetRemappedRowsV2 10\nfail 0 cndevGetRepairStatus 10\n"
    scenario(f"boards 1\n{fails}set 0 old_rows 7\n")
    assert cndev.memory_errors(key(0)).repaired == 7
    scenario(
        f"boards 1\n{fails}fail 0 cndevGetRemappedRows 10\nset 0 pages_single 4\n"
        "set 0 pages_double 1\nset 0 page_pending 1\nset 0 page_failure 1\n"
    )
    found = cndev.memory_errors(key(0))
    assert (found.repaired, found.repair_pending, found.repair_failed) == (5, True, True)


def test_the_pcie_link(cndev: CndevManagement, scenario: SetScenario) -> None:
    """Bytes are counted over 20 ms."""
    scenario("boards 1\nset 0 replays 7\nset 0 width 8\n")
    assert cndev.pcie(key(0)) == PcieLink(4, 5, 8, 16, 7, 100_000.0, 50_000.0)


def test_ports_carry_their_peer_and_counters(cndev: CndevManagement, scenario: SetScenario) -> None:
    elsewhere = "99033011-2157-0000-0000-0000000000ff"
    scenario(
        "boards 2\nset 0 ports 4\nset 0 peer_0 1\nset 0 fec_0 5\nset 0 mac_1 0\nset 0 down_1 2\n"
        f"set 0 mac_2 2\nset 0 remote_2 {elsewhere}\nset 0 mac_3 3\nset 0 gigabytes_3 0\n"
    )
    cndev.boards()
    ports = cndev.links(key(0))
    none = dict.fromkeys(
        ("corrected_fec", "uncorrected_fec", "rx_bad_fcs", "tx_bad_fcs", "illegal_access",
         "link_down", "replay", "replay_failed"), 0,
    )  # fmt: skip
    first = Link("MLU-Link", key(1), True, None, 0, "2.0.0", 50e9, {**none, "corrected_fec": 5})
    assert ports == [
        first,
        replace(first, peer=None, up=False, number=1, errors={**none, "link_down": 2}),
        replace(first, peer=of_uuid(elsewhere), up=None, number=2, errors=none),
        replace(first, peer=None, number=3, bandwidth=None, errors=none),
    ]


@pytest.mark.parametrize("ports", [0, -1, 100_000])
def test_a_number_of_ports_is_no_code(
    cndev: CndevManagement, scenario: SetScenario, ports: int
) -> None:
    scenario(f"boards 1\nset 0 ports {ports}\n")
    assert list(cndev.links(key(0))) == []


def test_a_list_that_does_not_fit_is_asked_for_again(
    cndev: CndevManagement, scenario: SetScenario
) -> None:
    scenario("boards 1\nset 0 processes 300\n")
    found = cndev.processes(key(0))
    assert len(found) == 300
    assert found[0] == ProcessMemory(4242, 15829 << 10)
    scenario("boards 1\nset 0 processes 100\nset 0 growing 1\n")
    assert len(cndev.processes(key(0))) > 100
    scenario("boards 1\nset 0 processes 1\nset 0 process_memory 0xffffffffffffffff\n")
    assert cndev.processes(key(0)) == [ProcessMemory(4242, None)]


def test_a_count_beyond_the_list_is_cut(cndev: CndevManagement, scenario: SetScenario) -> None:
    scenario("boards 1\nset 0 processes 2\nset 0 processes_told 9999\n")
    assert [process.pid for process in cndev.processes(key(0))] == [4242, 4243]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [(0, Relation.BOARD), (1, Relation.BOARD), (2, Relation.PIX), (3, Relation.PXB),
     (4, Relation.PHB), (5, Relation.NODE), (6, Relation.SYS), (7, None), (-1, None)],
)  # fmt: skip
def test_relations(
    cndev: CndevManagement, scenario: SetScenario, answer: int, expected: Relation | None
) -> None:
    scenario(f"boards 2\nset 0 relation {answer}\n")
    assert cndev.relation(key(0), key(1)) is expected


# ---- slices


def test_mim_slices_are_boards_with_a_parent(cndev: CndevManagement, scenario: SetScenario) -> None:
    scenario("boards 2\nset 1 mim 1\nset 1 mims 2\n")
    boards = cndev.boards()
    names = [of_uuid(uuid(1, f"{n:02}")) for n in range(2)]
    assert [board.key for board in boards] == [key(0), key(1), *names]
    assert [board.parent for board in boards] == [None, None, key(1), key(1)]
    assert (boards[2].name, boards[2].total_memory) == ("MLU370-X8 1m.8gb", 8 << 30)
    assert cndev.details(key(1)).partitioned
    one = cndev.partitions(key(1))[0]
    assert (one.key, one.parent, one.profile) == (names[0], key(1), "1m.8gb")
    assert (one.total_memory, one.compute_share) == (8 << 30, 0.25)
    assert one.environment == {"CN_VISIBLE_DEVICES": names[0].value}
    assert list(cndev.partitions(key(0))) == []


def test_smlu_slices_count_bytes_and_percent(cndev: CndevManagement, scenario: SetScenario) -> None:
    scenario(
        f"boards 1\nset 0 smlu 1\nset 0 smlus 1\nset 0 smlu_uuid {uuid(7)}\nset 0 uncorrected 1\n"
    )
    assert cndev.boards()[1].key == of_uuid(uuid(7))
    [one] = cndev.partitions(key(0))
    assert (one.profile, one.total_memory, one.compute_share) == ("30c.4gb", 4 << 30, 0.3)
    assert one.environment == {"CN_VISIBLE_DEVICES": uuid(7)}
    found = cndev.telemetry(one.key)
    assert (found.memory_used, found.memory_total, found.power) == (1 << 30, 4 << 30, None)
    assert "cut from" in found.reasons["power"]
    assert cndev.health(one.key) == cndev.health(key(0))
    assert list(cndev.processes(one.key)) == list(cndev.partitions(one.key)) == []


def test_slices_without_a_uuid_have_numbers_and_no_variable(
    cndev: CndevManagement, scenario: SetScenario
) -> None:
    scenario(
        "boards 1\nset 0 smlu 1\nset 0 smlus 40\nset 0 mim 1\nset 0 mims 1\nset 0 mim_uuid  \n"
    )
    keys = [board.key for board in cndev.boards()]
    assert keys == [key(0), key("0.mi1"), *(key(f"0.smlu{n}") for n in range(1, 41))]
    assert {frozenset(one.environment) for one in cndev.partitions(key(0))} == {frozenset()}
    assert cndev.telemetry(key("0.mi1")).memory_total == 8 << 30


# ---- releases


def test_an_older_library_answers_by_its_older_names(
    old_cndev: CndevManagement, scenario: SetScenario
) -> None:
    """Version 5 of shorter structures; what is behind their end is not reported."""
    scenario("boards 2\nset 1 power 99\nset 1 corrected 4\nset 0 crc32_0 2\nset 0 active_1 0\n")
    boards = old_cndev.boards()
    assert [(b.name, b.pci, b.uuid, b.total_memory) for b in boards] == [
        ("MLU370", f"0000:{0x39 + n:x}:00.0", uuid(n), 23374 << 20) for n in range(2)
    ]
    found = old_cndev.telemetry(key(1))
    assert (found.temperature, found.power, found.power_limit, found.core_clock) == (
        68,
        99,
        250,
        1300,
    )
    assert found.memory_temperature is None
    assert "does not fill in memory" in found.reasons["memory_temperature"]
    details = old_cndev.details(key(1))
    assert details.max_core_clock is None
    assert "thermalDesignPower" in details.reasons["default_power_limit"]
    errors = old_cndev.memory_errors(key(1))
    assert (errors.corrected, errors.corrected_total, errors.repaired) == (4, None, 0)
    links = old_cndev.links(key(0))
    assert [link.up for link in links[:3]] == [True, False, True]
    assert links[0].errors["crc32"] == 2
    assert [(c.name, c.value) for c in old_cndev.health(key(0)).checks] == [
        ("health", "good"),
        ("ecc", "0 uncorrected"),
    ]
    assert old_cndev.versions() == {"driver": "5.10.26", "library": "6.5.40"}
    assert old_cndev.relation(key(0), key(1)) is Relation.PHB


def test_version_six_goes_before_five(cndev: CndevManagement, scenario: SetScenario) -> None:
    """Every structure that has a version is asked for in the one that the library knows."""
    scenario("boards 1\n")
    newer = cndev.telemetry(key(0))
    rest = [name for name in READERS if name != "telemetry"]
    before = [cndev.boards(), *(getattr(cndev, name)(key(0)) for name in rest)]
    scenario("boards 1\nset * api 5\n")
    assert [cndev.boards(), *(getattr(cndev, name)(key(0)) for name in rest)] == before
    # The number picks the layout: the older one ends before the memory's temperature.
    older = cndev.telemetry(key(0))
    assert (newer.memory_temperature, older.memory_temperature) == (63, None)
    assert replace(older, memory_temperature=63, reasons=newer.reasons) == newer
    scenario("boards 1\nset * api 4\n")
    assert "UNSUPPORTED_API_VERSION" in cndev.telemetry(key(0)).reasons["temperature"]
    # Structures without the field know no version.
    assert cndev.telemetry(key(0)).power == 106


def test_a_later_driver_may_write_longer_structures(
    cndev: CndevManagement, scenario: SetScenario
) -> None:
    text = "boards 1\nset 0 incidents 64\nset 0 mim 1\n"
    scenario(text)
    before = [cndev.boards(), *(getattr(cndev, name)(key(0)) for name in READERS)]
    scenario(f"{text}set * grown 1\n")
    assert [cndev.boards(), *(getattr(cndev, name)(key(0)) for name in READERS)] == before


def test_versions(
    cndev: CndevManagement, old_cndev: CndevManagement, scenario: SetScenario
) -> None:
    """An older library tells the driver's with any board that answers."""
    scenario("boards 3\nfail 0 cndevGetVersionInfo 18\nfail 2 cndevGetVersionInfo 18\n")
    assert cndev.versions() == {"driver": "6.2.29", "library": "6.5.40"}
    assert old_cndev.versions() == {"driver": "5.10.26", "library": "6.5.40"}
    scenario("boards 1\nfail 0 cndevGetVersionInfo 18\n")
    assert old_cndev.versions() == {"library": "6.5.40"}


def test_every_figure_has_a_source_and_every_source_a_call(
    library: Path, old_library: Path, scenario: SetScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = (Telemetry, BoardDetails, MemoryErrors, PcieLink)
    figures = {f"{kind.__name__}.{f.name}" for kind in kinds for f in fields(kind)}
    unread = {n for n in figures - set(cndev_sources.SOURCES) if not n.endswith(".reasons")}
    assert unread == {
        "Telemetry.memory_bandwidth_utilization",
        "Telemetry.memory_clock",
        "BoardDetails.max_memory_clock",
        "BoardDetails.persistence",
        "BoardDetails.fabric",
    }
    words = {word.strip(",;") for text in cndev_sources.SOURCES.values() for word in text.split()}
    functions = {word for word in words if word.startswith("cndev")}
    libraries = []
    for path in (library, old_library):
        monkeypatch.setenv(LIBRARY.variable, str(path))
        libraries.append(calls.Cndev().library)
    missing = [n for n in sorted(functions) if not any(found.has(n) for found in libraries)]
    assert functions
    assert missing == []
