"""The machine: its configuration, boards in parallel under a real clock, threads, and forks."""

from __future__ import annotations

import os
import threading
import traceback

import pytest
from accelhal_mock.simulation import BoardError
from accelhal_mock.simulation.faults.catalogue import make_fault
from simulated_machine import make_machine

from accelhal.errors import ErrorKind, UsageError
from accelhal.runtimes.error_messages import classify_message

LIMIT = 60.0


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"count": 0}, "count must be 1 to 16 boards, not 0"),
        ({"count": 17}, "count must be 1 to 16 boards, not 17"),
        ({"memory": 0}, "memory must be more than 0 bytes"),
        ({"clock": "sundial"}, 'clock must be "virtual" or "real"'),
        ({"hazards": "maybe"}, 'hazards must be "raise"'),
        ({"watchdog": 0}, "watchdog must be more than 0"),
        ({"faults": (make_fault("lost", 5),)}, "device must be below 2"),
    ],
)
def test_a_wrong_setting_is_named(settings, says):
    with pytest.raises(UsageError, match=says) as caught:
        make_machine(**settings)
    assert caught.value.hint


def test_boards_differ_in_name_and_address_and_keep_them():
    machine = make_machine(count=16)
    before = [(board.uuid, board.pci, board.serial) for board in machine.boards]
    assert len({uuid for uuid, _, _ in before}) == len({pci for _, pci, _ in before}) == 16
    machine.configure(machine.config)
    assert before == [(board.uuid, board.pci, board.serial) for board in machine.boards]


def test_boards_are_spread_evenly_over_numa_nodes():
    assert [board.numa_node for board in make_machine(count=4).boards] == [0, 0, 1, 1]


def test_faults_of_the_configuration_are_armed():
    machine = make_machine(faults=(make_fault("lost", 1),))
    with pytest.raises(BoardError):
        machine.board(1).synchronize()
    machine.board(0).synchronize()


def test_listeners_hear_of_new_boards():
    machine, heard = make_machine(), []
    machine.on_configure(lambda: heard.append(len(machine.boards)))
    machine.configure(make_machine(count=5).config)
    assert heard == [5]


def test_memory_of_former_boards_counts_nowhere():
    machine = make_machine()
    kept = machine.board(0).memory.allocate(512)
    machine.configure(machine.config)
    assert machine.board(0).memory.allocated() == 0
    kept.free()
    assert machine.board(0).memory.allocated() == 0


# ---- a real clock


def wait_for_all(threads):
    for thread in threads:
        thread.join(timeout=LIMIT)
    assert not any(thread.is_alive() for thread in threads)


def test_four_boards_wait_at_the_same_time():
    machine = make_machine(count=4, clock="real", watchdog=LIMIT)
    waiting, done = threading.Barrier(5), []
    for index in range(4):
        machine.inject(make_fault("hang", index))

    def work(index):
        machine.set_device(index)
        machine.current_stream().launch("kernel", 1e-3)
        waiting.wait(timeout=LIMIT)
        machine.board().synchronize()
        done.append(index)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    waiting.wait(timeout=LIMIT)
    assert done == []
    for index in (2, 0, 3, 1):
        machine.clear_faults(index)
        threads[index].join(timeout=LIMIT)
        assert done[-1] == index
    wait_for_all(threads)


def test_a_board_works_while_another_is_waited_for():
    machine = make_machine(clock="real", watchdog=LIMIT)
    machine.inject(make_fault("hang", 0))
    machine.board(0).default_stream.launch("kernel", 1e-3)
    thread = threading.Thread(target=machine.board(0).synchronize)
    thread.start()
    stream = machine.board(1).default_stream
    for _ in range(20):
        kept = machine.board(1).memory.allocate(512)
        stream.launch("kernel", 1e-4, (), (kept,))
        stream.synchronize()
    assert thread.is_alive()
    machine.clear_faults()
    wait_for_all([thread])


def test_a_real_wait_is_over_no_sooner_than_the_work():
    machine = make_machine(clock="real")
    stream = machine.board(0).default_stream
    stream.launch("kernel", 0.02)
    end = stream.ready
    assert not stream.query()
    stream.synchronize()
    assert machine.clock.now() >= end
    assert stream.query()


def test_threads_on_one_stream_lose_no_launch():
    machine = make_machine()
    stream, start = machine.board(0).default_stream, threading.Barrier(4)

    def work():
        start.wait(timeout=LIMIT)
        for _ in range(500):
            stream.launch("kernel", 2.0**-10)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    wait_for_all(threads)
    assert stream.epoch == 2000
    assert stream.busy == stream.ready == 2000 * 2.0**-10


# ---- forks


def in_child(work):
    """What `work` says in a forked child."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            answer = str(work())
        except BaseException:
            answer = traceback.format_exc()
        os.write(writer, answer.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return answer


def refusal(call):
    try:
        call()
    except BoardError as error:
        return f"{classify_message(error).name}: {error}"
    return "nothing raised"


def test_a_child_cannot_use_boards_that_its_parent_used():
    machine = make_machine()
    machine.board(0).default_stream.launch("kernel", 1.0)
    kept = machine.board(0).memory.allocate(512)
    for call in (
        lambda: machine.board(0).default_stream.launch("kernel", 1.0),
        lambda: machine.board(1).memory.allocate(512),
        lambda: machine.board(0).synchronize(),
        lambda: machine.board(1).create_stream(),
    ):
        answer = in_child(lambda call=call: refusal(call))
        assert answer.startswith(ErrorKind.BAD_FORK.name)
        assert "Cannot re-initialize MOCK in forked subprocess" in answer
        assert "'spawn' start method" in answer
    assert in_child(kept.free) == "None"
    machine.board(0).synchronize()


def test_new_boards_do_not_cure_a_forked_child():
    machine = make_machine()
    machine.board(0).memory.allocate(512)

    def work():
        machine.configure(machine.config)
        return refusal(machine.board(0).synchronize)

    assert in_child(work).startswith(ErrorKind.BAD_FORK.name)


def test_a_child_may_use_boards_that_nobody_used_before():
    machine = make_machine()
    assert len(machine.boards) == 2

    def work():
        machine.board(0).default_stream.launch("kernel", 1.0)
        machine.board(0).synchronize()
        return machine.clock.now()

    assert in_child(work) == "1.0"
