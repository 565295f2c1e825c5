"""Samples keep coming from the boards that answer; rates are counts per second."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

import pytest
import toy_boards
from fake_spec import fake_spec
from hypothesis import given, strategies as st

import accelhal
from accelhal.errors import BackendNotFoundError, UsageError
from accelhal.facts import BoardInfo, BoardKey, MemoryErrors, PcieLink, Telemetry
from accelhal.management.sampler import Sample, Sampler, counter_rates
from accelhal.spi import Management

pytestmark = pytest.mark.usefixtures("fresh_registry")

LIMIT_S = 60


class Counting(Management):
    """Each reading is one warmer than the last."""

    def __init__(self) -> None:
        self.asked = 0

    def boards(self) -> Sequence[BoardInfo]:
        return []

    def telemetry(self, board: BoardKey) -> Telemetry:
        if board.value == "fails":
            raise OSError("unplugged")
        self.asked += 1
        return Telemetry(temperature=float(self.asked))

    def pcie(self, board: BoardKey) -> PcieLink:
        return PcieLink(replays=3 * self.asked)


class Hanging(Counting):
    def telemetry(self, board: BoardKey) -> Telemetry:
        threading.Event().wait(LIMIT_S)
        return Telemetry()


def registered(name: str, start: Callable[[], Management]) -> BoardKey:
    accelhal.register(fake_spec(name, open_management=start))
    return BoardKey(name, "uuid", "one")


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.005)


def test_the_ring_keeps_the_newest_in_order() -> None:
    board = registered("counting", lambda: Counting())
    with Sampler([board], period_s=0.001, history=5) as sampler:
        until(lambda: len(sampler.samples(board)) == 5)
        first = sampler.samples(board)[0].telemetry.temperature
        until(lambda: sampler.samples(board)[0].telemetry.temperature != first)
    kept = [sample.telemetry.temperature for sample in sampler.samples(board)]
    assert len(kept) == 5
    assert kept == [kept[0] + step for step in range(5)]
    assert sampler.latest()[board].telemetry.temperature == kept[-1]
    times = [sample.time for sample in sampler.samples(board)]
    assert times == sorted(times)


def test_a_stopped_sampler_reads_no_more() -> None:
    board = registered("counting", lambda: Counting())
    with Sampler([board], period_s=0.001) as sampler:
        until(lambda: bool(sampler.latest()))
    kept = sampler.samples(board)
    time.sleep(0.05)
    assert sampler.samples(board) == kept


def test_one_board_that_fails_and_one_backend_that_hangs_stop_no_other() -> None:
    well = registered("counting", lambda: Counting())
    stuck = registered("hanging", lambda: Hanging())
    broken = BoardKey("counting", "uuid", "fails")
    with Sampler([stuck, well, broken], period_s=0.001) as sampler:
        until(lambda: len(sampler.samples(well)) > 3)
    assert "unplugged" in sampler.latest()[broken].telemetry.reasons["*"]
    assert stuck not in sampler.latest()


def test_a_library_that_does_not_load_is_the_sample() -> None:
    def fails() -> Management:
        raise OSError("libtoy.so: no such file")

    board = registered("failing", fails)
    with Sampler([board], period_s=0.001) as sampler:
        until(lambda: bool(sampler.latest()))
    assert "no such file" in sampler.latest()[board].telemetry.reasons["*"]


def test_readings_over_a_driver_process() -> None:
    accelhal.register(fake_spec("toy", open_management=toy_boards.start))
    boards = [toy_boards.key("well"), toy_boards.key("raises")]
    with Sampler(boards, period_s=0.001, readings=("telemetry", "pcie")) as sampler:
        until(lambda: len(sampler.samples(boards[0])) > 2)
    assert sampler.latest()[boards[0]].telemetry.temperature == 40.0
    assert "no such sensor" in sampler.latest()[boards[1]].telemetry.reasons["*"]
    assert isinstance(sampler.latest()[boards[0]].readings["pcie"], PcieLink)


def test_rates_of_a_running_sampler() -> None:
    board = registered("counting", lambda: Counting())
    with Sampler([board], period_s=0.001, readings=("telemetry", "pcie")) as sampler:
        until(lambda: len(sampler.samples(board)) > 5)
    assert sampler.rates(board)["replays"] > 0
    assert sampler.rates(board, window_s=0.0) == {}


@pytest.mark.parametrize("bad", [{"period_s": 0}, {"history": 0}, {"readings": ()}])
def test_a_sampler_that_would_read_nothing_is_refused(bad: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="would read nothing"):
        Sampler([], **bad)  # type: ignore[arg-type]


def test_an_unknown_backend_and_an_unknown_board() -> None:
    with pytest.raises(BackendNotFoundError, match="abacus"):
        Sampler([BoardKey("abacus", "uuid", "one")])
    with pytest.raises(UsageError, match="does not read"):
        Sampler([]).samples(BoardKey("abacus", "uuid", "one"))


def counters(*replays: int | None) -> list[Sample]:
    return [
        Sample(float(at), {"pcie": PcieLink(replays=count)}) for at, count in enumerate(replays)
    ]


def test_a_rate_is_counts_per_second_and_a_reset_counts_nothing() -> None:
    assert counter_rates(counters(10, 12, 18)) == {"replays": 4.0}
    assert counter_rates(counters(10, 12, 0, 4)) == {"replays": 2.0}
    assert counter_rates(counters(10, None, 14)) == {"replays": 2.0}
    assert counter_rates(counters(10)) == {}
    assert counter_rates(counters(None, None)) == {}
    assert counter_rates([Sample(0.0, {"memory_errors": OSError("lost")})]) == {}
    errors = [Sample(float(n), {"memory_errors": MemoryErrors(corrected=n)}) for n in range(3)]
    assert counter_rates(errors) == {"corrected": 1.0}


@given(st.lists(st.one_of(st.none(), st.integers(0, 1 << 62)), max_size=8))
def test_rates_are_never_negative(counts: list[int | None]) -> None:
    assert all(rate >= 0 for rate in counter_rates(counters(*counts)).values())
