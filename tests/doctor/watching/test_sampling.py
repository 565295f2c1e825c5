"""The seconds of --watch as they are spent: a real sampler, on simulated boards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from accelhal_mock.installation import machine

from accelhal.doctor.facts import Facts
from accelhal.doctor.watching.sampling import watch_boards
from accelhal.facts import BoardReading, Telemetry


@pytest.fixture
def readings(
    mock_boards: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> list[BoardReading]:
    monkeypatch.setenv("ACCELHAL_DEVICE", "mock")
    mock_boards(count=2)
    return Facts().readings("mock")


def test_boards_are_sampled_until_the_seconds_are_over(readings: list[BoardReading]) -> None:
    machine().board(0).memory.others[4711] = 1 << 20
    ticks: list[float] = []
    first, second = watch_boards(readings, seconds=0.2, period_s=0.05, on_tick=ticks.append)
    assert ticks[0] < ticks[-1] == 0.2
    assert len(first.samples) >= 2
    assert isinstance(first.samples[0].readings["telemetry"], Telemetry)
    assert set(first.samples[0].readings) == {"telemetry", "pcie", "memory_errors"}
    assert (first.pids, second.pids) == (frozenset({4711}), frozenset())
    assert first.answers
    assert second.answers


def test_a_process_that_left_was_not_there_for_the_whole_time(
    readings: list[BoardReading],
) -> None:
    others = machine().board(0).memory.others
    others |= {4711: 1 << 20, 815: 1 << 20}
    first, _ = watch_boards(
        readings, seconds=0.1, period_s=0.05, on_tick=lambda seconds: others.pop(815, None)
    )
    assert first.pids == frozenset({4711})


def test_boards_that_no_driver_lists_are_not_watched(readings: list[BoardReading]) -> None:
    board = replace(readings[0].board, source="pci")
    assert watch_boards([BoardReading(board)], seconds=0.1) == ()
