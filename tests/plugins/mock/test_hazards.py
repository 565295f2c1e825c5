"""The hazard detector, against a search for paths in the program's order."""

from __future__ import annotations

import gc
import pickle
import warnings

import pytest
from accelhal_mock.simulation import (
    Event,
    HazardError,
    HazardKind,
    HazardWarning,
    HostBuffer,
    Machine,
)
from accelhal_mock.simulation.vector_clock import covers
from hypothesis import given, settings, strategies as st
from simulated_machine import make_machine


@pytest.fixture
def board(machine):
    return machine.board(0)


def kind_of(caught) -> HazardKind:
    return caught.value.hazard.kind


# ---- memory of a board


def test_a_read_before_the_wait_is_reported_with_both_sides_and_the_missing_call(board):
    side, data = board.create_stream(), board.memory.allocate(512)
    board.default_stream.launch("aten::mul", 1.0, (), (data,))
    with pytest.raises(HazardError) as caught:
        side.launch("aten::add", 1.0, (data,))
    assert kind_of(caught) is HazardKind.READ_AFTER_WRITE
    text = str(caught.value)
    for part in (
        "aten::add on stream 1 of mock:0",
        "aten::mul on default stream of mock:0",
        "stream.wait_stream(other)",
    ):
        assert part in text


def test_a_write_over_a_pending_write_is_reported(board):
    side, data = board.create_stream(), board.memory.allocate(512)
    board.default_stream.launch("a", 1.0, (), (data,))
    with pytest.raises(HazardError) as caught:
        side.launch("b", 1.0, (), (data,))
    assert kind_of(caught) is HazardKind.WRITE_AFTER_WRITE


def test_a_write_over_a_pending_read_is_reported(board):
    side, data = board.create_stream(), board.memory.allocate(512)
    side.launch("read", 1.0, (data,))
    with pytest.raises(HazardError) as caught:
        board.default_stream.launch("write", 1.0, (), (data,))
    assert kind_of(caught) is HazardKind.WRITE_AFTER_READ


def test_reads_side_by_side_are_no_hazard(board):
    side, data = board.create_stream(), board.memory.allocate(512)
    side.launch("read", 1.0, (data,))
    board.default_stream.launch("read", 1.0, (data,))


def test_the_order_counts_and_not_the_time(board):
    side, data = board.create_stream(), board.memory.allocate(512)
    board.default_stream.launch("write", 1.0, (), (data,))
    board.machine.clock.advance(100.0)
    with pytest.raises(HazardError):
        side.launch("read", 1.0, (data,))


def test_a_host_wait_orders_all_later_work(board):
    side, data = board.create_stream(), board.memory.allocate(512)
    board.default_stream.launch("write", 1.0, (), (data,))
    board.default_stream.synchronize()
    side.launch("read", 1.0, (data,))


def test_a_poll_that_says_done_orders_all_later_work(board):
    side, data = board.create_stream(), board.memory.allocate(512)
    board.default_stream.launch("write", 1.0, (), (data,))
    event = board.default_stream.record_event()
    assert not event.query()
    with pytest.raises(HazardError):
        side.launch("read", 1.0, (data,))
    while not event.query():
        pass
    side.launch("read", 1.0, (data,))


def test_an_operation_that_is_refused_leaves_no_trace(board):
    side, data = board.create_stream(), board.memory.allocate(512)
    board.default_stream.launch("write", 1.0, (), (data,))
    before = (side.ready, side.epoch)
    with pytest.raises(HazardError):
        side.launch("write", 1.0, (), (data,))
    assert (side.ready, side.epoch) == before
    board.default_stream.launch("read", 1.0, (data,))


def test_warn_reports_at_the_callers_line_and_goes_on():
    board = make_machine(hazards="warn").board(0)
    side, data = board.create_stream(), board.memory.allocate(512)
    board.default_stream.launch("write", 1.0, (), (data,))
    with pytest.warns(HazardWarning, match="read_after_write") as caught:
        side.launch("read", 1.0, (data,))
    assert caught[0].filename == __file__
    assert side.epoch == 1


def test_off_looks_at_nothing():
    board = make_machine(hazards="off").board(0)
    side, data = board.create_stream(), board.memory.allocate(512)
    board.default_stream.launch("write", 1.0, (), (data,))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        side.launch("read", 1.0, (data,))


def test_a_hazard_error_travels_between_processes(board):
    side, data = board.create_stream(), board.memory.allocate(512)
    board.default_stream.launch("write", 1.0, (), (data,))
    with pytest.raises(HazardError) as caught:
        side.launch("read", 1.0, (data,))
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


# ---- freed memory


def freed_while_a_side_stream_reads(board, record):
    side, data = board.create_stream(), board.memory.allocate(4096)
    board.default_stream.launch("fill", 1.0, (), (data,))
    side.wait_stream(board.default_stream)
    side.launch("aten::sum", 5.0, (data,))
    if record:
        data.record_stream(side)
    address = data.address
    del data
    gc.collect()
    return side, address


