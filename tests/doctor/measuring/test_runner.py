"""Boards measured in child processes: simulated ones, and children that do not come to an end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from accelhal.doctor.catalogue import catalogue
from accelhal.doctor.engine import run_checks
from accelhal.doctor.facts import Facts
from accelhal.doctor.measuring.outcomes import Outcome
from accelhal.doctor.measuring.runner import measure_boards
from accelhal.facts import BoardKey, BoardReading, FindingState, ProcessMemory
from accelhal.spi.doctor import Cost

INSTANT_S = 0.01


@pytest.fixture
def simulated(
    mock_boards: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., list[BoardReading]]:
    """Boards here and in every child; a fault strikes in the children."""

    def boards(count: int, faults: str = "") -> list[BoardReading]:
        monkeypatch.setenv("ACCELHAL_DEVICE", "mock")
        monkeypatch.setenv("ACCELHAL_MOCK", f"count={count}")
        monkeypatch.setenv("ACCELHAL_MOCK_FAULTS", faults)
        mock_boards(count=count)
        return Facts().readings("mock")

    return boards


def test_the_slow_one_of_three_is_found_and_one_in_use_is_left_alone(
    simulated: Callable[..., list[BoardReading]],
) -> None:
    first, slow, busy = simulated(3, "slow@1:factor=20")
    busy = replace(busy, processes=(ProcessMemory(4711, 1 << 30),))
    told: list[str] = []
    measured = measure_boards([first, slow, busy], seconds=INSTANT_S, on_start=told.append)
    assert [m.outcome for m in measured] == [Outcome.MEASURED, Outcome.MEASURED, Outcome.IN_USE]
    assert told == ["mock board 0", "mock board 1"]
    assert measured[0].figures is not None
    assert list(measured[0].figures.peers) == [slow.board.key], "a pair is measured once"

    facts = Facts()
    facts.__dict__["measured"] = measured
    found = run_checks(catalogue().select(["perf.measure"]), facts, scene=set(Cost)).findings
    assert [(f.device, f.code) for f in found] == [
        ("mock board 0", "measure.fine"),
        ("mock board 1", "measure.slow_sibling"),
        ("mock board 2", "measure.in_use"),
    ]
    assert found[0].state is FindingState.OK


def test_a_board_that_fails_at_work(simulated: Callable[..., list[BoardReading]]) -> None:
    (measured,) = measure_boards(simulated(1, "lost@0:after=2"), seconds=INSTANT_S)
    assert measured.outcome is Outcome.FAILED
    assert measured.step == "matrix product in float32"
    assert "lost" in measured.detail


@pytest.mark.parametrize(
    ("limits", "outcome"),
    [({"start_limit_s": 0.0}, Outcome.NOT_OPENED), ({"limit_s": 0.0}, Outcome.HUNG)],
)
def test_a_child_that_does_not_end(
    limits: dict[str, float], outcome: Outcome, simulated: Callable[..., list[BoardReading]]
) -> None:
    (measured,) = measure_boards(simulated(1), **limits)
    assert measured.outcome is outcome
    assert "no end" in measured.detail


def test_a_backend_that_does_not_open_is_no_failure_of_the_board(
    simulated: Callable[..., list[BoardReading]], monkeypatch: pytest.MonkeyPatch
) -> None:
    readings = simulated(1)
    monkeypatch.setenv("ACCELHAL_MOCK", "count=none")
    (measured,) = measure_boards(readings)
    assert (measured.outcome, measured.step) == (Outcome.NOT_OPENED, "open the boards")
    assert "count" in measured.detail


def test_a_board_that_no_device_of_torch_is_on(
    simulated: Callable[..., list[BoardReading]],
) -> None:
    (reading,) = simulated(1)
    other = replace(reading.board, key=BoardKey("mock", "uuid", "another host's"))
    (measured,) = measure_boards([replace(reading, board=other)])
    assert measured.outcome is Outcome.HIDDEN
