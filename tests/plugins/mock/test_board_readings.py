"""Details, memory errors, PCIe link and relations of simulated boards, with and without faults."""

from __future__ import annotations

from dataclasses import fields

import pytest
from accelhal_mock import installation
from accelhal_mock.management import SimulatedManagement

from accelhal.facts import BoardKey, Relation


@pytest.fixture
def machine():
    with installation.preserved():
        yield installation.install(count=4, memory="1GiB", mode="plain", hazards="raise").machine


@pytest.fixture
def management(machine):
    return SimulatedManagement()


@pytest.fixture
def keys(management):
    return [board.key for board in management.boards()]


def test_details_are_the_profiles(management, machine, keys):
    found, profile = management.details(keys[0]), machine.board(0).profile
    assert found.slowdown_temperature == profile.thermals.slowdown
    assert found.default_power_limit == profile.power_limit == 400
    assert (found.max_core_clock, found.max_memory_clock) == (
        profile.core_clock,
        profile.memory_clock,
    )
    assert (found.ecc, found.partitioned) == (True, False)
    machine.board(0).cut("1g.10gb")
    assert management.details(keys[0]).partitioned is True


@pytest.mark.parametrize("method", ["details", "memory_errors", "pcie", "telemetry"])
def test_what_is_not_simulated_says_so(management, keys, method):
    found = getattr(management, method)(keys[0])
    absent = {f.name for f in fields(found) if getattr(found, f.name) is None}
    assert absent == set(found.reasons)
    assert all(found.reasons.values())


@pytest.mark.parametrize("method", ["details", "memory_errors", "pcie"])
def test_a_lost_board_reports_nothing(management, keys, method):
    installation.inject("lost")
    found = getattr(management, method)(keys[0])
    assert "fallen off the bus" in found.reasons["*"]
    assert [f.name for f in fields(found) if getattr(found, f.name) is not None] == ["reasons"]
    assert set(getattr(management, method)(keys[1]).reasons) != {"*"}


def test_memory_errors_are_counted(management, machine, keys):
    sound = management.memory_errors(keys[0])
    assert (sound.corrected, sound.uncorrected, sound.repair_pending) == (0, 0, False)
    installation.inject("row_remap_pending")
    installation.inject("ecc_corrected", operations=2)
    installation.inject("ecc_uncorrected", after=4)
    for _ in range(5):
        machine.board(0).default_stream.launch("kernel", 1.0)
    found = management.memory_errors(keys[0])
    assert (found.corrected, found.uncorrected, found.repair_pending) == (2, 1, True)
    assert management.memory_errors(keys[1]) == sound
    installation.clear()
    assert management.memory_errors(keys[0]) == sound


def test_a_narrowed_link_to_the_host_shows(management, keys):
    whole = management.pcie(keys[0])
    assert (whole.generation, whole.max_generation) == (4, 4)
    assert (whole.lanes, whole.max_lanes) == (16, 16)
    installation.inject("pcie_width_drop", lanes=4)
    narrow = management.pcie(keys[0])
    assert (narrow.lanes, narrow.max_lanes) == (4, 16)
    assert management.pcie(keys[1]) == whole


def test_boards_are_related_by_their_link_while_it_is_up(management, keys):
    assert management.relation(keys[0], keys[1]) is Relation.LINK
    assert management.relation(keys[0], keys[0]) is Relation.BOARD
    installation.inject("link_down", peer=1)
    assert management.relation(keys[0], keys[1]) is Relation.NODE
    assert management.relation(keys[1], keys[0]) is Relation.NODE
    assert management.relation(keys[0], keys[2]) is Relation.LINK


def test_boards_without_a_link_are_related_by_their_node():
    with installation.preserved():
        installation.install(count=4, profile="t4", mode="plain")
        management = SimulatedManagement()
        keys = [board.key for board in management.boards()]
        nodes = [board.numa_node for board in management.boards()]
        assert nodes == [0, 0, 1, 1]
        found = [management.relation(keys[0], other) for other in keys[1:]]
        assert found == [Relation.NODE, Relation.SYS, Relation.SYS]


def test_the_driver_has_a_version(management):
    assert list(management.versions()) == ["driver"]
    assert management.versions()["driver"]


@pytest.mark.parametrize("method", ["details", "memory_errors", "pcie"])
def test_a_broken_driver_library_reads_nothing(management, keys, method):
    installation.inject("library_missing")
    with pytest.raises(OSError, match="cannot open shared object file"):
        getattr(management, method)(keys[0])
    with pytest.raises(OSError, match="cannot open shared object file"):
        management.versions()
    with pytest.raises(OSError, match="cannot open shared object file"):
        management.relation(keys[0], BoardKey("mock", "uuid", "any"))
