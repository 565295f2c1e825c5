"""The caching allocator: figures, reuse, fragmentation, refusal, and its invariants."""

from __future__ import annotations

import gc
import threading
from itertools import pairwise

import pytest
from accelhal_mock.simulation import OutOfMemoryError
from accelhal_mock.simulation.memory_blocks import round_request, segment_size
from hypothesis import given, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from simulated_machine import make_machine

MIB = 1 << 20


def one_board(memory=64 * MIB, hazards="off"):
    return make_machine(count=1, memory=memory, hazards=hazards).board(0)


def test_a_small_request_takes_512_bytes_of_a_2_mib_segment():
    memory = one_board().memory
    kept = memory.allocate(1)
    assert (memory.allocated(), memory.reserved()) == (512, 2 * MIB)
    assert kept.size == 512


@pytest.mark.parametrize(
    ("nbytes", "reserved"),
    [
        (1 * MIB, 2 * MIB),
        (1 * MIB + 1, 20 * MIB),
        (10 * MIB - 512, 20 * MIB),
        (10 * MIB, 10 * MIB),
        (10 * MIB + 1, 12 * MIB),
        (20 * MIB, 20 * MIB),
    ],
)
def test_segments_are_as_large_as_torchs(nbytes, reserved):
    memory = one_board().memory
    kept = memory.allocate(nbytes)
    assert memory.reserved() == reserved
    assert kept.nbytes == nbytes


def test_an_empty_request_takes_nothing_and_has_no_address():
    memory = one_board().memory
    kept = memory.allocate(0)
    assert (kept.address, kept.size, memory.reserved()) == (0, 0, 0)


def test_freed_memory_stays_reserved_and_serves_the_next_request():
    memory = one_board().memory
    first = memory.allocate(3 * MIB)
    address = first.address
    first.free()
    assert (memory.allocated(), memory.reserved()) == (0, 20 * MIB)
    assert memory.allocate(3 * MIB).address == address


def test_dropping_the_last_reference_frees():
    memory = one_board().memory
    kept = memory.allocate(100)
    del kept
    gc.collect()
    assert memory.allocated() == 0


def test_freeing_twice_counts_once():
    memory = one_board().memory
    kept, other = memory.allocate(100), memory.allocate(100)
    kept.free()
    kept.free()
    assert memory.allocated() == other.size


def test_the_smallest_block_that_fits_is_taken():
    memory = one_board().memory
    blocks = [memory.allocate(n * 1024) for n in (64, 1, 8, 1, 16, 1)]
    large, fit = blocks[0].address, blocks[2].address
    for index in (0, 2, 4):
        blocks[index].free()
    assert memory.allocate(6 * 1024).address == fit
    assert memory.allocate(60 * 1024).address == large


def test_a_stream_does_not_reuse_what_another_freed():
    board = one_board()
    side = board.create_stream()
    kept = board.memory.allocate(512, board.default_stream)
    address = kept.address
    kept.free()
    assert board.memory.allocate(512, side).address != address
    assert board.memory.allocate(512, board.default_stream).address == address


def test_peaks_follow_the_highest_figure_until_reset():
    memory = one_board().memory
    kept = memory.allocate(5 * MIB)
    kept.free()
    assert (memory.peak_allocated(), memory.allocated()) == (5 * MIB, 0)
    memory.reset_peaks()
    assert (memory.peak_allocated(), memory.peak_reserved()) == (0, 20 * MIB)


def test_fragmentation_refuses_what_the_free_bytes_would_hold():
    memory = one_board(40 * MIB).memory
    pieces = [memory.allocate(5 * MIB) for _ in range(8)]
    for piece in pieces[::2]:
        piece.free()
    stats = memory.statistics()
    assert stats["inactive_split_bytes.all.current"] == 20 * MIB
    assert memory.largest_free_block() == 5 * MIB
    with pytest.raises(OutOfMemoryError, match="reserved by PyTorch but unallocated"):
        memory.allocate(6 * MIB)
    assert memory.statistics()["num_ooms"] == 1


