"""Management of simulated boards: sensors, health, links, processes and slices."""

from __future__ import annotations

import os

import pytest
from accelhal_mock import installation
from accelhal_mock.management import SimulatedManagement

from accelhal.errors import DeviceNotFoundError, UsageError
from accelhal.facts import BoardKey, HealthStatus


@pytest.fixture
def machine():
    with installation.preserved():
        yield installation.install(count=2, memory="1GiB", mode="plain", hazards="raise").machine


@pytest.fixture
def management(machine):
    return SimulatedManagement()


@pytest.fixture
def key(management):
    return management.boards()[0].key


def check(management, key, name):
    return next(check for check in management.health(key).checks if check.name == name)


def test_boards_are_described_as_a_driver_does(management, machine):
    boards = management.boards()
    assert [board.index for board in boards] == [0, 1]
    assert all(board.simulated for board in boards)
    assert boards[0].name == "NVIDIA A100-SXM4-80GB"
    assert boards[0].total_memory == 1 << 30
    assert boards[0].key == BoardKey("mock", "uuid", machine.board(0).uuid)


def test_telemetry_moves_with_the_load(management, machine, key):
    idle = management.telemetry(key)
    board = machine.board(0)
    kept = board.memory.allocate(100 << 20)
    board.default_stream.launch("kernel", 60.0, (), (kept,))
    board.synchronize()
    loaded = management.telemetry(key)
    assert idle.utilization == 0.0
    assert loaded.utilization == 100.0
    assert loaded.temperature > idle.temperature
    assert loaded.power > idle.power
    assert loaded.core_clock > idle.core_clock
    assert loaded.memory_used - idle.memory_used == 100 << 20
    assert set(loaded.reasons) == {"memory_temperature", "memory_bandwidth_utilization"}


def test_a_sound_board_is_healthy(management, key):
    report = management.health(key)
    assert report.status is HealthStatus.OK
    assert {check.status for check in report.checks} == {HealthStatus.OK}


@pytest.mark.parametrize(
    ("fault", "name", "status"),
    [
        ("lost", "bus", HealthStatus.FAILED),
        ("ecc_corrected", "ecc", HealthStatus.OK),
        ("row_remap_pending", "row_remap", HealthStatus.DEGRADED),
        ("thermal_throttle", "throttle", HealthStatus.DEGRADED),
        ("power_cap", "throttle", HealthStatus.DEGRADED),
        ("pcie_width_drop", "pcie", HealthStatus.DEGRADED),
        ("link_down", "link", HealthStatus.FAILED),
    ],
)
def test_faults_show_in_health(management, key, fault, name, status):
    installation.inject(fault)
    assert check(management, key, name).status is status
    assert management.health(key).status is status
    other = management.boards()[1].key
    assert management.health(other).status is HealthStatus.OK
    installation.clear()
    assert management.health(key).status is HealthStatus.OK


def test_ecc_errors_are_counted(management, machine, key):
    installation.inject("ecc_corrected", operations=2)
    installation.inject("ecc_uncorrected", after=4)
    for _ in range(5):
        machine.board(0).default_stream.launch("kernel", 1.0)
    found = check(management, key, "ecc")
    assert found.value == "2 corrected, 1 uncorrected"
    assert found.status is HealthStatus.FAILED


def test_a_hang_shows_once_work_hangs(management, machine, key):
    installation.inject("hang", after=1)
    machine.board(0).default_stream.launch("kernel", 1.0)
    assert check(management, key, "progress").status is HealthStatus.OK
    machine.board(0).default_stream.launch("kernel", 1.0)
    assert check(management, key, "progress").status is HealthStatus.FAILED


def test_a_lost_board_reads_no_sensor(management, key):
    installation.inject("lost")
    telemetry = management.telemetry(key)
    assert telemetry.temperature is None
    assert "fallen off the bus" in telemetry.reasons["*"]


def test_links_name_the_peer_and_whether_they_are_up(management, key):
    host, link = management.links(key)
    assert (host.kind, host.peer, host.up, host.lanes) == ("PCIe", None, True, 16)
    assert (link.kind, link.peer, link.up) == ("NVLink", management.boards()[1].key, True)
    installation.inject("link_down", peer=1)
    installation.inject("pcie_width_drop", lanes=4)
    host, link = management.links(key)
    assert host.lanes == 4
    assert link.up is False


def test_processes_share_the_memory(management, machine, key):
    assert management.processes(key) == []
    kept = machine.board(0).memory.allocate(1)
    machine.board(0).memory.others[4242] = 5 << 20
    assert [(p.pid, p.used) for p in management.processes(key)] == [
        (os.getpid(), 2 << 20),
        (4242, 5 << 20),
    ]
    del kept


def test_a_board_is_cut_into_slices(management, machine, key):
    assert management.partitions(key) == []
    machine.board(0).cut("3g.40gb", "2g.20gb", "1g.10gb")
    parts = management.partitions(key)
    assert [part.profile for part in parts] == ["3g.40gb", "2g.20gb", "1g.10gb"]
    assert len({part.key for part in parts}) == 3
    assert parts[0].compute_share == pytest.approx(3 / 7)
    machine.board(0).cut(*["1g.10gb"] * 7)
    assert len(management.partitions(key)) == 7
    with pytest.raises(UsageError, match="do not fit"):
        machine.board(0).cut("7g.80gb", "1g.10gb")
    with pytest.raises(UsageError, match=r"cannot be cut into '9g.90gb'(?s:.*)1g.10gb"):
        machine.board(0).cut("9g.90gb")
    made = management.partition_commands(key, "1g.10gb")
    assert (made.lines, "cut('1g.10gb')" in made.notes[0]) == ((), True)
    assert "cut()" in management.removal_commands(parts[0].key).notes[0]
    machine.board(0).cut()
    assert management.partitions(key) == []


@pytest.mark.parametrize(
    ("fault", "error", "says"),
    [
        ("library_missing", OSError, "cannot open shared object file"),
        ("library_broken", OSError, "undefined symbol"),
        ("permission_denied", PermissionError, "Insufficient Permissions"),
    ],
)
def test_a_broken_driver_library_fails_as_a_real_one(management, key, fault, error, says):
    installation.inject(fault)
    for call in (management.boards, lambda: management.telemetry(key), SimulatedManagement):
        with pytest.raises(error, match=says):
            call()
    installation.clear()
    assert management.boards()


def test_a_board_of_former_days_is_not_found(management, key):
    installation.install(profile="h100", mode="plain")
    with pytest.raises(DeviceNotFoundError, match=r"no simulated board(?s:.*)installed anew"):
        management.health(key)
