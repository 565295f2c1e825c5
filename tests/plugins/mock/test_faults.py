"""Faults: when each strikes, what it does, how long it stays, and how it is written."""

from __future__ import annotations

import accelhal_mock
import pytest
from accelhal_mock.simulation import BitFlip, BoardError, FaultKind, OutOfMemoryError
from accelhal_mock.simulation.error_texts import MESSAGE_KINDS
from accelhal_mock.simulation.faults import CATALOGUE, parse_faults
from accelhal_mock.simulation.faults.catalogue import COMMON_FIELDS, make_fault
from hypothesis import given, strategies as st
from simulated_machine import make_machine

from accelhal.errors import ErrorKind, UsageError
from accelhal.runtimes.error_messages import classify_message


@pytest.fixture
def board(machine):
    return machine.board(0)


def launch(board, times=1, cost=1.0):
    return [board.default_stream.launch("kernel", cost) for _ in range(times)]


# ---- what each does


def test_a_lost_board_fails_every_call_until_it_is_cleared(machine, board):
    machine.inject(make_fault("lost", 0, after=2))
    launch(board, 2)
    with pytest.raises(BoardError, match="fallen off the bus"):
        launch(board)
    for call in (
        board.synchronize,
        board.default_stream.query,
        board.create_stream,
        lambda: board.memory.allocate(1),
        lambda: launch(board),
    ):
        with pytest.raises(BoardError, match="GPU is lost"):
            call()
    launch(machine.board(1))
    machine.clear_faults()
    launch(board)
    board.synchronize()


def test_a_board_lost_at_once_fails_before_any_launch(machine, board):
    machine.inject(make_fault("lost"))
    with pytest.raises(BoardError, match="GPU is lost"):
        board.synchronize()


def test_an_ecc_error_shows_at_the_call_after_the_launch_and_stays(machine, board):
    machine.inject(make_fault("ecc_uncorrected", after=1))
    launch(board, 2)
    with pytest.raises(BoardError, match="uncorrectable ECC"):
        board.synchronize()
    with pytest.raises(BoardError, match="uncorrectable ECC"):
        launch(board)


def test_work_that_hangs_is_never_done_and_waits_end_at_the_watchdog(machine, board):
    machine.inject(make_fault("hang", after=1))
    launch(board)
    event = board.default_stream.record_event()
    launch(board)
    assert not board.default_stream.query()
    event.synchronize()
    with pytest.raises(BoardError, match="timed out"):
        board.synchronize()
    assert machine.clock.now() >= machine.watchdog
    assert not board.default_stream.query()


def test_clearing_a_hang_lets_the_work_end(machine, board):
    machine.inject(make_fault("hang"))
    launch(board)
    machine.clear_faults()
    board.synchronize()
    assert board.default_stream.query()


def test_a_hang_spreads_to_streams_that_wait_for_it(machine, board):
    side = board.create_stream()
    machine.inject(make_fault("hang"))
    launch(board)
    side.wait_stream(board.default_stream)
    assert not side.query()


def test_slow_multiplies_the_time(machine, board):
    machine.inject(make_fault("slow", factor=3))
    launch(board)
    board.synchronize()
    assert machine.clock.now() == 3.0


def test_slowing_faults_add_up(machine, board):
    machine.inject(make_fault("slow", factor=3))
    machine.inject(make_fault("thermal_throttle", factor=2))
    launch(board)
    board.synchronize()
    assert machine.clock.now() == 6.0


def test_oom_refuses_allocations_whatever_is_free(machine, board):
    machine.inject(make_fault("oom", after=1, operations=1))
    kept = board.memory.allocate(512)
    launch(board, 3)
    with pytest.raises(OutOfMemoryError, match="out of memory"):
        board.memory.allocate(512)
    assert board.memory.allocate(512).size == kept.size == 512
    assert board.memory.statistics()["num_ooms"] == 1


def test_wrong_results_are_told_with_a_reproducible_place(machine, board):
    machine.inject(make_fault("wrong_result", after=1, operations=1, bit=30, seed=5))
    before, flip, after = launch(board, 3)
    assert before is None
    assert after is None
    element, bit = flip.place(elements=10, width=32)
    assert 0 <= element < 10
    assert bit == 30
    assert flip.place(10, 32) == (element, bit)


def test_corrected_errors_are_counted(machine, board):
    machine.inject(make_fault("ecc_corrected", after=1, operations=3))
    launch(board, 10)
    assert board.faults.corrected == 3