def test_the_cache_is_flushed_before_a_request_is_refused():
    memory = one_board(40 * MIB).memory
    memory.allocate(30 * MIB).free()
    kept = memory.allocate(35 * MIB)
    assert memory.reserved() == kept.size == 36 * MIB
    assert memory.statistics()["num_alloc_retries"] == 1
    assert memory.statistics()["num_ooms"] == 0


def test_a_refused_request_leaves_the_board_usable():
    memory = one_board().memory
    kept = memory.allocate(30 * MIB)
    with pytest.raises(OutOfMemoryError):
        memory.allocate(60 * MIB)
    assert memory.allocated() == kept.size
    assert memory.allocate(20 * MIB).size == 20 * MIB


def test_the_refusal_is_worded_as_torch_words_it():
    memory = one_board(64 * MIB).memory
    kept = memory.allocate(12 * MIB)
    memory.others[4242] = 30 * MIB
    memory.set_fraction(0.5)
    with pytest.raises(OutOfMemoryError) as caught:
        memory.allocate(40 * MIB)
    assert str(caught.value).startswith(
        "MOCK out of memory. Tried to allocate 40.00 MiB. GPU 0 has a total capacity of 64.00 MiB "
        "of which 22.00 MiB is free. Process 4242 has 30.00 MiB memory in use. "
        "Including non-PyTorch memory, this process has 12.00 MiB memory in use. "
        "32.00 MiB allowed; Of the allocated memory 12.00 MiB is allocated by PyTorch, and "
        "0 bytes is reserved by PyTorch but unallocated."
    )
    del kept


def test_the_fraction_caps_what_the_process_reserves():
    memory = one_board(64 * MIB).memory
    memory.set_fraction(0.25)
    kept = memory.allocate(16 * MIB)
    with pytest.raises(OutOfMemoryError):
        memory.allocate(1)
    assert memory.mem_get_info() == (48 * MIB, 64 * MIB)
    memory.set_fraction(1.0)
    assert memory.allocate(1).size == 512
    del kept


def test_other_processes_leave_less():
    memory = one_board(64 * MIB).memory
    memory.others[1] = 60 * MIB
    assert memory.mem_get_info() == (4 * MIB, 64 * MIB)
    with pytest.raises(OutOfMemoryError):
        memory.allocate(5 * MIB)


def test_reading_figures_changes_none():
    memory = one_board().memory
    kept = memory.allocate(3 * MIB)
    before = memory.statistics()
    memory.mem_get_info(), memory.snapshot(), memory.largest_free_block(), memory.peak_reserved()
    assert memory.statistics() == before
    del kept


def test_statistics_have_torchs_names():
    stats = one_board().memory.statistics()
    for name in ("allocation", "segment", "active", "inactive_split"):
        for pool in ("all", "small_pool", "large_pool"):
            for kind in ("current", "peak", "allocated", "freed"):
                assert stats[f"{name}.{pool}.{kind}"] == 0
    assert {"num_alloc_retries", "num_ooms", "max_split_size", "requested_bytes.all.peak"} <= set(
        stats
    )


def test_accumulated_figures_restart_at_a_reset():
    memory = one_board().memory
    kept = memory.allocate(600)
    memory.allocate(100).free()
    assert memory.statistics()["allocation.all.freed"] == 1
    memory.reset_accumulated()
    stats = memory.statistics()
    assert (stats["allocation.all.allocated"], stats["allocation.all.freed"]) == (0, 0)
    kept.free()
    stats = memory.statistics()
    assert (stats["allocation.all.freed"], stats["allocated_bytes.all.freed"]) == (1, 1024)


# ---- memory used on side streams


