"""Boards and figures of the simulated libdcmi.so, read by the plugin's Management."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
from accelhal_ascend import dcmi as calls, dcmi_sources
from accelhal_ascend.management import DcmiManagement
from host_tree import HostTree
from vendor_stacks.dcmi.simulated import (
    A3,
    A5,
    INFERENCE,
    dcmi as dcmi,
    key,
    library as library,
    old_library as old_library,
    opened,
    tree as tree,
)
from vendor_stacks.simulated_library import SetScenario, scenario as scenario

from accelhal.facts import (
    BoardDetails,
    BoardKey,
    Link,
    MemoryErrors,
    PcieLink,
    ProcessMemory,
    Relation,
    Telemetry,
)

BUS = "/sys/bus/pci/devices/0000:10:00.0"


# ---- which boards there are


def test_a_board_is_named_by_all_that_identifies_it(
    dcmi: DcmiManagement, scenario: SetScenario, tree: HostTree
) -> None:
    tree.pci("0000:10:00.0", "19e5", "1200", numa_node=1)
    scenario("boards 1\nset 0 serial 2102314NMV10P6100012\nset 0 die 0xabc\n")
    [board] = dcmi.boards()
    assert board.key == key(0)
    assert (board.index, board.uuid) == (0, "00000001-00000000-00000000-00000000-00000ABC")
    assert (board.name, board.vendor, board.source) == ("910B3", "Huawei", "DCMI")
    assert (board.serial, board.pci) == ("2102314NMV10P6100012", "0000:10:00.0")
    assert (board.total_memory, board.numa_node, board.parent) == (64 << 30, 1, None)


def test_a_board_answers_to_each_of_its_keys(dcmi: DcmiManagement, scenario: SetScenario) -> None:
    scenario("boards 2\nset 1 temperature 61\n")
    board = dcmi.boards()[1]
    assert board.uuid is not None
    assert board.pci is not None
    for name in (key(1), BoardKey("npu", "uuid", board.uuid), BoardKey("npu", "pci", board.pci)):
        assert dcmi.telemetry(name).temperature == 61


def test_cards_are_numbered_with_gaps_and_the_logic_id_comes_first(
    dcmi: DcmiManagement, scenario: SetScenario
) -> None:
    """Card 5 is chip 3: of the call that says so, the output is the first argument."""
    scenario("boards 2\nset * first_card 3\nset 0 logic 7\nset 1 logic 3\n")
    boards = dcmi.boards()
    assert [board.index for board in boards] == [7, 3]
    assert [board.tool_id for board in boards] == ["3.0", "5.0"]
    assert dcmi.details(key(7)).node == 0


@pytest.mark.parametrize("told", ["set * chips_told 2", "set * chips_told 2\nset * mcu -1"])
def test_the_mcu_is_no_board(dcmi: DcmiManagement, scenario: SetScenario, told: str) -> None:
    scenario(f"boards 2\n{told}\n")
    assert [board.index for board in dcmi.boards()] == [0, 1]


def test_a_chip_whose_type_cannot_be_read_is_kept(
    dcmi: DcmiManagement, scenario: SetScenario
) -> None:
    scenario("boards 2\nfail * dcmi_get_device_type -8255\nfail * dcmi_get_device_id_in_card -8255")
    assert len(dcmi.boards()) == 2


def test_the_two_chips_of_an_a3_card(dcmi: DcmiManagement, scenario: SetScenario) -> None:
    scenario(f"boards 4\n{A3}set 1 sio_rx 2\n")
    boards = dcmi.boards()
    assert [board.key for board in boards] == [key(n) for n in range(4)]
    assert [board.tool_id for board in boards][:2] == ["0.0", "0.1"]
    assert {board.name for board in boards} == {"Ascend910_9382"}
    power = [dcmi.telemetry(key(n)).power for n in range(4)]
    assert power == [157.3, None, 157.3, None]
    assert "first chip" in dcmi.telemetry(key(1)).reasons["power"]
    assert [dcmi.telemetry(key(n)).power_limit for n in range(2)] == [400.0, None]
    sio = [link for link in dcmi.links(key(1)) if link.kind == "SIO"]
    assert sio == [Link("SIO", key(0), errors={"tx_crc": 0, "rx_crc": 2})]


def test_a_910b_is_no_a3_though_both_are_called_910(
    dcmi: DcmiManagement, scenario: SetScenario
) -> None:
    scenario(f"boards 2\n{A3}set * board_id 0x28\n")
    dcmi.boards()
    assert dcmi.telemetry(key(1)).power == 157.3
    assert {link.kind for link in dcmi.links(key(1))} == {"HCCS"}


def test_a_310p_has_ddr_and_its_mcu_knows_the_power(
    dcmi: DcmiManagement, scenario: SetScenario
) -> None:
    scenario(f"boards 1\n{INFERENCE}")
    [board] = dcmi.boards()
    assert (board.name, board.total_memory) == ("310P3", 21527 << 20)
    found = dcmi.telemetry(key(0))
    assert (found.memory_used, found.memory_total) == (2527 << 20, 21527 << 20)
    assert (found.power, found.memory_clock, found.memory_bandwidth_utilization) == (72, 4266, 12)
    assert found.memory_temperature is None
    assert dcmi.memory_errors(key(0)).corrected == 0
    assert list(dcmi.links(key(0))) == []


def test_an_ascend_950_answers_the_second_generations_calls(
    library: Path, scenario: SetScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario(f"boards 2\n{A5}set * first_card 4\nset 0 ub_0 0\nset 0 ub_1 2\nset 0 ub_2 3\n")
    found = opened(library, monkeypatch)
    boards = found.boards()
    assert [board.index for board in boards] == [4, 6]
    assert [board.tool_id for board in boards] == ["4.0", "6.0"]
    # Its die number is another die's.
    assert boards[0].uuid == "00000002-00000000-00000000-00000000-00000100"
    assert found.telemetry(key(4)).reasons == {}
    assert found.telemetry(key(6)).power == 157.3
    assert found.memory_errors(key(4)).repair_pending is False
    assert found.details(key(4)).node == 0
    ports = found.links(key(4))
    assert [port.up for port in ports[:4]] == [False, True, None, True]
    assert {port.kind for port in ports} == {"UB"}
    assert found.health(key(4)).status.value == "ok"
    assert found.versions() == {"driver": "25.0.rc1", "library": "25.0.rc1"}


def test_ports_that_need_no_link_are_none(
    library: Path, scenario: SetScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario(f"boards 1\n{A5}set 0 ub 3\n")
    assert list(opened(library, monkeypatch).links(key(0))) == []


def test_no_board_and_sixty_four(dcmi: DcmiManagement, scenario: SetScenario) -> None:
    scenario("boards 0\n")
    assert list(dcmi.boards()) == []
    scenario("boards 64\n")
    keys = [board.key for board in dcmi.boards()]
    assert len(set(keys)) == 64
    assert all(dcmi.telemetry(k).power for k in keys if k is not None)


# ---- figures


def test_sensors_are_in_our_units(dcmi: DcmiManagement, scenario: SetScenario) -> None:
    """DCMI counts 0.1 W, mW and MB."""
    scenario("boards 1\nset 0 reasons 0x2404\n")
    assert dcmi.telemetry(key(0)) == Telemetry(
        temperature=45,
        memory_temperature=41,
        power=157.3,
        power_limit=400.0,
        utilization=38,
        memory_bandwidth_utilization=3,
        core_clock=1800,
        memory_clock=1600,
        memory_used=3130 << 20,
        memory_total=64 << 30,
        throttle_reasons=("thermal", "power_cap", "bit_13"),
    )


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("set 0 chip_utilization 71", 71),
        ("set 0 chip_utilization 101", 38),
        ("set 0 utilization_13 -1", 37),
        ("set 0 utilization_13 255", 37),
        # A profiler has the AI cores' rate read 0: the chip's goes before.
        ("set 0 utilization_2 0", 38),
        ("set 0 utilization_2 -1\nset 0 utilization_13 -1", None),
    ],
)
def test_utilization_is_the_chips_where_the_driver_knows_it(
    dcmi: DcmiManagement, scenario: SetScenario, settings: str, expected: int | None
) -> None:
    scenario(f"boards 1\n{settings}\n")
    assert dcmi.telemetry(key(0)).utilization == expected


@pytest.mark.parametrize(
    ("product", "expected"), [("KVM Virtual Machine", None), ("Atlas 800T A2", 0)]
)
def test_a_virtual_machine_sees_no_memory_traffic(
    dcmi: DcmiManagement,
    scenario: SetScenario,
    tree: HostTree,
    product: str,
    expected: int | None,
) -> None:
    tree.file("/sys/class/dmi/id/product_name", product)
    scenario("boards 1\nset 0 hbm_bandwidth 0\n")
    found = dcmi.telemetry(key(0))
    assert found.memory_bandwidth_utilization == expected
    assert ("virtual machine" in found.reasons.get("memory_bandwidth_utilization", "")) is (
        expected is None
    )


@pytest.mark.parametrize(
    ("figure", "settings"),
    [
        ("temperature", "set 0 temperature 0x7ffd"),
        ("temperature", "set 0 temperature 0x7fff"),
        ("temperature", "set 0 temperature 0xfffffeec"),
        ("temperature", "set 0 temperature 0xffffffff"),
        ("memory_temperature", "set 0 hbm_temperature 0x7fff"),
        ("power", "set 0 power 0xfffffff0"),
        ("power", "set 0 power 0xffffffff"),
        ("power_limit", "set 0 rated_power 0xffffffff"),
        ("core_clock", "set 0 clock 0xffffffff"),
        ("memory_bandwidth_utilization", "set 0 hbm_bandwidth 0xffffffff"),
        ("memory_total", "set 0 hbm_total 0"),
        ("memory_used", "set 0 hbm_used 99999999"),
        ("throttle_reasons", "set 0 reasons 0xffffffffffffffff"),
    ],
)
def test_what_stands_for_no_value_is_none_with_a_reason(
    dcmi: DcmiManagement, scenario: SetScenario, figure: str, settings: str
) -> None:
    scenario(f"boards 1\n{settings}\n")
    found = dcmi.telemetry(key(0))
    assert getattr(found, figure) is None
    assert found.reasons[figure]


def test_details(dcmi: DcmiManagement, scenario: SetScenario) -> None:
    scenario(
        "boards 1\nset 0 model Atlas 800T A2\nset 0 physical 5\nset 0 slowdown 100\n"
        "set 0 shutdown 130\nset 0 super_pod 3\nset 0 server 2\n"
    )
    none = "the driver library does not report it"
    assert dcmi.details(key(0)) == BoardDetails(
        part_number="Atlas 800T A2",
        firmware="7.7.0.1.238",
        node=5,
        slowdown_temperature=100,
        shutdown_temperature=130,
        default_power_limit=400.0,
        max_core_clock=1850,
        cpu_affinity=(0, 1, 2, 3, 8),
        ecc=True,
        partitioned=False,
        fabric="super pod 3, server 2",
        reasons={"max_memory_clock": none, "persistence": none, "compute_mode": none},
    )


def test_where_the_driver_names_no_cpus_the_kernel_does(
    dcmi: DcmiManagement, scenario: SetScenario, tree: HostTree
) -> None:
    tree.file(f"{BUS}/local_cpulist", "4-5\n")
    scenario("boards 1\nset 0 cpus -1\n")
    assert dcmi.details(key(0)).cpu_affinity == (4, 5)


def test_memory_errors_and_pages_that_wait_for_a_reset(
    dcmi: DcmiManagement, scenario: SetScenario
) -> None:
    scenario(
        "boards 1\nset 0 single 5\nset 0 total_single 9\nset 0 total_double 1\n"
        "set 0 isolated_single 2\nset 0 isolated_double 1\nset 0 next_double 1\n"
    )
    found = dcmi.memory_errors(key(0))
    none = "the driver library does not report it"
    assert found == MemoryErrors(5, 0, 9, 1, 3, True, None, {"repair_failed": none})


def test_the_pcie_link_is_the_kernels_word(
    dcmi: DcmiManagement, scenario: SetScenario, tree: HostTree
) -> None:
    tree.file(f"{BUS}/current_link_speed", "16.0 GT/s PCIe\n")
    tree.file(f"{BUS}/max_link_speed", "32.0 GT/s PCIe\n")
    tree.file(f"{BUS}/current_link_width", "8\n").file(f"{BUS}/max_link_width", "16\n")
    scenario("boards 1\nset 0 pcie_retries 7\n")
    found = dcmi.pcie(key(0))
    blocks = "the driver counts no traffic: it measures for a while, and blocks"
    assert found == PcieLink(4, 5, 8, 16, 7, reasons={"received": blocks, "sent": blocks})


def test_hccs_ports_carry_their_own_lanes_and_counters(
    dcmi: DcmiManagement, scenario: SetScenario
) -> None:
    """The lanes of the ports in use stand one after the other."""
    scenario(
        "boards 1\nset 0 ports 0x12\nset 0 lanes_0 0xf\nset 0 lanes_1 0\nset 0 crc_4 3\n"
        "set 0 retry_1 2\n"
    )
    assert dcmi.links(key(0)) == [
        Link("HCCS", None, True, 4, 1, errors={"crc": 0, "retry": 2}),
        Link("HCCS", None, False, 0, 4, errors={"crc": 3, "retry": 0}),
    ]
    scenario("boards 1\nset 0 ports 0x2\nset 0 hdlc 1\n")
    assert [link.up for link in dcmi.links(key(0))] == [None]


def test_processes_come_without_a_length(dcmi: DcmiManagement, scenario: SetScenario) -> None:
    scenario("boards 1\nset 0 processes 96\nset 0 grown 1\n")
    found = dcmi.processes(key(0))
    assert len(found) == 96
    assert found[0] == ProcessMemory(4242, 512 << 20)
    scenario("boards 1\nset 0 processes 1\nset 0 process_memory 0xffffffffffffffff\n")
    assert dcmi.processes(key(0)) == [ProcessMemory(4242, None)]


@pytest.mark.parametrize(
    ("family", "answer", "expected"),
    [
        ("", 0, Relation.BOARD),
        ("", 1, Relation.SYS),
        ("", 2, Relation.PHB),
        ("", 3, Relation.LINK),
        ("", 4, Relation.PXB),
        ("", 5, Relation.PIX),
        # "Unknown" was 6, then 8, then 9.
        ("", 6, None),
        ("", 7, None),
        ("", 8, None),
        ("", 9, None),
        ("", -1, None),
        (A3, 6, Relation.BOARD),
        (A3, 7, Relation.LINK),
        (A3, 8, None),
        (A5, 6, None),
        (A5, 8, Relation.LINK),
        (A5, 9, None),
    ],
)
def test_relations(
    library: Path,
    scenario: SetScenario,
    monkeypatch: pytest.MonkeyPatch,
    family: str,
    answer: int,
    expected: Relation | None,
) -> None:
    scenario(f"boards 2\n{family}set 0 topology_1 {answer}\n")
    found = opened(library, monkeypatch)
    one, other = (board.key for board in found.boards())
    assert one is not None
    assert other is not None
    assert found.relation(one, other) is expected


# ---- slices


def test_slices_are_boards_with_a_parent(dcmi: DcmiManagement, scenario: SetScenario) -> None:
    scenario("boards 2\nset 1 vnpus 2\n")
    boards = dcmi.boards()
    assert [board.key for board in boards] == [
        key(0),
        key(1),
        key("vdavinci116"),
        key("vdavinci117"),
    ]
    assert [board.parent for board in boards] == [None, None, key(1), key(1)]
    assert boards[2].total_memory == 12 << 30
    assert dcmi.details(key(1)).partitioned
    first, second = dcmi.partitions(key(1))
    assert (first.key, first.parent, first.profile) == (boards[2].key, key(1), "vir04")
    assert (first.total_memory, first.compute_share) == (12 << 30, 0.2)
    assert first.environment == {
        "ASCEND_VISIBLE_DEVICES": "116",
        "ASCEND_RUNTIME_OPTIONS": "VIRTUAL",
    }
    assert second.key == boards[3].key
    assert list(dcmi.partitions(key(0))) == []


def test_a_slice_has_its_own_load_and_no_sensors(
    dcmi: DcmiManagement, scenario: SetScenario
) -> None:
    scenario("boards 1\nset 0 vnpus 1\nset 0 double 1\n")
    dcmi.boards()
    found = dcmi.telemetry(key("vdavinci100"))
    assert (found.utilization, found.memory_used, found.memory_total) == (25, 4 << 30, 12 << 30)
    assert found.power is None
    assert "cut from" in found.reasons["power"]
    assert dcmi.health(key("vdavinci100")) == dcmi.health(key(0))
    assert list(dcmi.partitions(key("vdavinci100"))) == []


# ---- releases


def test_an_older_driver_answers_by_its_older_names(
    old_library: Path, scenario: SetScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has no second names, no list of cards by the new name, and ECC counts of 28 bytes."""
    scenario("boards 2\nset 0 crc_1 4\nset 0 isolated_single 2\n")
    old = opened(old_library, monkeypatch)
    assert [(board.name, board.pci) for board in old.boards()] == [
        ("910B3", "0000:10:00.0"),
        ("910B3", "0000:11:00.0"),
    ]
    assert old.telemetry(key(0)).utilization == 38
    errors = old.memory_errors(key(0))
    assert (errors.repaired, errors.repair_pending) == (2, None)
    assert old.links(key(0))[0].errors == {"crc": 4, "retry": 0}