def test_a_link_that_is_down_stops_peer_copies(machine):
    source, target = machine.board(0).default_stream, machine.board(1).default_stream
    assert machine.can_access_peer(0, 1)
    machine.inject(make_fault("link_down", 1))
    assert not machine.can_access_peer(0, 1)
    with pytest.raises(BoardError, match="uncorrectable NVLink error"):
        machine.peer_copy(source, target, 1024)
    machine.clear_faults(1)
    machine.peer_copy(source, target, 1024)


def test_a_link_fault_of_one_peer_spares_the_others():
    machine = make_machine(count=3)
    machine.inject(make_fault("link_down", 0, peer=1))
    assert not machine.link_up(1, 0)
    assert machine.link_up(0, 2)
    assert machine.link_up(1, 2)


def test_fewer_pcie_lanes_slow_the_copies_of_the_host(machine, board):
    whole = board.host_copy_cost(1 << 30)
    machine.inject(make_fault("pcie_width_drop", lanes=4))
    quarter = board.host_copy_cost(1 << 30)
    launch_cost = board.cost.launch
    assert quarter - launch_cost == pytest.approx(4 * (whole - launch_cost))


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("lost", ErrorKind.DEVICE_LOST),
        ("hang", ErrorKind.TIMEOUT),
        ("ecc_uncorrected", ErrorKind.MEMORY_FAULT),
        ("link_down", ErrorKind.LINK_FAULT),
        ("oom", ErrorKind.OUT_OF_MEMORY),
    ],
)
def test_errors_mean_what_accelhal_acts_on(fault, kind):
    machine = make_machine()
    machine.inject(make_fault(fault))
    streams = [board.default_stream for board in machine.boards]
    with pytest.raises(BoardError) as caught:  # noqa: PT012  (which call fails depends)
        machine.board(0).memory.allocate(512)
        machine.peer_copy(*streams, 1024)
        machine.board(0).synchronize()
    assert classify_message(caught.value, MESSAGE_KINDS) is kind


# ---- when they strike


def strikes(board, times):
    """Which of so many launches a wrong_result fault struck."""
    return [flip is not None for flip in launch(board, times)]


@given(after=st.integers(0, 20), operations=st.one_of(st.none(), st.integers(1, 20)))
def test_a_fault_strikes_after_n_operations_for_m(after, operations):
    machine = make_machine(hazards="off")
    machine.inject(make_fault("wrong_result", after=after, operations=operations))
    end = 45 if operations is None else after + operations
    assert strikes(machine.board(0), 45) == [after <= i < end for i in range(45)]


@given(after=st.integers(0, 5), seconds=st.integers(1, 9))
def test_a_fault_lasts_for_a_time_of_the_boards_clock(after, seconds):
    machine = make_machine(hazards="off")
    board = machine.board(0)
    machine.inject(make_fault("wrong_result", after=after, seconds=seconds))
    struck = []
    for _ in range(20):
        struck += strikes(board, 1)
        machine.clock.advance(1.0)
    began = 0 if after == 0 else after
    assert struck == [after <= i < began + seconds for i in range(20)]


@given(probability=st.floats(0, 1), seed=st.integers(0, 2**31))
def test_chances_are_reproducible_from_the_seed(probability, seed):
    runs = []
    for _ in range(2):
        machine = make_machine(hazards="off")
        machine.inject(make_fault("wrong_result", probability=probability, seed=seed))
        runs.append(launch(machine.board(0), 50))
    assert runs[0] == runs[1]
    if probability in (0, 1):
        assert {flip is not None for flip in runs[0]} == {probability == 1}


def test_another_seed_strikes_elsewhere():
    patterns = set()
    for seed in range(5):
        machine = make_machine(hazards="off")
        machine.inject(make_fault("wrong_result", probability=0.5, seed=seed))
        patterns.add(tuple(strikes(machine.board(0), 64)))
    assert len(patterns) == 5


def test_a_fault_of_given_probability_strikes_about_that_often():
    machine = make_machine(hazards="off")
    machine.inject(make_fault("wrong_result", probability=0.25, seed=1))
    assert 400 < sum(strikes(machine.board(0), 2000)) < 600


def test_a_bit_flip_lies_within_the_result():
    for seed in range(200):
        element, bit = BitFlip(seed).place(elements=3, width=16)
        assert 0 <= element < 3
        assert 0 <= bit < 16


# ---- how they are written

SETTINGS = {
    "after": st.integers(0, 10**6),
    "operations": st.integers(1, 10**6),
    "seconds": st.floats(1e-6, 1e6),
    "probability": st.floats(0, 1),
    "seed": st.integers(0, 2**31),
    "factor": st.floats(1, 1e3),
    "bit": st.integers(0, 63),
    "lanes": st.sampled_from([1, 2, 4, 8]),
    "peer": st.integers(0, 15),
}