def test_reuse_of_memory_freed_without_record_stream_is_reported(board):
    side, address = freed_while_a_side_stream_reads(board, record=False)
    reused = board.memory.allocate(4096)
    assert reused.address == address
    with pytest.raises(HazardError) as caught:
        board.default_stream.launch("aten::zero_", 1.0, (), (reused,))
    assert kind_of(caught) is HazardKind.FREED_EARLY
    assert "aten::sum on stream 1" in str(caught.value)
    assert "record_stream" in str(caught.value)
    board.default_stream.wait_stream(side)
    board.default_stream.launch("aten::zero_", 1.0, (), (reused,))


def test_recorded_memory_is_reused_without_a_report(board):
    side, address = freed_while_a_side_stream_reads(board, record=True)
    other = board.memory.allocate(4096)
    assert other.address != address
    board.default_stream.launch("zero", 1.0, (), (other,))
    side.synchronize()
    reused = board.memory.allocate(4096)
    assert reused.address == address
    board.default_stream.launch("zero", 1.0, (), (reused,))


def test_recorded_memory_is_free_of_its_former_uses_once_they_have_passed(board):
    _, address = freed_while_a_side_stream_reads(board, record=True)
    board.machine.clock.advance(100.0)  # nobody waits: the allocator sees that the stream passed
    reused = board.memory.allocate(4096)
    assert reused.address == address
    board.default_stream.launch("zero", 1.0, (), (reused,))


def test_joined_blocks_keep_the_uses_of_both(board):
    low = board.memory.allocate(4096)
    _, address = freed_while_a_side_stream_reads(board, record=False)
    assert address == low.address + 4096
    low.free()
    joined = board.memory.allocate(8192)
    assert joined.address + 4096 == address
    with pytest.raises(HazardError) as caught:
        board.default_stream.launch("zero", 1.0, (), (joined,))
    assert kind_of(caught) is HazardKind.FREED_EARLY


def test_a_part_of_the_freed_memory_is_enough(board):
    freed_while_a_side_stream_reads(board, record=False)
    small = board.memory.allocate(512)
    with pytest.raises(HazardError) as caught:
        board.default_stream.launch("zero", 1.0, (), (small,))
    assert kind_of(caught) is HazardKind.FREED_EARLY


def test_memory_beside_the_freed_is_not_reported(board):
    _, address = freed_while_a_side_stream_reads(board, record=False)
    large = board.memory.allocate(8192)  # takes the joined free block from its start
    beside = board.memory.allocate(512)
    assert large.address == address
    assert beside.address >= address + 8192
    board.default_stream.launch("zero", 1.0, (), (beside,))


def test_uses_survive_a_second_owner_that_wrote_nothing(board):
    freed_while_a_side_stream_reads(board, record=False)
    board.memory.allocate(4096).free()
    with pytest.raises(HazardError):
        board.default_stream.launch("zero", 1.0, (), (board.memory.allocate(4096),))


# ---- the host's buffers


def test_refilling_a_buffer_under_an_asynchronous_copy_is_reported(machine, board):
    buffer, stream = HostBuffer("pinned input"), board.default_stream
    data = board.memory.allocate(4096)
    stream.launch("copy to board", 1.0, (), (data,), host_reads=(buffer,))
    with pytest.raises(HazardError) as caught:
        machine.hazards.host_writes(buffer, "aten::copy_")
    assert kind_of(caught) is HazardKind.HOST_REFILL
    assert "pinned input" in str(caught.value)
    assert "synchronize()" in str(caught.value)
    machine.hazards.host_reads(buffer, "aten::sum")
    stream.synchronize()
    machine.hazards.host_writes(buffer, "aten::copy_")


def test_reading_a_buffer_before_the_copy_has_filled_it_is_reported(machine, board):
    buffer, stream = HostBuffer("result"), board.default_stream
    data = board.memory.allocate(4096)
    done = []
    stream.launch(
        "copy to host",
        1.0,
        (data,),
        host_writes=(buffer,),
        on_complete=lambda: done.append(machine.clock.now()),
    )
    event = stream.record_event()
    with pytest.raises(HazardError) as caught:
        machine.hazards.host_reads(buffer, "aten::item")
    assert kind_of(caught) is HazardKind.HOST_EARLY_READ
    with pytest.raises(HazardError):
        machine.hazards.host_writes(buffer, "aten::fill_")
    assert done == []
    event.synchronize()
    assert done == [1.0]
    machine.hazards.host_reads(buffer, "aten::item")
    board.synchronize()
    assert done == [1.0]


def test_an_earlier_event_completes_no_later_copy(machine, board):
    buffer, stream = HostBuffer(), board.default_stream
    event = stream.record_event()
    stream.launch("copy to host", 1.0, host_writes=(buffer,))
    event.synchronize()
    with pytest.raises(HazardError):
        machine.hazards.host_reads(buffer, "read")


