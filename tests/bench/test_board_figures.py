"""Figures of one board: of the processor, and of simulated boards, whose rates are known."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from accelhal.bench.board_figures import measure_board
from accelhal.facade import device
from accelhal.host.pcie_rate import pcie_rate

INSTANT_S = 0.005


def test_the_processor_multiplies_and_copies() -> None:
    steps: list[str] = []
    found = measure_board(device("cpu"), {}, seconds=INSTANT_S, on_step=steps.append)
    assert found.products["float32"] > 0
    assert found.memory is not None
    assert found.memory > 0
    assert "pinned" not in found.to_board
    assert "page-locked" in found.reasons["pinned copies"]
    assert steps[0] == "matrix product in float32"


def test_a_simulated_board_does_what_its_profile_says(
    mock_boards: Callable[..., list[str]],
) -> None:
    first, second = (device(name) for name in mock_boards(count=2, hazards="off"))
    board = second.board
    assert board is not None
    assert board.key is not None
    found = measure_board(first, {board.key: second}, seconds=INSTANT_S)
    assert found.clock == "device_events"
    assert found.products["float32"] == pytest.approx(19.5e12, rel=0.3)
    assert found.to_board["pinned"] == pytest.approx(pcie_rate(4, 16), rel=0.05)
    assert found.peers[board.key] > found.to_board["pinned"], "they are linked"
    assert found.telemetry is not None
    assert found.telemetry.utilization == 100.0
    assert found.pcie is not None
    assert found.pcie.lanes == 16


def test_a_small_board_is_not_filled(mock_boards: Callable[..., list[str]]) -> None:
    (name,) = mock_boards(count=1, memory="64MiB", hazards="off")
    found = measure_board(device(name), {}, seconds=INSTANT_S)
    assert found.memory is not None
    assert not found.reasons
