"""`nvidia-smi -q`, whole and with -d: the same figures as in XML, and pages that end early."""

from __future__ import annotations

import pytest
from accelhal_cuda.evidence import READERS
from captured_samples.nvidia_smi import (
    FIRST,
    QUERY,
    QUERY_OLD,
    RETIREMENT,
    TEMPERATURES_610,
    TOPOLOGY,
)
from captured_samples.reading import only, read, refusal

from accelhal.facts import BoardKey, HealthStatus, ProcessMemory


def test_a_whole_page() -> None:
    found = only(READERS, QUERY)
    assert dict(found.versions) == {"driver": "590.99.01", "toolkit": "13.1"}
    reading, first, second = found.boards
    board = reading.board
    assert (board.key, board.name, board.index) == (
        BoardKey("cuda", "uuid", FIRST),
        "Toy H9 80GB",
        0,
    )
    sensors = reading.telemetry
    assert sensors is not None
    assert (sensors.temperature, sensors.memory_temperature) == (53, 58)
    assert (sensors.power, sensors.power_limit) == (432.21, 700.0)
    assert (sensors.core_clock, sensors.memory_clock) == (1980, 2619)
    assert sensors.utilization is None
    assert sensors.throttle_reasons == ("power_cap", "power_brake")
    details = reading.details
    assert details is not None
    assert (details.slowdown_temperature, details.shutdown_temperature) == (None, None)
    assert (details.default_power_limit, details.compute_mode) == (690.0, "default")
    assert (details.persistence, details.ecc, details.partitioned) == (True, True, True)
    pcie = reading.pcie
    assert pcie is not None
    assert (pcie.generation, pcie.max_generation, pcie.lanes, pcie.replays) == (4, 5, 16, 9)
    assert (pcie.sent, pcie.received) == (9.139e6, 19.191e6)
    errors = reading.memory_errors
    assert errors is not None
    assert (errors.corrected, errors.uncorrected, errors.repaired) == (5, 0, None)
    assert reading.health is not None
    assert reading.health.status is HealthStatus.DEGRADED, "the power brake"
    assert [part.board.total_memory for part in (first, second)] == [40448 << 20, 20096 << 20]
    assert first.processes == (ProcessMemory(10001, 2296 << 20), ProcessMemory(10003, None))
    assert (reading.processes, second.processes) == ((), ())


def test_an_old_page_counts_errors_by_bits() -> None:
    [reading] = only(READERS, QUERY_OLD).boards
    errors = reading.memory_errors
    assert errors is not None
    assert (errors.corrected, errors.uncorrected) == (6, 0)
    assert (errors.corrected_total, errors.uncorrected_total) == (7, 1)
    assert reading.telemetry is not None
    assert (reading.telemetry.power, reading.telemetry.power_limit) == (11.5, 30.0)
    assert (reading.telemetry.utilization, reading.telemetry.throttle_reasons) == (12, ("idle",))
    assert reading.details is not None
    assert reading.details.slowdown_temperature == 100
    assert reading.processes == ()


def test_one_section_says_nothing_of_the_others() -> None:
    one, other = only(READERS, RETIREMENT).boards
    assert (one.board.pci, one.board.index) == ("0001:00:00.0", 0)
    assert (one.telemetry, one.details, one.pcie, one.processes) == (None, None, None, None)
    assert one.memory_errors is not None
    assert (one.memory_errors.repaired, one.memory_errors.repair_pending) == (65, False)
    assert one.health is not None
    assert other.health is not None
    assert (one.health.status, other.health.status) == (HealthStatus.OK, HealthStatus.DEGRADED)


def test_release_610_shows_its_version_twice() -> None:
    found = only(READERS, TEMPERATURES_610)
    assert dict(found.versions) == {"driver": "610.99.04", "toolkit": "13.3"}
    [reading] = found.boards
    assert reading.board.index is None, "one of two"
    assert reading.details is not None
    assert reading.details.slowdown_temperature == 100


def test_what_follows_without_a_blank_line() -> None:
    found = read(READERS, f"{QUERY}\n{TOPOLOGY}")
    assert [section.evidence.source for section in found.sections] == [
        "nvidia-smi -q",
        "nvidia-smi topo -m",
    ]


@pytest.mark.parametrize(
    ("text", "lines", "reason"),
    [
        (QUERY, 9, "nothing under 'GPU 00000000:00:09.0'"),
        (QUERY, 13, "nothing under 'MIG Mode'"),
        (QUERY, 60, "lacks 'Processes'"),
        (QUERY, 90, "nothing under 'Processes'"),
        (QUERY, 92, "process without its number"),
        (RETIREMENT, 5, "before the first board"),
        (RETIREMENT, 8, "before the first board"),
    ],
)
def test_pages_that_end_early(text: str, lines: int, reason: str) -> None:
    found = read(READERS, "\n".join(text.splitlines()[:lines]))
    assert not found.sections
    assert reason in found.unread[0].reason


def test_an_excerpt_of_which_the_last_board_is_cut_off() -> None:
    text = RETIREMENT.replace("GPU 00000001:00:00.0\n", "GPU 00000001:00:00.0\n    A : 1\n")
    assert "lacks 'A'" in refusal(READERS, text)


@pytest.mark.parametrize("said", ["[...]", "somebody's words"])
def test_lines_that_are_none_of_the_page(said: str) -> None:
    text = QUERY.replace("    Minor Number", f"    {said}\n    Minor Number")
    assert f"nothing under {said!r}" in refusal(READERS, text).replace('"', "'") or (
        "nothing under" in refusal(READERS, text)
    )


def test_a_page_with_two_boards_of_one_address() -> None:
    assert "key" in refusal(READERS, RETIREMENT.replace("00000002", "00000001"))


def test_a_board_more_than_attached() -> None:
    assert "board 2 of 1" in refusal(READERS, RETIREMENT.replace(": 2\nGPU", ": 1\nGPU"))


@pytest.mark.parametrize("active", ["Maybe", ""])
def test_a_throttle_reason_that_cannot_be_read(active: str) -> None:
    text = QUERY.replace(
        "SW Power Cap                                   : Active", f"SW : {active}"
    )
    reading = only(READERS, text).boards[0]
    assert reading.telemetry is not None
    assert reading.telemetry.throttle_reasons is None
    assert reading.telemetry.reasons["throttle_reasons"].startswith("SW: ")


def test_a_throttle_reason_that_is_not_known() -> None:
    text = QUERY.replace("SW Power Cap  ", "Full Moon     ")
    reading = only(READERS, text).boards[0]
    assert reading.telemetry is not None
    assert reading.telemetry.reasons["throttle_reasons"] == (
        "Full Moon: a reason that is not known here"
    )
