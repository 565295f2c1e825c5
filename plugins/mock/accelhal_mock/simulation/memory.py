"""A board's memory, kept as torch's CUDA caching allocator keeps it: pools, splits, and a cache.

Freed blocks stay with the process, sorted by size for each stream and size class; the best fit
serves the next request, and neighbours that are free are joined. Fragmentation follows as on a
board.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from accelhal_mock.simulation.allocation import Allocation
from accelhal_mock.simulation.hazards import Uses
from accelhal_mock.simulation.memory_blocks import (
    SMALL_REQUEST,
    Block,
    BlockPool,
    round_request,
    segment_size,
)
from accelhal_mock.simulation.memory_counters import PoolCounters
from accelhal_mock.simulation.memory_report import MemoryShortage, describe_segment
from accelhal_mock.simulation.vector_clock import VectorClock

if TYPE_CHECKING:
    from accelhal_mock.simulation.board import Board
    from accelhal_mock.simulation.stream import Stream

_ADDRESS_SPACE = 1 << 44
"""Bytes between the boards' address spaces; segments' addresses are never used twice."""


class _Held(NamedTuple):
    """A freed block that waits for a stream it was recorded on to pass a moment."""

    moment: float
    clock: VectorClock
    block: Block


class CachingAllocator:
    """One board's memory for this process, all sizes in bytes.

    Attributes:
        board: the board.
        capacity: its memory.
        others: memory held by other processes, by process id.
    """

    def __init__(self, board: Board, capacity: int) -> None:
        self.board = board
        self.capacity = capacity
        self.others: dict[int, int] = {}
        self._fraction: float | None = None
        self._lock = threading.Lock()
        # Frees arrive from finalizers, which may run in the middle of an allocation: where the
        # lock is taken they are queued here, and done by the next call.
        self._released: deque[tuple[Block, Uses | None]] = deque()
        self._held: dict[Stream, deque[_Held]] = {}
        self._segments: dict[int, tuple[int, Block]] = {}
        self._next_address = _ADDRESS_SPACE * (board.index + 1)
        self._total, self._small, self._large = PoolCounters(), PoolCounters(), PoolCounters()
        self._small_pools: dict[Stream, BlockPool] = {}
        self._large_pools: dict[Stream, BlockPool] = {}
        self._events = {"num_alloc_retries": 0, "num_ooms": 0, "num_sync_all_streams": 0}

    # ---- allocation

    def allocate(self, nbytes: int, stream: Stream | None = None) -> Allocation:
        """Memory for `nbytes`, for use in `stream` (the calling thread's current one when None).

        Raises:
            the machine's out-of-memory error: the cache was flushed, and still nothing fits.
        """
        refused = self.board.before_allocate() if self.board.watched else False
        if nbytes == 0:
            return Allocation(self, None, 0)
        if stream is None:
            stream = self.board.current_stream()
        size = round_request(nbytes)
        with self._lock:
            if self._released or self._held:
                self._settle()
            if refused:
                raise self._out_of_memory(segment_size(size))
            pools = self._small_pools if size <= SMALL_REQUEST else self._large_pools
            pool = pools.get(stream)
            if pool is None:
                pool = pools[stream] = self._new_pool(stream, size <= SMALL_REQUEST)
            block = pool.take(size) or pool.adopt(self._new_segment(size, pool), size)
            block.used = True
            block.requested = nbytes
            size = block.size
            self._total.allocated.add(size, nbytes)
            pool.counters.allocated.add(size, nbytes)
            if self._held:
                self._total.note_active()
                pool.counters.note_active()
            allocation = Allocation(self, block, nbytes)
            if block.stale:
                allocation.uses = Uses(inherited=tuple(use for _, _, use in block.stale))
                block.stale = ()
        return allocation

    def release(self, block: Block, uses: Uses | None) -> None:
        """Take back the block of an allocation that is freed."""
        if not self._lock.acquire(blocking=False):
            self._released.append((block, uses))
            return
        try:
            if self._released:
                self._drain()
            self._take_back(block, uses)
        finally:
            self._lock.release()

    def empty_cache(self) -> None:
        """Return free whole segments to the driver, after waiting for recorded streams."""
        with self._lock:
            self._settle()
            self._flush()

    def set_fraction(self, fraction: float) -> None:
        """Cap this process at `fraction` of the capacity; later requests above it are refused."""
        self._fraction = fraction

    @property
    def fraction(self) -> float:
        """The cap as a share of the capacity; 1 where none was set."""
        return 1.0 if self._fraction is None else self._fraction

    # ---- figures; reading them changes nothing

    def mem_get_info(self) -> tuple[int, int]:
        """(free, total): what no process holds, and the capacity."""
        self._catch_up()
        return self._driver_free(), self.capacity

    def allocated(self) -> int:
        """Bytes held by allocations."""
        self._catch_up()
        return self._total.allocated.nbytes

    def peak_allocated(self) -> int:
        """Largest `allocated` since the last reset."""
        self._catch_up()
        return self._total.allocated.nbytes_peak

    def reserved(self) -> int:
        """Bytes held from the driver."""
        self._catch_up()
        return self._total.reserved.nbytes

    def peak_reserved(self) -> int:
        """Largest `reserved` since the last reset."""
        self._catch_up()
        return self._total.reserved.nbytes_peak

    def statistics(self) -> dict[str, int]:
        """All figures, under torch's names, sorted."""
        self._catch_up()
        found = dict(self._total.statistics("all"))
        found.update(self._small.statistics("small_pool"))
        found.update(self._large.statistics("large_pool"))
        segments = self._total.reserved.figures("blocks")
        found["num_device_alloc"], found["num_device_free"] = segments[2], segments[3]
        found.update(self._events)
        for kind in ("current", "peak", "allocated", "freed"):
            found[f"oversize_allocations.{kind}"] = found[f"oversize_segments.{kind}"] = 0
        found["max_split_size"] = -1
        return dict(sorted(found.items()))

    def largest_free_block(self) -> int:
        """The largest request that needs nothing from the driver."""
        self._catch_up()
        return max((pool.largest() for pool in self._pools()), default=0)

    def snapshot(self) -> list[dict[str, Any]]:
        """Segments and their blocks, by address, in the form of torch's memory_snapshot()."""
        self._catch_up()
        with self._lock:
            return [
                describe_segment(self.board.index, size, head)
                for size, head in self._segments.values()
            ]

    def reset_peaks(self) -> None:
        """Lower the peaks to the present figures."""
        self._catch_up()
        for counters in (self._total, self._small, self._large):
            counters.reset_peaks()

    def reset_accumulated(self) -> None:
        """Count allocations, retries and refusals from here."""
        self._catch_up()
        for counters in (self._total, self._small, self._large):
            counters.reset_accumulated()
        self._events = dict.fromkeys(self._events, 0)

    def after_fork(self) -> None:
        """In a child process: a new lock, for a thread of the parent may have held the old one."""
        self._lock = threading.Lock()

    # ---- frees; but for _catch_up, the caller holds the lock

    def _catch_up(self) -> None:
        """Do the frees that wait in the queue."""
        if self._released:
            with self._lock:
                self._drain()

    def _settle(self) -> None:
        """Do the frees that wait in the queue, and those whose recorded streams have passed."""
        self._drain()
        if self._held:
            now = self.board.machine.clock.now()
            for stream in list(self._held):
                waiting = self._held[stream]
                while waiting and waiting[0].moment <= now:
                    self._passed(waiting.popleft().block)
                if not waiting:
                    del self._held[stream]

    def _drain(self) -> None:
        while self._released:
            self._take_back(*self._released.popleft())

    def _take_back(self, block: Block, uses: Uses | None) -> None:
        pool = block.pool
        self._total.allocated.remove(block.size, block.requested)
        pool.counters.allocated.remove(block.size, block.requested)
        recorded = block.recorded
        if uses is not None:
            start, end = block.address, block.address + block.size
            block.stale = tuple(
                (start, end, use)
                for use in uses.unordered(pool.stream)
                if not recorded or use.stream not in recorded
            )
        if recorded:
            self._hold(block, recorded)
        else:
            pool.give_back(block)

    def _hold(self, block: Block, recorded: set[Stream]) -> None:
        block.recorded = None
        block.waits = len(recorded)
        for stream in recorded:
            held = _Held(stream.ready, stream.knowledge(), block)
            self._held.setdefault(stream, deque()).append(held)
        for counters in (self._total, block.pool.counters):
            counters.held.add(block.size)
            counters.note_active()

    def _passed(self, block: Block) -> None:
        block.waits -= 1
        if block.waits == 0:
            for counters in (self._total, block.pool.counters):
                counters.held.remove(block.size)
            block.pool.give_back(block)

    # ---- the driver's side; the caller holds the lock

    def _new_pool(self, stream: Stream, small: bool) -> BlockPool:
        return BlockPool(stream, small, self._small if small else self._large, self._total)

    def _pools(self) -> tuple[BlockPool, ...]:
        return (*self._small_pools.values(), *self._large_pools.values())

    def _new_segment(self, size: int, pool: BlockPool) -> Block:
        wanted = segment_size(size)
        if not self._fits(wanted):
            self._events["num_alloc_retries"] += 1
            self._flush()
            if not self._fits(wanted):
                raise self._out_of_memory(wanted)
        block = Block(self._next_address, wanted, pool)
        self._next_address += wanted
        self._segments[block.address] = (wanted, block)
        self._total.reserved.add(wanted)
        pool.counters.reserved.add(wanted)
        return block

    def _fits(self, wanted: int) -> bool:
        allowed = self._allowed()
        if allowed is not None and self._total.reserved.nbytes + wanted > allowed:
            return False
        return wanted <= self._driver_free()

    def _allowed(self) -> int | None:
        return None if self._fraction is None else int(self._fraction * self.capacity)

    def _driver_free(self) -> int:
        taken = self._total.reserved.nbytes + sum(self.others.values())
        return max(0, self.capacity - taken)

    def _flush(self) -> None:
        """Wait for recorded streams, then return free whole segments to the driver."""
        self._events["num_sync_all_streams"] += 1
        for waiting in self._held.values():
            while waiting:
                self.board.wait(waiting[0].moment, waiting[0].clock)
                self._passed(waiting.popleft().block)
        self._held.clear()
        for pool in self._pools():
            for block in pool.whole_segments():
                del self._segments[block.address]
                self._total.reserved.remove(block.size)
                pool.counters.reserved.remove(block.size)

    def _out_of_memory(self, wanted: int) -> Exception:
        self._events["num_ooms"] += 1
        machine = self.board.machine
        shortage = MemoryShortage(
            device_type=machine.name,
            index=self.board.index,
            wanted=wanted,
            capacity=self.capacity,
            free=self._driver_free(),
            others=tuple(self.others.items()),
            allowed=self._allowed(),
            allocated=self._total.allocated.nbytes,
            reserved=self._total.reserved.nbytes,
        )
        return machine.errors.out_of_memory(str(shortage))