def test_recorded_memory_comes_back_when_the_stream_has_passed():
    board = one_board()
    side = board.create_stream()
    kept = board.memory.allocate(512)
    address = kept.address
    side.launch("long kernel", 1.0, (kept,))
    kept.record_stream(side)
    kept.free()
    stats = board.memory.statistics()
    assert stats["allocation.all.current"] == 0
    assert stats["active_bytes.all.current"] == 512
    other = board.memory.allocate(512)
    assert other.address != address
    side.synchronize()
    assert board.memory.allocate(512).address == address


def test_a_flush_waits_for_recorded_streams():
    board = one_board(40 * MIB)
    side = board.create_stream()
    kept = board.memory.allocate(30 * MIB)
    side.launch("long kernel", 2.0, (kept,))
    kept.record_stream(side)
    kept.free()
    board.memory.allocate(30 * MIB)
    assert board.machine.clock.now() >= 2.0
    assert board.memory.statistics()["num_sync_all_streams"] == 1


def test_recording_the_own_stream_holds_nothing():
    board = one_board()
    kept = board.memory.allocate(512)
    board.default_stream.launch("long kernel", 1.0, (kept,))
    kept.record_stream(board.default_stream)
    kept.free()
    assert board.memory.statistics()["active.all.current"] == 0


# ---- invariants


def check_invariants(memory):
    segments = memory.snapshot()
    stats = memory.statistics()
    spans = []
    totals = dict.fromkeys(("allocated", "active", "reserved", "split", "blocks"), 0)
    for segment in segments:
        blocks = segment["blocks"]
        spans.append((segment["address"], segment["address"] + segment["total_size"]))
        expected = segment["address"]
        for block in blocks:
            assert block["address"] == expected, "blocks lie side by side"
            assert block["size"] % 512 == 0
            expected += block["size"]
        assert expected == segment["address"] + segment["total_size"]
        for low, high in pairwise(blocks):
            assert "inactive" not in (low["state"], high["state"]) or low["state"] != high["state"]
        totals["allocated"] += segment["allocated_size"]
        totals["active"] += segment["active_size"]
        totals["reserved"] += segment["total_size"]
        if len(blocks) > 1:
            free = [block["size"] for block in blocks if block["state"] == "inactive"]
            totals["split"] += sum(free)
            totals["blocks"] += len(free)
    spans.sort()
    assert all(low[1] <= high[0] for low, high in pairwise(spans))
    assert stats["allocated_bytes.all.current"] == totals["allocated"]
    assert stats["active_bytes.all.current"] == totals["active"]
    assert stats["reserved_bytes.all.current"] == totals["reserved"]
    assert stats["inactive_split_bytes.all.current"] == totals["split"]
    assert stats["inactive_split.all.current"] == totals["blocks"]
    assert totals["allocated"] <= totals["active"] <= totals["reserved"] <= memory.capacity
    for name in ("allocation", "allocated_bytes", "segment", "reserved_bytes", "active_bytes"):
        parts = [stats[f"{name}.{pool}.current"] for pool in ("small_pool", "large_pool")]
        assert stats[f"{name}.all.current"] == sum(parts)
        for pool in ("all", "small_pool", "large_pool"):
            now = stats[f"{name}.{pool}.current"]
            assert now <= stats[f"{name}.{pool}.peak"]
            assert now == stats[f"{name}.{pool}.allocated"] - stats[f"{name}.{pool}.freed"]


sizes = st.one_of(
    st.integers(1, 4096), st.integers(1, 2 * MIB), st.integers(MIB, 24 * MIB), st.just(512)
)