@st.composite
def faults(draw):
    kind = draw(st.sampled_from(list(FaultKind)))
    traits = CATALOGUE[kind]
    allowed = [*COMMON_FIELDS, *traits.fields] if traits.scheduled else []
    if traits.sticky:
        allowed = [name for name in allowed if name not in ("operations", "seconds")]
    chosen = draw(st.sets(st.sampled_from(allowed))) if allowed else set()
    settings = {name: draw(SETTINGS[name]) for name in sorted(chosen)}
    return make_fault(kind, draw(st.integers(0, 15)), **settings), settings


@given(st.lists(faults(), max_size=4))
def test_written_faults_are_read_back(made):
    entries = []
    for fault, settings in made:
        fields = ",".join(f"{name}={value!r}" for name, value in settings.items())
        entries.append(f" {fault.kind.value}@{fault.device}" + (f": {fields}" if fields else ""))
    assert parse_faults(";".join(entries)) == tuple(fault for fault, _ in made)


def test_the_board_of_a_written_fault_is_0_where_none_is_named():
    assert parse_faults("slow:factor=3;;") == (make_fault("slow", 0, factor=3),)


def refusal(text):
    """The error that a text gives, or None where it is read."""
    try:
        parse_faults(text)
    except UsageError as error:
        return error
    return None


@given(st.text(alphabet="lost@:;=,019 after.", max_size=30))
def test_any_text_is_read_or_refused_with_the_next_step(text):
    error = refusal(text)
    assert error is None or error.hint


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("lots@1", "no fault 'lots'.*did you mean 'lost'"),
        ("lost@one", "'one' is not a board's index"),
        ("lost@1:afer=3", "no field 'afer'.*did you mean 'after'"),
        ("lost:after", "'after' is not field=value"),
        ("lost:after=x", "'after' takes an integer"),
        ("lost:after=-1", "'after' must be 0 or more"),
        ("lost:after=1,after=2", "stands twice"),
        ("slow:factor=0.5", "'factor' must be 1 or more"),
        ("slow:factor=nan", "'factor' takes a number"),
        ("slow:factor=inf", "'factor' takes a number"),
        ("slow:probability=2", "'probability' must be from 0 to 1"),
        ("slow:seconds=0", "'seconds' must be more than 0"),
        ("slow:operations=0", "'operations' must be 1 or more"),
        ("lost:seconds=3", "stays until it is cleared"),
        ("hang:operations=3", "stays until it is cleared"),
        ("oom:factor=3", "'oom' has no field 'factor'"),
        ("library_missing:after=3", "no field 'after'.*it takes none"),
        ("pcie_width_drop:lanes=3", "'lanes' must be 1, 2, 4 or 8"),
        ("wrong_result:bit=-1", "'bit' must be 0 to 127"),
    ],
)
def test_a_wrong_fault_is_refused_by_name_with_the_next_step(text, says):
    with pytest.raises(UsageError, match=f"(?s){says}") as caught:
        parse_faults(text)
    assert caught.value.hint


def test_a_board_that_is_not_there_takes_no_fault(machine):
    with pytest.raises(UsageError, match="device must be below 2"):
        machine.inject(make_fault("lost", 2))


def test_a_fault_by_api_takes_numbers_and_refuses_the_rest():
    with pytest.raises(UsageError, match="'after' takes an integer"):
        make_fault("lost", after=1.5)
    with pytest.raises(UsageError, match="'after' takes an integer"):
        make_fault("lost", after=True)
    assert make_fault("slow", factor=3).factor == 3


def test_every_kind_is_in_the_catalogue():
    assert set(CATALOGUE) == set(FaultKind)


@pytest.mark.parametrize(
    ("kind", "settings", "says"),
    [
        ("link_down", {"peer": 9}, "peer must be another board, below 2, not 9"),
        ("link_down", {"peer": 0}, "peer must be another board, below 2, not 0"),
        ("wrong_result", {"bit": 128}, "'bit' must be 0 to 127, not 128"),
    ],
)
def test_a_fault_of_a_board_or_bit_that_is_not_there_is_refused(mock_boards, kind, settings, says):
    mock_boards(count=2, mode="plain")
    with pytest.raises(UsageError, match=says):
        accelhal_mock.inject(kind, device=0, **settings)
    accelhal_mock.inject("link_down", device=0, peer=1)
