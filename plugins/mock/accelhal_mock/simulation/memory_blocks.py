"""Pieces of a board's memory: blocks within segments, and the pools that free ones wait in."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from typing import TYPE_CHECKING

from accelhal_mock.simulation.host import Operation
from accelhal_mock.simulation.memory_counters import PoolCounters

if TYPE_CHECKING:
    from accelhal_mock.simulation.stream import Stream

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30

# Sizes of torch's CUDA caching allocator: c10/core/AllocatorConfig.h, c10/cuda/
# CUDACachingAllocator.cpp (get_allocation_size, should_split).
SMALLEST_BLOCK = 512
SMALL_REQUEST = 1 * MIB
SMALL_SEGMENT = 2 * MIB
LARGE_SEGMENT = 20 * MIB
LARGE_REQUEST = 10 * MIB
SEGMENT_ROUNDING = 2 * MIB


def round_request(nbytes: int) -> int:
    """The size of block that a request is served with."""
    return (nbytes + SMALLEST_BLOCK - 1) // SMALLEST_BLOCK * SMALLEST_BLOCK or SMALLEST_BLOCK


def segment_size(size: int) -> int:
    """The size of segment asked of the driver for a block of `size` bytes."""
    if size <= SMALL_REQUEST:
        return SMALL_SEGMENT
    if size < LARGE_REQUEST:
        return LARGE_SEGMENT
    return -(-size // SEGMENT_ROUNDING) * SEGMENT_ROUNDING


class Block:
    """A piece of a segment: in use by an allocation, or free.

    Attributes:
        address: first byte, in the board's address space.
        size: bytes.
        pool: where it waits while it is free.
        requested: bytes asked for, while in use.
        used: whether an allocation holds it, or has until streams pass that it was recorded on.
        before: the neighbour below in the same segment, or None.
        after: the neighbour above, or None.
        recorded: other streams that `record_stream` named, or None.
        waits: how many of them it still waits for, once freed.
        stale: (start, end, use) of freed memory within it that unordered work may still use.
    """

    __slots__ = (
        "address",
        "after",
        "before",
        "pool",
        "recorded",
        "requested",
        "size",
        "stale",
        "used",
        "waits",
    )

    def __init__(self, address: int, size: int, pool: BlockPool) -> None:
        self.address = address
        self.size = size
        self.pool = pool
        self.requested = 0
        self.used = False
        self.before: Block | None = None
        self.after: Block | None = None
        self.recorded: set[Stream] | None = None
        self.waits = 0
        self.stale: tuple[tuple[int, int, Operation], ...] = ()

    def __repr__(self) -> str:
        return f"<Block {self.address:#x}+{self.size} {'used' if self.used else 'free'}>"

    @property
    def is_split(self) -> bool:
        """Whether it is a part of its segment only."""
        return self.before is not None or self.after is not None


class BlockPool:
    """The free blocks of one stream and size class; the best fit serves a request.

    Attributes:
        stream: the stream whose requests it serves; no other stream's do.
        small: whether it holds blocks of requests up to 1 MiB, or those above.
        counters: of the size class, over all streams.
        total: of the board.
    """

    __slots__ = ("_free", "_least_rest", "counters", "small", "stream", "total")

    def __init__(
        self, stream: Stream, small: bool, counters: PoolCounters, total: PoolCounters
    ) -> None:
        self.stream = stream
        self.small = small
        self.counters = counters
        self.total = total
        self._least_rest = SMALLEST_BLOCK if small else SMALL_REQUEST + 1
        self._free: list[tuple[int, int, Block]] = []  # by size, then address

    def take(self, size: int) -> Block | None:
        """The smallest free block of at least `size` bytes, cut down to it; None where none is."""
        free = self._free
        at = bisect_left(free, (size,))
        if at == len(free):
            return None
        block = free.pop(at)[2]
        if block.before is not None or block.after is not None:
            self._cut(block, size, -1, -block.size)
        else:
            self._cut(block, size, 0, 0)
        return block

    def adopt(self, block: Block, size: int) -> Block:
        """A new segment's block, cut down to `size`."""
        self._cut(block, size, 0, 0)
        return block

    def give_back(self, block: Block) -> None:
        """Join a block with its free neighbours, and keep it for the next request."""
        free = self._free
        block.used = False
        blocks = nbytes = 0
        low = block.before
        if low is not None and not low.used:
            del free[bisect_left(free, (low.size, low.address))]
            blocks, nbytes = -1, -low.size
            _join(low, block)
            block = low
        high = block.after
        if high is not None and not high.used:
            del free[bisect_left(free, (high.size, high.address))]
            blocks, nbytes = blocks - 1, nbytes - high.size
            _join(block, high)
        insort(free, (block.size, block.address, block))
        if block.before is not None or block.after is not None:
            blocks, nbytes = blocks + 1, nbytes + block.size
        self._count_split(blocks, nbytes)

    def whole_segments(self) -> Iterator[Block]:
        """Remove and yield the blocks that fill their segment: what the driver can take back."""
        whole = [entry[2] for entry in self._free if not entry[2].is_split]
        self._free = [entry for entry in self._free if entry[2].is_split]
        return iter(whole)

    def largest(self) -> int:
        """Size of the largest free block, or 0."""
        return self._free[-1][0] if self._free else 0

    def _cut(self, block: Block, size: int, blocks: int, nbytes: int) -> None:
        """Cut a block down to `size`; the rest becomes free. `blocks`, `nbytes`: split so far."""
        left = block.size - size
        if left >= self._least_rest:
            rest = Block(block.address + size, left, self)
            block.size = size
            after = block.after
            rest.before, rest.after = block, after
            if after is not None:
                after.before = rest
            block.after = rest
            if block.stale:
                rest.stale = tuple(piece for piece in block.stale if piece[1] > rest.address)
                block.stale = tuple(piece for piece in block.stale if piece[0] < rest.address)
            insort(self._free, (left, rest.address, rest))
            blocks, nbytes = blocks + 1, nbytes + left
        self._count_split(blocks, nbytes)

    def _count_split(self, blocks: int, nbytes: int) -> None:
        if blocks or nbytes:
            self.counters.split.change(blocks, nbytes)
            self.total.split.change(blocks, nbytes)


def _join(low: Block, high: Block) -> None:
    """Let a block take in its neighbour above."""
    low.size += high.size
    low.after = high.after
    if high.after is not None:
        high.after.before = low
    if high.stale:
        low.stale += high.stale
