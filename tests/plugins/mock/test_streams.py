"""Streams and events: their time, their order, and what is current in a thread."""

from __future__ import annotations

import threading

import pytest
from accelhal_mock.simulation import BoardError, Event


def test_work_is_not_done_before_its_time(machine):
    stream = machine.board(0).default_stream
    stream.launch("kernel", 0.5)
    assert not stream.query()
    stream.synchronize()
    assert stream.query()
    assert machine.clock.now() == 0.5


def test_a_loop_of_polls_ends(machine):
    stream = machine.board(0).default_stream
    stream.launch("kernel", 3600.0)
    polls = 1
    while not stream.query():
        polls += 1
        assert polls < 100
    assert machine.clock.now() >= 3600.0


def test_work_of_one_stream_runs_in_order_and_streams_side_by_side(machine):
    board = machine.board(0)
    side = board.create_stream()
    board.default_stream.launch("a", 1.0)
    board.default_stream.launch("b", 2.0)
    side.launch("c", 2.5)
    board.synchronize()
    assert machine.clock.now() == 3.0


def test_a_wait_orders_the_time_of_streams(machine):
    board = machine.board(0)
    side = board.create_stream()
    board.default_stream.launch("a", 1.0)
    side.wait_stream(board.default_stream)
    side.launch("b", 1.0)
    side.synchronize()
    assert machine.clock.now() == 2.0


def test_a_wait_covers_only_what_was_queued_before_it(machine):
    board = machine.board(0)
    side = board.create_stream()
    event = board.default_stream.record_event()
    board.default_stream.launch("a", 1.0)
    side.wait_event(event)
    side.launch("b", 0.25)
    side.synchronize()
    assert machine.clock.now() == 0.25


def test_streams_of_two_boards_wait_for_one_another(machine):
    first, second = machine.board(0).default_stream, machine.board(1).default_stream
    first.launch("a", 1.0)
    second.wait_stream(first)
    second.launch("b", 1.0)
    second.synchronize()
    assert machine.clock.now() == 2.0


def test_work_after_an_idle_time_starts_then(machine):
    stream = machine.board(0).default_stream
    stream.launch("a", 1.0)
    machine.clock.advance(10.0)
    stream.launch("b", 1.0)
    stream.synchronize()
    assert machine.clock.now() == 11.0


def test_events_measure_the_time_between_them_in_milliseconds(machine):
    stream = machine.board(0).default_stream
    start, end = Event(timing=True), Event(timing=True)
    start.record(stream)
    stream.launch("kernel", 0.002)
    end.record(stream)
    assert not end.query()
    end.synchronize()
    assert end.query()
    assert start.elapsed_time(end) == pytest.approx(2.0)


def test_an_event_not_recorded_is_done_and_orders_nothing(machine):
    event = Event()
    assert event.query()
    event.synchronize()
    machine.board(0).default_stream.wait_event(event)
    assert machine.clock.now() == 0.0


def test_elapsed_time_of_untimed_events_is_refused(machine):
    stream = machine.board(0).default_stream
    start, end = Event(timing=True), Event()
    start.record(stream)
    end.record(stream)
    with pytest.raises(ValueError, match="enable_timing=True"):
        start.elapsed_time(end)


def test_elapsed_time_of_an_unrecorded_event_is_refused(machine):
    start, end = Event(timing=True), Event(timing=True)
    start.record(machine.board(0).default_stream)
    with pytest.raises(ValueError, match="must be recorded"):
        start.elapsed_time(end)


def test_elapsed_time_before_completion_is_refused(machine):
    stream = machine.board(0).default_stream
    start, end = Event(timing=True), Event(timing=True)
    start.record(stream)
    stream.launch("kernel", 1.0)
    end.record(stream)
    with pytest.raises(RuntimeError, match="must be completed"):
        start.elapsed_time(end)


def test_elapsed_time_between_boards_is_refused(machine):
    start, end = Event(timing=True), Event(timing=True)
    start.record(machine.board(0).default_stream)
    end.record(machine.board(1).default_stream)
    with pytest.raises(RuntimeError, match="device index"):
        start.elapsed_time(end)


def test_an_event_stays_on_the_board_of_its_first_record(machine):
    event = machine.board(0).default_stream.record_event()
    with pytest.raises(BoardError, match="does not match recording stream's device"):
        event.record(machine.board(1).default_stream)


def test_an_event_recorded_again_marks_the_later_moment(machine):
    stream = machine.board(0).default_stream
    event = stream.record_event()
    stream.launch("kernel", 1.0)
    event.record(stream)
    event.synchronize()
    assert machine.clock.now() == 1.0


def test_a_board_hands_out_32_streams_of_a_priority_in_turn(machine):
    board = machine.board(0)
    streams = [board.create_stream() for _ in range(33)]
    assert len(set(streams)) == 32
    assert streams[32] is streams[0]
    urgent = board.create_stream(priority=-1)
    assert urgent not in streams
    assert urgent.priority == -1


def test_each_thread_has_its_own_current_board_and_streams(machine):
    side = machine.board(1).create_stream()
    machine.set_device(1)
    machine.set_stream(side)
    seen = []

    def look():
        seen.append((machine.current_device(), machine.current_stream(1)))
        machine.set_device(0)

    thread = threading.Thread(target=look)
    thread.start()
    thread.join(timeout=30)
    assert seen == [(0, machine.board(1).default_stream)]
    assert (machine.current_device(), machine.current_stream()) == (1, side)


def test_a_board_that_is_not_there_is_refused(machine):
    for index in (2, -1):
        with pytest.raises(BoardError, match="invalid device ordinal"):
            machine.set_device(index)
    assert machine.current_device() == 0


def test_new_boards_forget_what_was_current(machine):
    machine.set_device(1)
    machine.set_stream(machine.board(1).create_stream())
    machine.configure(machine.config)
    assert machine.current_device() == 0
    assert machine.current_stream(1) is machine.board(1).default_stream
    assert machine.clock.now() == 0.0


def test_a_peer_copy_is_ordered_after_and_before_both_streams(machine):
    source, target = machine.board(0).default_stream, machine.board(1).default_stream
    data = machine.board(0).memory.allocate(1 << 20)
    copy = machine.board(1).memory.allocate(1 << 20)
    source.launch("fill", 1.0, (), (data,))
    target.launch("fill", 2.0, (), (copy,))
    machine.peer_copy(source, target, 1 << 20, (data,), (copy,))
    target.launch("use", 0.0, (copy,))
    source.launch("fill", 0.0, (), (data,))
    assert source.ready == target.ready > 2.0
