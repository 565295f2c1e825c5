"""The unmodified nvidia-ml-py over a simulated NVML, read by the plugin's Management."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pynvml
import pytest
from accelhal_cuda import nvml_sources
from accelhal_cuda.management import NvmlManagement
from accelhal_cuda.spec import SPEC
from hypothesis import HealthCheck as Check, given, settings, strategies as st
from vendor_stacks.driver_process import in_driver_process
from vendor_stacks.nvml.simulated import (
    SONAME,
    key,
    library as library,
    load,
    nvml as nvml,
    scenario as scenario,
)
from vendor_stacks.simulated_library import SetScenario, build

from accelhal.drivers.readings import RANGES
from accelhal.errors import (
    BackendLoadError,
    DeviceError,
    DeviceLostError,
    DeviceNotFoundError,
    DeviceTimeoutError,
    DeviceUnhealthyError,
)
from accelhal.facts import (
    BoardDetails,
    BoardKey,
    HealthStatus,
    Link,
    MemoryErrors,
    PcieLink,
    ProcessMemory,
    Relation,
    Telemetry,
)
from accelhal.management import driver_client
from accelhal.management.remote import RemoteManagement, read_all


@pytest.fixture(scope="module")
def old_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("nvml/nvml.c", SONAME, tmp_path_factory.mktemp("old"), "-DOLD_DRIVER")


def test_identity(nvml: NvmlManagement, scenario: SetScenario) -> None:
    scenario("boards 2\nset 1 serial 1650522003820\nset 1 domain 65536\nset 1 bus 175\n")
    first, second = nvml.boards()
    assert (first.key, first.index, first.uuid) == (key(0), 0, key(0).value)
    assert (first.name, first.vendor, first.serial) == ("NVIDIA A100-SXM4-80GB", "NVIDIA", None)
    assert (first.pci, second.pci) == ("0000:10:00.0", "10000:af:00.0")
    assert (first.total_memory, second.serial) == (80 << 30, "1650522003820")
    assert (first.numa_node, first.parent) == (0, None)


@pytest.mark.parametrize(("mask", "node"), [(2, 1), (3, None), (0, None), (-1, None)])
def test_a_board_near_several_nodes_or_none_names_none(
    nvml: NvmlManagement, scenario: SetScenario, mask: int, node: int | None
) -> None:
    scenario(f"set * memory_affinity {mask}\n")
    assert nvml.boards()[0].numa_node == node


def test_sensors_are_in_our_units(nvml: NvmlManagement, scenario: SetScenario) -> None:
    scenario("set 0 field_82 71\nset 0 reasons 0x44\n")
    assert nvml.telemetry(key(0)) == Telemetry(
        temperature=50,
        memory_temperature=71,
        power=67.03,
        power_limit=400.0,
        utilization=40,
        memory_bandwidth_utilization=20,
        core_clock=1410,
        memory_clock=1593,
        memory_used=1 << 30,
        memory_total=80 << 30,
        throttle_reasons=("power_cap", "hardware_thermal"),
        reasons={},
    )


def test_details(nvml: NvmlManagement, scenario: SetScenario) -> None:
    scenario("set 0 compute_mode 3\nset 0 persistence 0\nset 0 cpu_affinity 5\nset 0 minor 3\n")
    assert nvml.details(key(0)) == BoardDetails(
        part_number="692-2G506-0210-002",
        firmware="92.00.45.00.05",
        node=3,
        slowdown_temperature=89,
        shutdown_temperature=92,
        default_power_limit=400.0,
        max_core_clock=1410,
        max_memory_clock=1593,
        cpu_affinity=(0, 2),
        ecc=True,
        persistence=False,
        compute_mode="exclusive_process",
        reasons={
            "partitioned": "nvmlDeviceGetMigMode: Not Supported",
            "fabric": "the board is on no NVSwitch fabric",
        },
    )


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("set 0 fabric 1", "Not Started"),
        ("set 0 fabric 2", "In Progress"),
        ("set 0 fabric 3", "Completed"),
        ("set 0 fabric 3\nset 0 fabric_status 999", "Completed, Unknown Error"),
        ("set 0 fabric 3\nfail 0 nvmlDeviceGetGpuFabricInfoV 13", "Completed"),
        ("set 0 fabric 9", None),
    ],
)
def test_the_fabric_is_told_in_words(
    nvml: NvmlManagement, scenario: SetScenario, settings: str, expected: str | None
) -> None:
    scenario(f"{settings}\n")
    found = nvml.details(key(0))
    assert found.fabric == expected
    assert ("fabric" in found.reasons) == (expected is None)


def test_the_pcie_link(nvml: NvmlManagement, scenario: SetScenario) -> None:
    scenario("set 0 pcie_generation 1\nset 0 pcie_width 8\nset 0 replays 7\n")
    assert nvml.pcie(key(0)) == PcieLink(1, 4, 8, 16, 7, 2e6, 1e6)


def test_memory_errors_of_boards_that_remap_rows(
    nvml: NvmlManagement, scenario: SetScenario
) -> None:
    scenario(
        "set 0 corrected 5\nset 0 corrected_total 9\nset 0 rows_corrected 1\n"
        "set 0 rows_uncorrected 2\nset 0 rows_pending 1\n"
    )
    assert nvml.memory_errors(key(0)) == MemoryErrors(5, 0, 9, 0, 3, True, False)


def test_memory_errors_of_boards_that_retire_pages(
    nvml: NvmlManagement, scenario: SetScenario
) -> None:
    scenario(
        "set 0 rows_corrected -1\nset 0 pages_single 3\nset 0 pages_double 1\n"
        "set 0 pages_pending 1\n"
    )
    found = nvml.memory_errors(key(0))
    assert (found.repaired, found.repair_pending, found.repair_failed) == (4, True, None)
    assert "nvmlDeviceGetRemappedRows" in found.reasons["repair_failed"]


def test_links_name_their_peers_and_end_where_the_board_has_no_more(
    nvml: NvmlManagement, scenario: SetScenario
) -> None:
    scenario(
        "boards 2\nset 0 links 3\nset 0 link_0_peer 1\nset 0 link_1_up 0\nset 0 link_2_crc_flit 4\n"
    )
    nvml.boards()
    clean = {"replay": 0, "recovery": 0, "crc_flit": 0, "crc_data": 0}
    assert nvml.links(key(0)) == [
        Link("NVLink", key(1), True, number=0, version="3", errors=clean),
        Link("NVLink", None, False, number=1, version="3", errors=clean),
        Link("NVLink", None, True, number=2, version="3", errors={**clean, "crc_flit": 4}),
    ]
    assert nvml.links(key(1)) == []


def test_processes_and_a_memory_that_the_driver_does_not_tell(
    nvml: NvmlManagement, scenario: SetScenario
) -> None:
    scenario("set 0 processes 2\n")
    assert nvml.processes(key(0)) == [
        ProcessMemory(4242, 512 << 20),
        ProcessMemory(4243, 512 << 20),
    ]
    scenario("set 0 processes 1\nset 0 process_memory 0xffffffffffffffff\n")
    assert nvml.processes(key(0)) == [ProcessMemory(4242, None)]
    scenario("fail 0 nvmlDeviceGetComputeRunningProcesses_v3 3\n")
    assert list(nvml.processes(key(0))) == []


def test_slices_are_boards_with_a_parent(nvml: NvmlManagement, scenario: SetScenario) -> None:
    scenario("boards 2\nset 1 mig 1\nset 1 slices 2\n")
    boards = nvml.boards()
    assert [board.parent for board in boards] == [None, None, key(1), key(1)]
    part, other = nvml.partitions(key(1))
    assert (part.key, part.parent) == (boards[2].key, key(1))
    assert (part.profile, part.total_memory, part.compute_share) == ("2g.20gb", 20 << 30, 2 / 7)
    assert part.environment == {"CUDA_VISIBLE_DEVICES": part.key.value}
    assert part.key != other.key
    assert boards[2].total_memory == 20 << 30
    assert nvml.telemetry(part.key).utilization is None
    assert nvml.partitions(key(0)) == []


@pytest.mark.parametrize(
    ("level", "relation"),
    [(0, Relation.BOARD), (10, Relation.PIX), (50, Relation.SYS), (60, None), (-1, None)],
)
def test_relations(
    nvml: NvmlManagement, scenario: SetScenario, level: int, relation: Relation | None
) -> None:
    scenario(f"boards 2\nset 0 ancestor_1 {level}\n")
    assert nvml.relation(key(0), key(1)) is relation


def test_versions(nvml: NvmlManagement) -> None:
    expected = {"driver": "550.54.15", "library": "12.550.54.15", "toolkit": "12.4"}
    assert nvml.versions() == expected


# ---- what is not there, and what goes wrong


def test_an_older_driver_answers_by_its_older_names(
    old_library: Path, scenario: SetScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(old_library, monkeypatch)
    scenario("set 0 reasons 0x4\n")
    old = NvmlManagement()
    found = old.telemetry(key(0))
    assert (found.temperature, found.throttle_reasons) == (50, ("power_cap",))
    # Version 1 counts what the driver keeps for itself as used.
    assert found.memory_used == (1 << 30) + (869 << 20)
    old.close()


@pytest.mark.parametrize("code", [3, 13, 25, 26])
def test_no_value_is_none_with_the_calls_name(
    nvml: NvmlManagement, scenario: SetScenario, code: int
) -> None:
    scenario(f"fail 0 nvmlDeviceGetPowerUsage {code}\n")
    found = nvml.telemetry(key(0))
    assert found.power is None
    assert "nvmlDeviceGetPowerUsage" in found.reasons["power"]
    assert found.power_limit == 400.0


def test_missing_rights_are_a_reason(nvml: NvmlManagement, scenario: SetScenario) -> None:
    scenario("fail 0 nvmlDeviceGetPcieReplayCounter 4\n")
    assert "more rights" in nvml.pcie(key(0)).reasons["replays"]


@pytest.mark.parametrize(
    ("code", "raised"),
    [
        (15, DeviceLostError),
        (16, DeviceUnhealthyError),
        (10, DeviceTimeoutError),
        (27, DeviceTimeoutError),
        (999, DeviceError),
    ],
)
def test_a_board_that_fails_is_an_error_and_sick(
    nvml: NvmlManagement, scenario: SetScenario, code: int, raised: type[DeviceError]
) -> None:
    scenario(f"fail 0 nvmlDeviceGetPowerUsage {code}\nfail 0 nvmlDeviceGetTotalEccErrors {code}\n")
    with pytest.raises(raised, match="nvmlDeviceGetPowerUsage") as found:
        nvml.telemetry(key(0))
    assert type(found.value) is raised
    assert nvml.health(key(0)).status is HealthStatus.FAILED


def test_a_lost_board_is_listed_beside_the_others(
    nvml: NvmlManagement, scenario: SetScenario
) -> None:
    scenario("boards 3\nfail 1 nvmlDeviceGetUUID 15\n")
    boards = nvml.boards()
    assert [board.index for board in boards] == [0, 1, 2]
    assert boards[1].key == BoardKey("cuda", "logic-id", "1")
    assert "does not answer" in boards[1].name
    assert nvml.health(boards[1].key).status is HealthStatus.FAILED
    assert nvml.health(boards[2].key).status is HealthStatus.OK


@pytest.mark.parametrize(
    ("statement", "check", "status"),
    [
        ("set 0 uncorrected 1", "ecc", HealthStatus.FAILED),
        ("set 0 rows_pending 1", "row_remap", HealthStatus.DEGRADED),
        ("set 0 rows_failed 1", "row_remap", HealthStatus.FAILED),
        ("set 0 reasons 0x40", "throttle", HealthStatus.DEGRADED),
        ("set 0 reasons 0x4", "throttle", HealthStatus.OK),
        ("set 0 field_230 2", "recovery", HealthStatus.FAILED),
        ("set 0 field_230 0", "recovery", HealthStatus.OK),
        ("set 0 links 2\nset 0 link_1_up 0", "link", HealthStatus.FAILED),
        ("set 0 links 2", "link", HealthStatus.OK),
    ],
)
def test_health_is_its_worst_check(
    nvml: NvmlManagement, scenario: SetScenario, statement: str, check: str, status: HealthStatus
) -> None:
    scenario(statement + "\n")
    found = nvml.health(key(0))
    assert found.status is status
    assert {c.name: c.status for c in found.checks}[check] is status


def test_a_key_that_nobody_has(nvml: NvmlManagement) -> None:
    with pytest.raises(DeviceNotFoundError, match="no board with the uuid GPU-gone"):
        nvml.telemetry(BoardKey("cuda", "uuid", "GPU-gone"))


@pytest.mark.parametrize("code", [9, 12, 18, 999])
def test_a_driver_that_does_not_start_says_so(
    library: Path, scenario: SetScenario, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    load(library, monkeypatch)
    scenario(f"fail * init {code}\n")
    with pytest.raises(BackendLoadError, match="NVML does not start"):
        NvmlManagement()


def test_no_board_and_sixty_four(nvml: NvmlManagement, scenario: SetScenario) -> None:
    scenario("boards 0\n")
    assert nvml.boards() == []
    scenario("boards 64\n")
    keys = [board.key for board in nvml.boards()]
    assert len(set(keys)) == 64
    assert all(nvml.telemetry(k).power for k in keys if k is not None)


NAMES = [
    "temperature",
    "power",
    "power_limit",
    "power_default",
    "utilization",
    "memory_utilization",
    "clock",
    "memory_clock",
    "max_clock",
    "max_memory_clock",
    "memory_total",
    "memory_used",
    "memory_reserved",
    "reasons",
    "slowdown",
    "shutdown",
    "corrected",
    "corrected_total",
    "uncorrected",
    "uncorrected_total",
    "rows_corrected",
    "rows_uncorrected",
    "pcie_generation",
    "pcie_max_generation",
    "pcie_width",
    "pcie_max_width",
    "pcie_rx",
    "pcie_tx",
    "replays",
    "ecc",
    "persistence",
    "compute_mode",
    "mig",
    "field_82",
    "field_230",
    "cpu_affinity",
    "memory_affinity",
    "minor",
    "bus",
    "domain",
]
VALUES = st.one_of(st.integers(-1, 1 << 64), st.sampled_from([0x7FFF, 0xFFFFFFFF, 1 << 31]))


@settings(suppress_health_check=[Check.function_scoped_fixture], deadline=None, max_examples=60)
@given(st.dictionaries(st.sampled_from(NAMES), VALUES), st.integers(0, 999))
def test_no_answer_makes_a_figure_outside_its_range(
    nvml: NvmlManagement, scenario: SetScenario, answers: dict[str, int], code: int
) -> None:
    statements = [f"set 0 {name} {value}" for name, value in answers.items()]
    scenario("\n".join([*statements, f"fail 0 nvmlDeviceGetClockInfo {code}", ""]))
    for method in ("telemetry", "details", "memory_errors", "pcie", "health", "links"):
        try:
            found = getattr(nvml, method)(key(0))
        except DeviceError:
            assert code
            continue
        for name, value in _figures(found):
            low, high = RANGES[name]
            assert low <= value <= high


def _figures(found: Any) -> Iterator[tuple[str, float]]:
    if not isinstance(found, (Telemetry, BoardDetails, MemoryErrors, PcieLink)):
        return
    for field in fields(found):
        value = getattr(found, field.name)
        if value is not None and field.name in RANGES:
            yield field.name, value


def test_every_figure_has_a_source_and_every_source_a_call() -> None:
    kinds = (Telemetry, BoardDetails, MemoryErrors, PcieLink)
    figures = {f"{kind.__name__}.{f.name}" for kind in kinds for f in fields(kind)}
    unread = {name for name in figures - set(nvml_sources.SOURCES) if not name.endswith(".reasons")}
    assert unread == set()
    for calls in nvml_sources.SOURCES.values():
        for call in re.findall(r"nvml\w+", calls):
            assert hasattr(pynvml, call)


# ---- in its own process


@pytest.fixture
def remote(
    library: Path, scenario: SetScenario, monkeypatch: pytest.MonkeyPatch
) -> Iterator[RemoteManagement]:
    monkeypatch.setenv("LD_LIBRARY_PATH", str(library.parent))
    with in_driver_process(SPEC) as plane:
        yield plane


def test_the_plugin_runs_in_a_driver_process(
    remote: RemoteManagement, scenario: SetScenario
) -> None:
    scenario("boards 8\n")
    keys = [board.key for board in remote.boards() if board.key is not None]
    assert keys == [key(index) for index in range(8)]
    assert [found.power for found in read_all(remote, "telemetry", keys)] == [67.03] * 8


def test_a_board_that_hangs_costs_itself_alone(
    remote: RemoteManagement, scenario: SetScenario, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", str(library.parent))
    monkeypatch.setattr(driver_client, "SILENCE_S", 3600)
    scenario("boards 4\nhang 2 nvmlDeviceGetPowerUsage\n")
    found = read_all(remote, "telemetry", [key(index) for index in range(4)])
    assert [type(answer) for answer in found] == [
        Telemetry,
        Telemetry,
        DeviceTimeoutError,
        Telemetry,
    ]
    assert remote.pcie(key(2)).lanes == 16


def test_a_driver_that_does_not_count_its_boards_is_an_error(
    nvml: NvmlManagement, scenario: SetScenario
) -> None:
    scenario("fail * nvmlDeviceGetCount_v2 4\n")
    with pytest.raises(DeviceError, match=r"does not count its boards: .*more rights") as found:
        nvml.boards()
    assert "nvidia-smi" in (found.value.hint or "")


def test_a_board_whose_slices_are_not_counted_is_listed(
    nvml: NvmlManagement, scenario: SetScenario
) -> None:
    scenario("set 0 mig 1\nset 0 slices 2\nfail 0 nvmlDeviceGetMaxMigDeviceCount 3\n")
    assert [board.key for board in nvml.boards()] == [key(0)]
