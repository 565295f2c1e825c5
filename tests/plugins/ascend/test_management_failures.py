"""What DCMI's codes, faults, hangs and odd answers become."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from accelhal_ascend.driver_library import LIBRARY
from accelhal_ascend.management import DcmiManagement
from accelhal_ascend.spec import SPEC
from hypothesis import HealthCheck as Check, given, settings, strategies as st
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
from vendor_stacks.driver_process import in_driver_process
from vendor_stacks.simulated_library import SetScenario, scenario as scenario

from accelhal.drivers.readings import RANGES
from accelhal.errors import (
    BackendLoadError,
    DeviceError,
    DeviceNotFoundError,
    DeviceTimeoutError,
    DeviceUnhealthyError,
)
from accelhal.facts import (
    BoardDetails,
    BoardInfo,
    BoardKey,
    HealthStatus,
    Link,
    MemoryErrors,
    Partition,
    PcieLink,
    Telemetry,
)
from accelhal.management import driver_client
from accelhal.management.remote import RemoteManagement, read_all

METHODS = ("telemetry", "details", "memory_errors", "pcie", "health", "links", "processes")


# ---- the start


@pytest.mark.parametrize("code", [-8002, -8005, -8006, -8012, -8020, -9999])
def test_a_driver_that_does_not_start_says_so(
    library: Path, scenario: SetScenario, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    scenario(f"fail * dcmi_init {code}\n")
    with pytest.raises(BackendLoadError, match=f"dcmi_init answered {code}") as found:
        opened(library, monkeypatch)
    assert "another container" in (found.value.hint or "")


def test_an_older_driver_does_not_know_the_second_generation(
    old_library: Path, scenario: SetScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario(A5)
    with pytest.raises(BackendLoadError, match="no dcmiv2_init"):
        opened(old_library, monkeypatch)


def test_no_library_is_said_with_the_variable_that_names_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(BackendLoadError, match="does not load") as found:
        opened(tmp_path / "libdcmi.so", monkeypatch)
    assert LIBRARY.variable in (found.value.hint or "")


# ---- codes


@pytest.mark.parametrize("code", [-8001, -8003, -8004, -8005, -8014, -8020, -8022, -8023, -8255])
def test_no_value_is_none_with_the_calls_name(
    dcmi: DcmiManagement, scenario: SetScenario, code: int
) -> None:
    scenario(f"boards 1\nfail 0 dcmi_get_device_temperature {code}\n")
    found = dcmi.telemetry(key(0))
    assert found.temperature is None
    assert f"dcmi_get_device_temperature answered {code}" in found.reasons["temperature"]
    assert found.power == 157.3


@pytest.mark.parametrize("code", [-8002, -8013])
def test_missing_rights_are_a_reason(
    dcmi: DcmiManagement, scenario: SetScenario, code: int
) -> None:
    scenario(f"boards 1\nfail 0 dcmi_get_device_component_static_version {code}\n")
    assert "more rights" in dcmi.details(key(0)).reasons["firmware"]


@pytest.mark.parametrize(
    ("code", "raised"),
    [
        (-8006, DeviceTimeoutError),
        (-8007, DeviceNotFoundError),
        (-8008, DeviceNotFoundError),
        (-8009, DeviceUnhealthyError),
        (-8010, DeviceUnhealthyError),
        (-8011, DeviceUnhealthyError),
        (-8012, DeviceTimeoutError),
        (-8015, DeviceUnhealthyError),
        (-8016, DeviceTimeoutError),
        (-8017, DeviceTimeoutError),
        (-9999, DeviceError),
    ],
)
def test_a_board_that_fails_is_an_error_and_sick(
    dcmi: DcmiManagement, scenario: SetScenario, code: int, raised: type[DeviceError]
) -> None:
    scenario(
        f"boards 1\nfail 0 dcmi_get_device_temperature {code}\n"
        f"fail 0 dcmi_get_device_health {code}\n"
    )
    with pytest.raises(raised, match="dcmi_get_device_temperature") as found:
        dcmi.telemetry(key(0))
    assert type(found.value) is raised
    health = dcmi.health(key(0))
    assert health.status is HealthStatus.FAILED
    assert str(code) in health.checks[0].detail


def test_a_board_that_fell_off_the_bus_keeps_its_key(
    dcmi: DcmiManagement, scenario: SetScenario
) -> None:
    """Its card is listed; every call on it answers "not ready"."""
    scenario("boards 3\n")
    dcmi.boards()
    calls = (
        "dcmi_get_device_num_in_card",
        "dcmi_get_device_id_in_card",
        "dcmi_get_device_type",
        "dcmi_get_device_logic_id",
        "dcmi_get_device_health",
        "dcmi_get_device_info",
    )
    scenario("boards 3\n" + "".join(f"fail 1 {call} -8012\n" for call in calls))
    boards = dcmi.boards()
    assert [board.key for board in boards] == [key(0), key("card2.0"), key(2)]
    assert "does not answer" in boards[1].name
    for name in (key(1), key("card2.0")):
        assert dcmi.health(name).status is HealthStatus.FAILED
    assert dcmi.health(key(2)).status is HealthStatus.OK


def test_a_key_that_nobody_has(dcmi: DcmiManagement) -> None:
    for call in (dcmi.telemetry, dcmi.health):
        with pytest.raises(DeviceNotFoundError, match="no board with the uuid gone"):
            call(BoardKey("npu", "uuid", "gone"))


def test_boards_that_the_driver_gives_one_number_are_told_apart(
    dcmi: DcmiManagement, scenario: SetScenario
) -> None:
    scenario("boards 3\nset * logic 0\nset 2 die_all 0\nset 2 bus -1\n")
    sources = [board.key and board.key.source for board in dcmi.boards()]
    assert sources == ["logic-id", "uuid", "logic-id"]
    assert dcmi.boards()[2].key == key("card4.0")


# ---- health


@pytest.mark.parametrize(
    ("statement", "check", "status"),
    [
        ("set 0 health 0", "device", HealthStatus.OK),
        ("set 0 health 1", "device", HealthStatus.DEGRADED),
        ("set 0 health 2", "device", HealthStatus.FAILED),
        ("set 0 health 3", "device", HealthStatus.FAILED),
        ("set 0 health 0xffffffff", "device", HealthStatus.FAILED),
        ("set 0 health 77", "device", HealthStatus.UNKNOWN),
        ("fail 0 dcmi_get_device_health -8255", "device", HealthStatus.UNKNOWN),
        ("set * driver_health 3", "driver", HealthStatus.FAILED),
        ("set 0 double 1", "ecc", HealthStatus.FAILED),
        ("set 0 next_single 1", "page_isolation", HealthStatus.DEGRADED),
        ("set 0 pcs 1", "link", HealthStatus.DEGRADED),
        ("set 0 reasons 0x4", "throttle", HealthStatus.DEGRADED),
        ("set 0 reasons 0x400", "throttle", HealthStatus.OK),
    ],
)
def test_health_is_its_worst_check(
    dcmi: DcmiManagement, scenario: SetScenario, statement: str, check: str, status: HealthStatus
) -> None:
    scenario(f"boards 1\n{statement}\n")
    found = dcmi.health(key(0))
    assert found.status is status
    assert {c.name: c.status for c in found.checks}[check] is status


def test_what_was_seen_before_an_error_is_kept(dcmi: DcmiManagement, scenario: SetScenario) -> None:
    scenario(
        "boards 1\nset 0 health 1\nfail * dcmi_get_driver_health -8009\n"
        "fail 0 dcmi_get_device_ecc_info -8009\n"
    )
    found = dcmi.health(key(0))
    seen = [(check.name, check.status) for check in found.checks]
    assert seen == [("device", HealthStatus.DEGRADED), ("answers", HealthStatus.FAILED)]
    assert found.status is HealthStatus.FAILED


def test_fault_codes_come_with_the_drivers_words(
    dcmi: DcmiManagement, scenario: SetScenario
) -> None:
    """The real call writes past a buffer of under 48 bytes; the simulated one ends the process."""
    scenario(
        "boards 1\nset 0 health 3\nset 0 faults 2\nset 0 fault_0 0x80e18402\n"
        "set 0 fault_text HBM rows isolated\n"
    )
    found = dcmi.health(key(0))
    faults = [(c.value, c.status, c.detail) for c in found.checks if c.name == "fault"]
    assert faults == [
        ("0x80E18402", HealthStatus.FAILED, "0x80E18402 HBM rows isolated"),
        ("0x80E01801", HealthStatus.FAILED, "0x80E01801 HBM rows isolated"),
    ]
    scenario("boards 1\nset 0 faults 1\nfail 0 dcmi_get_device_errorcode_string -8255\n")
    found = dcmi.health(key(0))
    assert found.status is HealthStatus.DEGRADED
    assert [c.detail for c in found.checks if c.name == "fault"] == [""]


# ---- how the library is called


@pytest.mark.parametrize("family", ["", A3, A5, INFERENCE])
def test_no_call_is_made_that_blocks(
    library: Path, scenario: SetScenario, monkeypatch: pytest.MonkeyPatch, family: str
) -> None:
    scenario(f"boards 2\n{family}")
    found = opened(library, monkeypatch)
    for board in found.boards():
        assert board.key is not None
        for method in METHODS:
            getattr(found, method)(board.key)
    assert ctypes.CDLL(str(library)).sim_blocking_calls() == 0


def test_calls_of_several_threads_do_not_overlap(
    dcmi: DcmiManagement, scenario: SetScenario, library: Path
) -> None:
    scenario("boards 2\nset * slow_us 200\n")
    dcmi.boards()
    threads = [threading.Thread(target=dcmi.telemetry, args=(key(n % 2),)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert ctypes.CDLL(str(library)).sim_overlaps() == 0


@pytest.fixture
def remote(
    library: Path, scenario: SetScenario, monkeypatch: pytest.MonkeyPatch
) -> Iterator[RemoteManagement]:
    monkeypatch.setenv(LIBRARY.variable, str(library))
    monkeypatch.setattr(driver_client, "SILENCE_S", 3600)
    with in_driver_process(SPEC) as plane:
        yield plane


def test_a_board_that_hangs_costs_itself_alone(
    remote: RemoteManagement, scenario: SetScenario
) -> None:
    scenario("boards 8\nhang 2 dcmi_get_device_power_info\n")
    keys = [board.key for board in remote.boards() if board.key is not None]
    assert keys == [key(index) for index in range(8)]
    found = read_all(remote, "telemetry", keys)
    assert [n for n, answer in enumerate(found) if isinstance(answer, DeviceTimeoutError)] == [2]
    assert sum(isinstance(answer, Telemetry) for answer in found) == 7
    assert remote.memory_errors(key(2)).corrected == 0


# ---- odd answers

NAMES = [
    *("listed", "chips_told", "mcu", "logic", "physical", "board_id", "bus", "device"),
    *("function", "domain", "die", "die_all", "hbm_total", "hbm_used", "hbm_clock"),
    *("hbm_temperature", "hbm_bandwidth", "ddr_total", "ddr_available", "ddr_clock"),
    *("ecc", "single", "double", "total_single", "total_double", "isolated_single"),
    *("isolated_double", "next_single", "next_double", "temperature", "power", "mcu_power"),
    *("slowdown", "shutdown", "clock", "max_clock", "utilization_2", "utilization_13"),
    *("chip_utilization", "health", "driver_health", "faults", "processes", "pid"),
    *("process_memory", "topology_1", "ub", "ub_0", "vnpus", "vnpu_cores", "cores"),
    *("vnpu_utilization", "vnpu_memory", "vnpu_free", "reasons", "rated_power", "super_pod"),
    *("server", "hdlc", "pcs", "lanes_1", "ports", "crc_1", "pcie_retries", "sio_tx"),
]
TEXTS = ["chip_name", "npu_name", "serial", "model", "cpus", "vnpu", "driver", "firmware"]
VALUES = st.one_of(
    st.integers(-1, 1 << 64),
    st.integers(0, 200),
    st.sampled_from([0x7FFD, 0x7FFF, 0xFFFFFFFF, 1 << 31]),
)
WORDS = st.text(
    st.characters(min_codepoint=32, max_codepoint=0x2FF, exclude_characters="#\x7f"), max_size=40
)
FAMILIES = st.sampled_from(["", A3, A5, INFERENCE])


@settings(suppress_health_check=[Check.function_scoped_fixture], deadline=None, max_examples=40)
@given(
    FAMILIES,
    st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=12),
    st.dictionaries(st.sampled_from(TEXTS), WORDS, max_size=3),
    st.sampled_from([0, -8001, -8005, -8012, -8255, -1, 7]),
)
def test_no_answer_makes_a_figure_outside_its_range(
    library: Path,
    scenario: SetScenario,
    family: str,
    answers: dict[str, int],
    texts: dict[str, str],
    code: int,
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv(LIBRARY.variable, str(library))
        scenario(f"boards 2\n{family}")
        found = DcmiManagement()
        scenario(
            f"boards 2\n{family}"
            + "".join(f"set * {name} {value}\n" for name, value in answers.items())
            + "".join(f"set * {name} {value}\n" for name, value in texts.items())
            + f"fail 0 dcmi_get_device_frequency {code}\n"
        )
        boards = found.boards()
        keys = [board.key for board in boards if board.key is not None]
        assert len(set(keys)) == len(boards)
        # A driver may tell of chips that then do not answer; those are listed as such.
        silent = {board.key for board in boards if "does not answer" in board.name}
        found.versions()
        for name in keys[:4]:
            for method in (*METHODS, "partitions"):
                try:
                    _check(getattr(found, method)(name))
                except DeviceError:
                    assert code or name in silent
        for board in boards:
            _check(board)


RANGED = (Telemetry, BoardDetails, MemoryErrors, PcieLink)


def _check(answer: Any) -> None:
    for one in answer if isinstance(answer, (list, tuple)) else [answer]:
        if isinstance(one, RANGED):
            for field in fields(one):
                value = getattr(one, field.name)
                if value is not None and field.name in RANGES:
                    low, high = RANGES[field.name]
                    assert low <= value <= high
        if isinstance(one, Partition):
            assert one.compute_share is None or 0 < one.compute_share <= 1
        if isinstance(one, (Partition, BoardInfo)) and one.total_memory is not None:
            assert 0 < one.total_memory <= RANGES["memory_total"][1]
        if isinstance(one, Link):
            assert one.lanes is None or 0 <= one.lanes <= 32
            assert all(count >= 0 for count in one.errors.values())


@pytest.mark.parametrize("code", [-8005, -8255])
def test_a_driver_that_does_not_list_its_boards_is_an_error(
    dcmi: DcmiManagement, scenario: SetScenario, code: int
) -> None:
    scenario(f"fail * dcmi_get_card_list {code}\nfail * dcmi_get_card_num_list {code}\n")
    with pytest.raises(DeviceError, match=f"does not list its boards: .* answered {code}") as found:
        dcmi.boards()
    assert "npu-smi" in (found.value.hint or "")
