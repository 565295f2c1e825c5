"""Captured work: recorded with its memory, replayed with one launch, and what capture refuses."""

from __future__ import annotations

import gc

import pytest
from accelhal_mock.simulation import BoardError, Event, Graph, HazardError
from accelhal_mock.simulation.error_texts import MESSAGE_KINDS
from accelhal_mock.simulation.faults.catalogue import make_fault

from accelhal.errors import ErrorKind
from accelhal.runtimes.error_messages import classify_message


@pytest.fixture
def board(machine):
    return machine.board(0)


@pytest.fixture
def stream(board):
    return board.create_stream()


def launch(stream, name="kernel", cost=1.0, reads=(), writes=(), replay=lambda: None):
    return stream.launch(name, cost, reads, writes, replay=replay)


def test_captured_work_takes_no_time_and_is_replayed_in_order(machine, board, stream):
    graph, ran = Graph(board), []
    graph.begin(stream)
    for name in ("a", "b", "c"):
        launch(stream, name, replay=lambda name=name: ran.append(name))
    assert stream.is_capturing()
    graph.end()
    assert not stream.is_capturing()
    assert stream.ready == 0.0
    assert ran == []
    graph.replay(stream)
    graph.replay(stream)
    assert ran == ["a", "b", "c"] * 2
    assert [node.name for node in graph.nodes] == ["a", "b", "c"]


def test_a_replay_costs_one_launch(machine, board, stream):
    graph, work = Graph(board), 1e-6
    graph.begin(stream)
    for _ in range(100):
        launch(stream, cost=board.cost.launch + work)
    graph.end()
    graph.replay(stream)
    stream.synchronize()
    assert machine.clock.now() == pytest.approx(board.cost.launch + 100 * work)


def test_parallel_branches_take_the_longer_ones_time(machine, board, stream):
    graph, side = Graph(board), board.create_stream()
    launch_cost = board.cost.launch
    graph.begin(stream)
    launch(stream, "a", launch_cost + 1.0)
    side.wait_stream(stream)
    launch(side, "b", launch_cost + 5.0)
    launch(stream, "c", launch_cost + 2.0)
    stream.wait_stream(side)
    graph.end()
    assert not side.is_capturing()
    assert graph.duration == pytest.approx(6.0)


def test_the_graph_keeps_the_memory_it_touches(board, stream):
    graph, data = Graph(board), board.memory.allocate(4096)
    graph.begin(stream)
    launch(stream, writes=(data,))
    graph.end()
    del data
    gc.collect()
    assert board.memory.allocated() == 4096
    graph.reset()
    gc.collect()
    assert board.memory.allocated() == 0


def test_a_replay_uses_its_memory_as_any_work_does(board, stream):
    graph, data = Graph(board), board.memory.allocate(4096)
    graph.begin(stream)
    launch(stream, writes=(data,))
    graph.end()
    graph.replay(stream)
    with pytest.raises(HazardError, match="graph replay"):
        board.default_stream.launch("read", 1.0, (data,))
    board.default_stream.wait_stream(stream)
    board.default_stream.launch("read", 1.0, (data,))
    with pytest.raises(HazardError):
        graph.replay(stream)


def test_capture_itself_uses_no_memory(board, stream):
    graph, data = Graph(board), board.memory.allocate(4096)
    graph.begin(stream)
    launch(stream, writes=(data,))
    graph.end()
    graph.replay(board.default_stream)


def test_a_missing_wait_within_a_capture_is_reported(board, stream):
    graph, side, data = Graph(board), board.create_stream(), board.memory.allocate(512)
    graph.begin(stream)
    launch(stream, "fork")
    side.wait_stream(stream)
    launch(stream, "write", writes=(data,))
    with pytest.raises(HazardError, match="read_after_write"):
        launch(side, "read", reads=(data,))
    side.wait_stream(stream)
    launch(side, "read", reads=(data,))
    stream.wait_stream(side)
    graph.end()


@pytest.mark.parametrize(
    "call",
    [
        lambda stream: stream.synchronize(),
        lambda stream: stream.query(),
        lambda stream: stream.board.synchronize(),
        lambda stream: stream.record_event().synchronize(),
        lambda stream: stream.record_event().query(),
        lambda stream: stream.launch("copy to host", 1.0),
        lambda stream: Graph(stream.board).begin(stream),
    ],
    ids=["synchronize", "query", "board", "event", "event query", "no replay", "nested"],
)
def test_a_call_that_capture_refuses_raises_and_spoils_it(board, stream, call):
    graph = Graph(board)
    graph.begin(stream)
    launch(stream)
    with pytest.raises(BoardError, match="not permitted when stream is capturing") as caught:
        call(stream)
    assert classify_message(caught.value, MESSAGE_KINDS) is ErrorKind.USAGE
    with pytest.raises(BoardError, match="previous error during capture"):
        launch(stream)
    with pytest.raises(BoardError, match="previous error during capture"):
        graph.end()
    stream.synchronize()
    with pytest.raises(BoardError, match="no captured work"):
        graph.replay()


def test_other_streams_go_on_during_capture(board, stream):
    graph = Graph(board)
    graph.begin(stream)
    board.default_stream.launch("kernel", 1.0)
    board.default_stream.synchronize()
    launch(stream)
    graph.end()


def test_the_default_stream_is_not_captured(board):
    with pytest.raises(BoardError, match="non-default stream"):
        Graph(board).begin(board.default_stream)


def test_captured_work_cannot_wait_for_work_that_is_not(board, stream):
    graph = Graph(board)
    event = board.default_stream.record_event()
    graph.begin(stream)
    with pytest.raises(BoardError, match="uncaptured work"):
        stream.wait_event(event)
    with pytest.raises(BoardError, match="previous error"):
        graph.end()


def test_a_stream_that_joined_must_be_waited_for(board, stream):
    graph, side = Graph(board), board.create_stream()
    graph.begin(stream)
    launch(stream)
    side.wait_stream(stream)
    launch(side)
    with pytest.raises(BoardError, match="unjoined work"):
        graph.end()
    assert not side.is_capturing()


def test_an_event_of_a_capture_is_of_no_use_after_it(board, stream):
    graph, event = Graph(board), Event()
    graph.begin(stream)
    launch(stream)
    event.record(stream)
    graph.end()
    with pytest.raises(BoardError, match="last recorded in a capturing stream"):
        board.default_stream.wait_event(event)
    event.record(stream)
    event.synchronize()


def test_a_graph_without_work_does_not_replay(board):
    with pytest.raises(BoardError, match="no captured work"):
        Graph(board).replay()
    with pytest.raises(BoardError, match="no captured work"):
        Graph(board).end()


def test_a_graph_is_captured_anew(board, stream):
    graph, ran = Graph(board), []
    for name in ("first", "second"):
        graph.begin(stream)
        launch(stream, name, replay=lambda name=name: ran.append(name))
        graph.end()
    graph.replay()
    assert ran == ["second"]


def test_faults_strike_a_replay_as_one_launch(machine, board, stream):
    graph = Graph(board)
    machine.inject(make_fault("lost", after=1))
    graph.begin(stream)
    for _ in range(10):
        launch(stream)
    graph.end()
    graph.replay(stream)
    with pytest.raises(BoardError, match="lost"):
        graph.replay(stream)
