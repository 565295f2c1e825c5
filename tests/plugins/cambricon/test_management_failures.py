"""What CNDev's codes, incidents, hangs and odd answers become."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from accelhal_cambricon.cndev_library import LIBRARY
from accelhal_cambricon.management import CndevManagement
from accelhal_cambricon.spec import SPEC
from hypothesis import HealthCheck as Check, given, settings, strategies as st
from vendor_stacks.cndev.simulated import (
    cndev as cndev,
    key,
    library as library,
    old_library as old_library,
    opened,
    uuid,
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
    ProcessMemory,
    Telemetry,
)
from accelhal.management import driver_client
from accelhal.management.driver_client import DriverClient
from accelhal.management.remote import RemoteManagement, read_all

METHODS = ("telemetry", "details", "memory_errors", "pcie", "health", "links", "processes")


# ---- the start


@pytest.mark.parametrize("code", [1, 2, 12, 13, 17, 99])
def test_a_driver_that_does_not_start_says_so(
    library: Path, scenario: SetScenario, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    scenario(f"fail * cndevInit {code}\n")
    with pytest.raises(BackendLoadError, match=f"cndevInit answered {code}") as found:
        opened(library, monkeypatch)
    assert "cnmon" in (found.value.hint or "")


def test_no_library_is_said_with_the_variable_that_names_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(BackendLoadError, match="does not load") as found:
        opened(tmp_path / "libcndev.so", monkeypatch)
    assert LIBRARY.variable in (found.value.hint or "")


def test_closing_leaves_the_library_to_whoever_still_reads(
    cndev: CndevManagement, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = opened(library, monkeypatch)
    cndev.close()
    assert other.telemetry(key(0)).power == 106
    assert ctypes.CDLL(str(library)).sim_releases() == 0


# ---- codes


@pytest.mark.parametrize("code", [2, 5, 7, 8, 9, 10, 11, 14, 15])
def test_no_value_is_none_with_the_calls_name(
    cndev: CndevManagement, scenario: SetScenario, code: int
) -> None:
    scenario(f"boards 1\nfail 0 cndevGetTemperatureInfo {code}\n")
    found = cndev.telemetry(key(0))
    assert found.temperature is None
    assert f"cndevGetTemperatureInfo answered {code}" in found.reasons["temperature"]
    assert found.power == 106


def test_missing_rights_are_a_reason(cndev: CndevManagement, scenario: SetScenario) -> None:
    scenario("boards 1\nfail 0 cndevGetVersionInfo 13\n")
    assert "more rights" in cndev.details(key(0)).reasons["firmware"]


@pytest.mark.parametrize(
    ("code", "raised"),
    [
        (1, DeviceUnhealthyError),
        (6, DeviceNotFoundError),
        (17, DeviceTimeoutError),
        (18, DeviceUnhealthyError),
        (99, DeviceError),
    ],
)
def test_a_board_that_fails_is_an_error_and_sick(
    cndev: CndevManagement, scenario: SetScenario, code: int, raised: type[DeviceError]
) -> None:
    scenario(
        f"boards 1\nfail 0 cndevGetTemperatureInfo {code}\n"
        f"fail 0 cndevGetCardHealthStateV2 {code}\n"
    )
    with pytest.raises(raised, match="cndevGetTemperatureInfo") as found:
        cndev.telemetry(key(0))
    assert type(found.value) is raised
    health = cndev.health(key(0))
    assert health.status is HealthStatus.FAILED
    assert str(code) in health.checks[0].detail


def test_a_board_without_a_handle_keeps_its_place_and_uuid(
    cndev: CndevManagement, scenario: SetScenario
) -> None:
    scenario("boards 3\n")
    cndev.boards()
    scenario("boards 3\nfail 1 cndevGetDeviceHandleByIndex 18\n")
    boards = cndev.boards()
    assert [board.key for board in boards] == [key(0), key(1), key(2)]
    assert "does not answer" in boards[1].name
    assert cndev.health(key(1)).status is HealthStatus.FAILED
    with pytest.raises(DeviceUnhealthyError, match="does not answer"):
        cndev.telemetry(key(1))
    assert cndev.health(key(2)).status is HealthStatus.OK
    assert cndev.health(BoardKey("mlu", "uuid", uuid(2))).status is HealthStatus.OK


def test_a_key_that_nobody_has(cndev: CndevManagement) -> None:
    for call in (cndev.telemetry, cndev.health):
        with pytest.raises(DeviceNotFoundError, match="no board with the uuid gone"):
            call(BoardKey("mlu", "uuid", "gone"))


@pytest.mark.parametrize("text", ["set * counted -1", "fail * cndevGetDeviceCount 10"])
def test_a_driver_that_does_not_count_its_boards(
    cndev: CndevManagement, scenario: SetScenario, text: str
) -> None:
    scenario(f"boards 2\n{text}\n")
    with pytest.raises(DeviceError, match="does not count its boards"):
        cndev.boards()


# ---- health


@pytest.mark.parametrize(
    ("statement", "check", "status"),
    [
        ("set 0 health 1", "health", HealthStatus.OK),
        ("set 0 health 0", "health", HealthStatus.FAILED),
        ("set 0 health 7", "health", HealthStatus.UNKNOWN),
        ("set 0 device_state 0", "device", HealthStatus.FAILED),
        ("set 0 driver_state 4", "driver", HealthStatus.OK),
        ("set 0 driver_state 2", "driver", HealthStatus.DEGRADED),
        ("set 0 driver_state 5", "driver", HealthStatus.FAILED),
        ("set 0 driver_state 8", "driver", HealthStatus.UNKNOWN),
        ("set 0 overall 0", "overall", HealthStatus.OK),
        ("set 0 overall 10", "overall", HealthStatus.DEGRADED),
        ("set 0 overall 20", "overall", HealthStatus.FAILED),
        ("set 0 parity 1", "ecc", HealthStatus.FAILED),
        ("set 0 pending 1", "repair", HealthStatus.DEGRADED),
        ("set 0 failure 1", "repair", HealthStatus.FAILED),
        ("set 0 throttle_thermal 1", "throttle", HealthStatus.DEGRADED),
        ("set 0 throttle_power 1", "throttle", HealthStatus.OK),
        ("fail 0 cndevGetCardHealthStateV2 10", "device", HealthStatus.UNKNOWN),
    ],
)
def test_health_is_its_worst_check(
    cndev: CndevManagement, scenario: SetScenario, statement: str, check: str, status: HealthStatus
) -> None:
    scenario(f"boards 1\n{statement}\n")
    found = cndev.health(key(0))
    assert found.status is status
    assert {c.name: c.status for c in found.checks}[check] is status


def test_incidents_are_checks_of_their_part(cndev: CndevManagement, scenario: SetScenario) -> None:
    scenario("boards 1\nset 0 incidents 2\nset 0 incident_health 20\nset 0 incident_code 5\n")
    found = cndev.health(key(0))
    told = [(c.name, c.status, c.value, c.detail) for c in found.checks if c.name == "pcie"]
    assert told == [
        ("pcie", HealthStatus.FAILED, "PCIE_GENERATION", "link is slow"),
        ("pcie", HealthStatus.FAILED, "PCIE_WIDTH", "link is slow"),
    ]
    scenario("boards 1\nset 0 incidents 1\nset 0 incident_code 444\nset 0 incident_system 3\n")
    found = cndev.health(key(0))
    assert found.status is HealthStatus.DEGRADED
    assert [c.value for c in found.checks if c.name == "incident"] == ["incident 444"]
    scenario("boards 1\nset 0 incidents 0xffff\n")
    assert len([c for c in cndev.health(key(0)).checks if c.name == "pcie"]) == 64


def test_what_was_seen_before_an_error_is_kept(
    cndev: CndevManagement, scenario: SetScenario
) -> None:
    scenario("boards 1\nset 0 overall 10\nfail 0 cndevGetMemEccCounter 18\n")
    found = cndev.health(key(0))
    names = [check.name for check in found.checks]
    assert names == ["health", "device", "driver", "overall", "answers"]
    assert found.status is HealthStatus.FAILED


# ---- how the library is called


def test_calls_of_several_threads_do_not_overlap(
    cndev: CndevManagement, scenario: SetScenario, library: Path
) -> None:
    scenario("boards 2\nset * slow_us 200\n")
    cndev.boards()
    threads = [threading.Thread(target=cndev.telemetry, args=(key(n % 2),)) for n in range(8)]
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
    scenario("boards 8\nhang 2 cndevGetDevicePowerInfo\n")
    keys = [board.key for board in remote.boards() if board.key is not None]
    assert keys == [key(index) for index in range(8)]
    found = read_all(remote, "telemetry", keys)
    assert [n for n, answer in enumerate(found) if isinstance(answer, DeviceTimeoutError)] == [2]
    assert sum(isinstance(answer, Telemetry) for answer in found) == 7
    assert remote.memory_errors(key(2)).corrected == 0


# ---- odd answers

NAMES = [
    *("counted", "minor", "serial", "series", "node", "mcu", "board_driver", "driver", "library"),
    *("domain", "bus", "device", "function", "cores", "total", "used", "power", "cap", "tdp"),
    *("limit", "default_limit", "off", "under_clock", "throttle_tdp", "throttle_thermal"),
    *("sram_sbe", "dram_dbe", "parity", "all_sbe", "all_dbe", "rows", "bad_rows", "old_rows"),
    *("pages_single", "pages_double", "page_pending", "pending", "failure", "corrected"),
    *("uncorrected", "mode", "ecc", "field_52", "field_53", "field_type_52", "field_code"),
    *("health", "device_state", "driver_state", "overall", "incidents", "incident_system"),
    *("incident_health", "incident_code", "read", "write", "replays", "speed", "width"),
    *("max_speed", "max_width", "temperature", "board_temperature", "memory_temperature"),
    *("utilization", "clock", "max_clock", "cpus_0", "cpus_1", "relation", "pid"),
    *("process_memory", "processes_told", "mim", "mims", "mim_cores", "mim_memory", "smlu"),
    *("smlus", "smlu_quota", "smlu_memory", "smlu_used", "ports", "mac_0", "active_0"),
    *("gigabytes_0", "fec_0", "down_0", "crc32_0", "peer_0", "link_version_0"),
]
TEXTS = [
    *("name", "uuid", "part", "incident_text", "mim_uuid", "mim_profile", "smlu_uuid"),
    *("smlu_profile", "remote_0"),
]
VALUES = st.one_of(
    st.integers(-1, 1 << 64),
    st.integers(0, 200),
    st.sampled_from([0xFFFFFFFF, 1 << 31, 0xA5A5A5A5, (1 << 63) - 1]),
)
WORDS = st.text(
    st.characters(min_codepoint=32, max_codepoint=0x2FF, exclude_characters="#\x7f"), max_size=40
)
CALLS = ("cndevGetFrequencyInfo", "cndevGetUUID", "cndevGetDeviceHandleByIndex")
CODES = st.sampled_from([0, 3, 5, 6, 9, 10, 17, 18, -1])


@settings(suppress_health_check=[Check.function_scoped_fixture], deadline=None, max_examples=60)
@given(
    st.booleans(),
    st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=12),
    st.dictionaries(st.sampled_from(TEXTS), WORDS, max_size=3),
    st.sampled_from(CALLS),
    CODES,
)
def test_no_answer_makes_a_figure_outside_its_range(
    library: Path,
    old_library: Path,
    scenario: SetScenario,
    old: bool,
    answers: dict[str, int],
    texts: dict[str, str],
    call: str,
    code: int,
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv(LIBRARY.variable, str(old_library if old else library))
        scenario(
            "boards 2\nset 0 mim 1\nset 0 mims 1\nset 0 processes 3\n"
            + "".join(f"set * {name} {value}\n" for name, value in answers.items())
            + "".join(f"set * {name} {value}\n" for name, value in texts.items())
            + f"fail 0 {call} {code}\n"
        )
        found = CndevManagement()
        try:
            boards = found.boards()
        except DeviceError:
            assert "counted" in answers
            return
        keys = [board.key for board in boards if board.key is not None]
        assert len(set(keys)) == len(boards)
        found.versions()
        for name in keys[:4]:
            for method in (*METHODS, "partitions"):
                try:
                    _check(getattr(found, method)(name))
                except DeviceError:
                    # Of more boards than there are, some have no handle; a field has its own code.
                    assert code or {"counted", "field_code"} & set(answers)
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
        if isinstance(one, ProcessMemory) and one.used is not None:
            assert 0 <= one.used <= RANGES["memory_used"][1]
        if isinstance(one, Link):
            assert one.bandwidth is None or 0 < one.bandwidth <= 1e13
            assert all(0 <= count < (1 << 64) - 1 for count in one.errors.values())


def test_the_toolkits_own_folder_is_searched(
    library: Path, tmp_path: Path, scenario: SetScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NEUWARE_HOME, in a process of its own: here the loader knows the library already."""
    folder = tmp_path / "neuware" / "lib64"
    folder.mkdir(parents=True)
    (folder / LIBRARY.soname).symlink_to(library)
    monkeypatch.delenv(LIBRARY.variable, raising=False)
    monkeypatch.setenv("NEUWARE_HOME", str(folder.parent))
    assert SPEC.open_management is not None
    client = DriverClient("mlu", SPEC.open_management)
    try:
        assert [board.index for board in RemoteManagement(client).boards()] == [0]
    finally:
        client.close()
