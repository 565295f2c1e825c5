"""--watch on simulated boards, whose clock runs as fast as the test: who hangs, works, or rests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import accelhal_mock
import pytest
from accelhal_mock.installation import machine

from accelhal.doctor.catalogue import catalogue
from accelhal.doctor.engine import run_checks
from accelhal.doctor.facts import Facts
from accelhal.doctor.watching.sampling import SAMPLED, watch_boards
from accelhal.facts import BoardKey, BoardReading, Finding, FindingState
from accelhal.management.planes import open_management
from accelhal.management.sampler import Sample
from accelhal.registry import backends
from accelhal.spi.doctor import Cost

SECONDS = 60.0
WATCHED = (
    *("hb.alive", "perf.spin", "perf.util", "perf.membw", "perf.transfer"),
    *("perf.throttle", "perf.memory_errors"),
)
LOUD = {FindingState.WARN, FindingState.FAIL, FindingState.ERROR}


class VirtualSampler:
    """Reads simulated boards once in each of their seconds; `wait` lets those go by."""

    def __init__(self, boards: Sequence[BoardKey], period_s: float, history: int) -> None:
        self._found: dict[BoardKey, list[Sample]] = {board: [] for board in boards}
        spec = next(backend.spec for backend in backends() if backend.name == "mock")
        assert spec is not None
        self._management = open_management(spec)

    def __enter__(self) -> VirtualSampler:
        return self

    def __exit__(self, *exception: object) -> None:
        return None

    def samples(self, board: BoardKey) -> list[Sample]:
        return self._found[board]

    def read(self) -> None:
        for board, found in self._found.items():
            readings = {name: getattr(self._management, name)(board) for name in SAMPLED}
            found.append(Sample(now(), readings))


def now() -> float:
    return machine().clock.now()


def watched(each_second: Callable[[], object] = lambda: None) -> list[Finding]:
    """What the checks of --watch find after a minute of the simulation."""
    facts = Facts(watch_s=SECONDS)
    readings: list[BoardReading] = facts.readings("mock")
    samplers: list[VirtualSampler] = []

    def make(boards: Sequence[BoardKey], period_s: float, history: int) -> VirtualSampler:
        samplers.append(VirtualSampler(boards, period_s, history))
        return samplers[0]

    def wait(seconds: float) -> None:
        each_second()
        accelhal_mock.advance(1.0)
        samplers[0].read()

    facts.__dict__["watched"] = watch_boards(
        readings, seconds=SECONDS, make_sampler=make, clock=now, wait=wait
    )
    assert len(facts.watched) == 2
    return list(run_checks(catalogue().select(WATCHED), facts, scene=set(Cost)).findings)


def of(found: Sequence[Finding], check: str, board: int = 0) -> Finding:
    (finding,) = (f for f in found if (f.check, f.device) == (check, f"mock board {board}"))
    return finding


@pytest.fixture
def board(mock_boards: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch) -> Any:
    """The first of two boards; a job of another process holds memory on it."""
    monkeypatch.setenv("ACCELHAL_DEVICE", "mock")
    mock_boards(count=2, memory="1GiB", hazards="off")
    first = machine().board(0)
    first.memory.others[4711] = 512 << 20
    return first


def test_a_board_that_hangs(board: Any) -> None:
    accelhal_mock.inject("hang")
    board.default_stream.launch("kernel", 1.0)
    found = watched()
    hangs = of(found, "perf.spin")
    assert (hangs.code, hangs.state) == ("spin.hangs", FindingState.FAIL)
    assert "py-spy dump --pid 4711" in hangs.commands
    assert {(f.check, f.device) for f in found if f.state in LOUD} == {
        ("perf.spin", "mock board 0")
    }


def test_a_board_at_work_and_one_at_rest(board: Any) -> None:
    board.default_stream.launch("kernel", 2 * SECONDS)
    found = watched()
    assert not [finding for finding in found if finding.state in LOUD]
    assert of(found, "perf.spin").code == "spin.works"
    assert of(found, "perf.util").code == "util.high"
    assert of(found, "hb.alive").code == "beat.all"
    for check in ("perf.spin", "perf.util"):
        assert of(found, check, board=1).state is FindingState.SKIP


def test_a_board_that_waits_in_each_step(board: Any) -> None:
    found = watched(lambda: board.default_stream.launch("kernel", 0.5))
    low = of(found, "perf.util")
    assert (low.code, low.state) == ("util.low", FindingState.WARN)
    assert low.params["percent"] == 50
    assert "py-spy top --pid 4711" in low.commands


def test_a_service_with_little_traffic(board: Any) -> None:
    seconds = iter(range(1000))

    def request() -> None:
        if next(seconds) % 2 == 0:
            board.default_stream.launch("kernel", 1.0)

    found = watched(request)
    assert not [finding for finding in found if finding.state in LOUD]
    assert of(found, "perf.util").code == "util.waits_for_requests"


def test_a_board_that_slows_down(board: Any) -> None:
    accelhal_mock.inject("thermal_throttle", factor=2)
    board.default_stream.launch("kernel", 2 * SECONDS)
    held = of(watched(), "perf.throttle")
    assert (held.code, held.state) == ("throttle.held_back", FindingState.WARN)
    assert held.params["reasons"] == "thermal"


def test_a_board_at_the_power_limit_it_was_delivered_with(board: Any) -> None:
    accelhal_mock.inject("power_cap", factor=1.2)
    board.default_stream.launch("kernel", 2 * SECONDS)
    assert of(watched(), "perf.throttle").code == "throttle.by_design"


def test_errors_of_memory_that_come_while_it_is_watched(board: Any) -> None:
    accelhal_mock.inject("ecc_corrected")
    found = watched(lambda: board.default_stream.launch("kernel", 0.9))
    grown = of(found, "perf.memory_errors")
    assert (grown.code, grown.state) == ("errors.corrected", FindingState.WARN)


def test_a_board_that_is_lost(board: Any) -> None:
    board.default_stream.launch("kernel", 2 * SECONDS)
    seconds = iter(range(1000))

    def lose() -> None:
        if next(seconds) == 20:
            accelhal_mock.inject("lost")
            with pytest.raises(RuntimeError, match="lost"):
                board.default_stream.launch("kernel", 1.0)

    lost = of(watched(lose), "hb.alive")
    assert (lost.code, lost.state) == ("beat.lost", FindingState.FAIL)