@pytest.mark.parametrize("family", [f"boards 1\n{A5}", f"boards 2\n{A3}set 0 vnpus 2\n"])
def test_a_later_driver_may_write_longer_structures(
    library: Path, scenario: SetScenario, monkeypatch: pytest.MonkeyPatch, family: str
) -> None:
    methods = ("telemetry", "details", "memory_errors", "pcie", "health", "links", "partitions")
    scenario(family)
    found = opened(library, monkeypatch)
    before = [found.boards(), *(getattr(found, method)(key(0)) for method in methods)]
    scenario(f"{family}set * grown 1\n")
    assert [found.boards(), *(getattr(found, method)(key(0)) for method in methods)] == before


def test_every_figure_has_a_source_and_every_source_a_call(dcmi: DcmiManagement) -> None:
    kinds = (Telemetry, BoardDetails, MemoryErrors, PcieLink)
    figures = {f"{kind.__name__}.{f.name}" for kind in kinds for f in fields(kind)}
    unread = {n for n in figures - set(dcmi_sources.SOURCES) if not n.endswith(".reasons")}
    assert unread == {
        "BoardDetails.max_memory_clock",
        "BoardDetails.persistence",
        "BoardDetails.compute_mode",
        "MemoryErrors.repair_failed",
        "PcieLink.received",
        "PcieLink.sent",
    }
    library = calls.Dcmi().library
    named = [word.strip(",;") for text in dcmi_sources.SOURCES.values() for word in text.split()]
    functions = {word for word in named if word.startswith("dcmi")}
    assert functions
    assert [name for name in sorted(functions) if not library.has(name)] == []