class AllocatorMachine(RuleBasedStateMachine):
    """Allocations, frees, recorded streams and flushes in any order."""

    def __init__(self):
        super().__init__()
        self.board = one_board(64 * MIB)
        self.streams = [self.board.default_stream, self.board.create_stream()]
        self.live = []

    @rule(nbytes=sizes, stream=st.integers(0, 1))
    def allocate(self, nbytes, stream):
        memory = self.board.memory
        try:
            kept = memory.allocate(nbytes, self.streams[stream])
        except OutOfMemoryError:
            assert memory.capacity - memory.reserved() < segment_size(round_request(nbytes))
            assert not [s for s in memory.snapshot() if s["active_size"] == 0], "the cache is empty"
            return
        assert kept.size >= nbytes
        assert all(
            kept.address + kept.size <= other.address or other.address + other.size <= kept.address
            for other in self.live
        )
        self.live.append(kept)

    @precondition(lambda self: self.live)
    @rule(data=st.data())
    def free(self, data):
        self.live.pop(data.draw(st.integers(0, len(self.live) - 1))).free()

    @precondition(lambda self: self.live)
    @rule(data=st.data(), stream=st.integers(0, 1))
    def use_on_a_stream(self, data, stream):
        kept = data.draw(st.sampled_from(self.live))
        self.streams[stream].launch("kernel", 1.0, (kept,))
        kept.record_stream(self.streams[stream])

    @rule()
    def let_time_pass(self):
        self.board.machine.clock.advance(1.5)

    @rule()
    def empty_cache(self):
        self.board.memory.empty_cache()

    @invariant()
    def consistent(self):
        check_invariants(self.board.memory)
        allocated = sum(kept.size for kept in self.live)
        assert self.board.memory.allocated() == allocated
        requested = self.board.memory.statistics()["requested_bytes.all.current"]
        assert requested == sum(kept.nbytes for kept in self.live)

    def teardown(self):
        for kept in self.live:
            kept.free()
        self.board.memory.empty_cache()
        stats = self.board.memory.statistics()
        currents = {name: figure for name, figure in stats.items() if name.endswith(".current")}
        assert set(currents.values()) == {0}


AllocatorMachine.TestCase.settings = settings(
    max_examples=60, stateful_step_count=30, deadline=None
)
TestAllocator = AllocatorMachine.TestCase


@given(st.integers(1, 1 << 36))
def test_sizes_are_rounded_up_to_what_torch_asks_for(nbytes):
    size = round_request(nbytes)
    segment = segment_size(size)
    assert nbytes <= size <= segment
    assert size % 512 == 0
    assert size - nbytes < 512
    assert segment % (2 * MIB) == 0


def test_threads_that_allocate_and_free_at_once_leave_exact_figures():
    board = one_board(1 << 30)
    start = threading.Barrier(4)
    failures = []

    def work(seed):
        start.wait(timeout=30)
        try:
            kept = []
            for round_ in range(300):
                kept.append(board.memory.allocate(512 * (1 + (seed * round_) % 7)))
                if round_ % 3 == 0:
                    kept.pop(0).free()
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert not failures
    assert not any(thread.is_alive() for thread in threads)
    check_invariants(board.memory)
    assert board.memory.allocated() == 0
    assert board.memory.statistics()["allocation.all.allocated"] == 1200


def test_a_collection_in_the_middle_of_an_allocation_is_harmless():
    memory = one_board().memory

    class Cycle:
        def __init__(self):
            self.myself = self
            self.memory = memory.allocate(4096)

    threshold = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for _ in range(200):
            Cycle()
    finally:
        gc.set_threshold(*threshold)
    gc.collect()
    check_invariants(memory)
    assert memory.allocated() == 0


def test_resized_memory_takes_another_place_and_gives_back_its_own():
    memory = one_board().memory
    kept = memory.allocate(512)
    before = kept.address
    kept.resize(3 * MIB)
    assert kept.address != before
    assert (kept.nbytes, kept.size, memory.allocated()) == (3 * MIB, 3 * MIB, 3 * MIB)
    kept.resize(0)
    assert (kept.address, memory.allocated()) == (0, 0)
    kept.resize(100)
    kept.free()
    assert memory.allocated() == 0


def test_memory_that_cannot_be_resized_stays_as_it_was():
    memory = one_board().memory
    kept = memory.allocate(30 * MIB)
    address = kept.address
    with pytest.raises(OutOfMemoryError):
        kept.resize(50 * MIB)
    assert (kept.address, kept.nbytes, memory.allocated()) == (address, 30 * MIB, 30 * MIB)