def test_a_copy_into_a_buffer_that_another_stream_copies_from_is_reported(board):
    buffer, side = HostBuffer(), board.create_stream()
    board.default_stream.launch("copy to board", 1.0, host_reads=(buffer,))
    with pytest.raises(HazardError) as caught:
        side.launch("copy to host", 1.0, host_writes=(buffer,))
    assert kind_of(caught) is HazardKind.HOST_REFILL
    side.wait_stream(board.default_stream)
    side.launch("copy to host", 1.0, host_writes=(buffer,))


# ---- against a search for paths

STREAMS, EVENTS, MEMORIES = 4, 3, 3

step = st.one_of(
    st.tuples(
        st.just("launch"),
        st.integers(0, STREAMS - 1),
        st.sets(st.integers(0, MEMORIES - 1), max_size=2),
        st.sets(st.integers(0, MEMORIES - 1), max_size=1),
    ),
    st.tuples(st.just("record"), st.integers(0, STREAMS - 1), st.integers(0, EVENTS - 1)),
    st.tuples(st.just("wait"), st.integers(0, STREAMS - 1), st.integers(0, EVENTS - 1)),
    st.tuples(st.just("wait stream"), st.integers(0, STREAMS - 1), st.integers(0, STREAMS - 1)),
    st.tuples(st.just("host waits for stream"), st.integers(0, STREAMS - 1)),
    st.tuples(st.just("host waits for event"), st.integers(0, EVENTS - 1)),
    st.tuples(st.just("host waits for board"), st.integers(0, 1)),
)


class Order:
    """The program's order as a graph of steps, searched anew for each question."""

    def __init__(self):
        self.parents = {}
        self.stream_end = dict.fromkeys(range(STREAMS))
        self.event = dict.fromkeys(range(EVENTS))
        self.host = None

    def add(self, *parents):
        node = len(self.parents)
        self.parents[node] = [parent for parent in parents if parent is not None]
        return node

    def before(self, earlier, later):
        reached, todo = set(), [later]
        while todo:
            node = todo.pop()
            if node == earlier and node != later:
                return True
            if node not in reached:
                reached.add(node)
                todo += self.parents[node]
        return False


def run(program):
    """Run a program on boards and on the graph; compares each launch's verdict."""
    machine: Machine = make_machine(count=2)
    boards = machine.boards
    streams = [boards[0].default_stream, boards[0].create_stream()]
    streams += [boards[1].default_stream, boards[1].create_stream()]
    board_of = [0, 0, 1, 1]
    events = [None] * EVENTS
    memories = [boards[0].memory.allocate(512) for _ in range(MEMORIES)]
    order, launches = Order(), []
    for name, at, *rest in program:
        if name == "launch":
            reads, writes = rest
            node = order.add(order.stream_end[at], order.host)
            expected = any(
                ((reads | writes) & old_writes or writes & old_reads)
                and not order.before(old, node)
                for old, old_reads, old_writes, _, _ in launches
            )
            arguments = [memories[i] for i in sorted(reads)], [memories[i] for i in sorted(writes)]
            if expected:
                with pytest.raises(HazardError):
                    streams[at].launch("kernel", 1e-3, *arguments)
                continue
            streams[at].launch("kernel", 1e-3, *arguments)
            order.stream_end[at] = node
            launches.append((node, reads, writes, streams[at], streams[at].epoch))
            clocks[node] = dict(streams[at].clock)
        elif name == "record":
            event = rest[0]
            if events[event] is not None and events[event].board is not streams[at].board:
                events[event] = None
            events[event] = events[event] or Event()
            events[event].record(streams[at])
            order.event[event] = order.add(order.stream_end[at], order.host)
        elif name == "wait":
            if events[rest[0]] is not None:
                streams[at].wait_event(events[rest[0]])
            order.stream_end[at] = order.add(order.stream_end[at], order.event[rest[0]])
        elif name == "wait stream":
            streams[at].wait_stream(streams[rest[0]])
            mark = order.add(order.stream_end[rest[0]], order.host)
            order.stream_end[at] = order.add(order.stream_end[at], mark)
        elif name == "host waits for stream":
            streams[at].synchronize()
            order.host = order.add(order.host, order.stream_end[at])
        elif name == "host waits for event":
            if events[at] is not None:
                events[at].synchronize()
            order.host = order.add(order.host, order.event[at])
        else:
            boards[at].synchronize()
            ends = [end for i, end in order.stream_end.items() if board_of[i] == at]
            order.host = order.add(order.host, *ends)
    return order, launches


clocks: dict[int, dict[int, int]] = {}


@settings(max_examples=400, deadline=None)
@given(st.lists(step, max_size=40))
def test_a_hazard_is_reported_exactly_where_no_path_orders_the_uses(program):
    clocks.clear()
    order, launches = run(program)
    for earlier, _, _, stream, epoch in launches:
        for later, *_ in launches:
            known = earlier != later and covers(clocks[later], stream.id, epoch)
            assert known == order.before(earlier, later)
            assert not (known and order.before(later, earlier))
