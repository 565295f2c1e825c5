"""Memory that one tensor's storage holds on a board."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accelhal_mock.simulation.board import Board
    from accelhal_mock.simulation.hazards import Uses
    from accelhal_mock.simulation.memory import CachingAllocator
    from accelhal_mock.simulation.memory_blocks import Block
    from accelhal_mock.simulation.stream import Stream


class Allocation:
    """Memory that a tensor's storage holds on a board; freed when dropped, or by `free`.

    Attributes:
        address: first byte; unique among all boards. 0 where `nbytes` is 0.
        nbytes: bytes asked for.
        uses: what the hazard detector knows of it; None before it is used.
    """

    __slots__ = ("__weakref__", "_block", "_memory", "address", "nbytes", "uses")

    def __init__(self, memory: CachingAllocator, block: Block | None, nbytes: int) -> None:
        self._memory = memory
        self._block = block
        self.nbytes = nbytes
        self.address = 0 if block is None else block.address
        self.uses: Uses | None = None

    def __repr__(self) -> str:
        return f"memory at {self.address:#x} ({self.nbytes} bytes) of {self._memory.board}"

    @property
    def board(self) -> Board:
        """Where it lies."""
        return self._memory.board

    @property
    def size(self) -> int:
        """Bytes it takes of the board; 0 once freed."""
        return self._block.size if self._block is not None else 0

    def record_stream(self, stream: Stream) -> None:
        """Keep the memory, once freed, until work queued in `stream` by then is done."""
        block = self._block
        if block is not None and stream is not block.pool.stream:
            if block.recorded is None:
                block.recorded = set()
            block.recorded.add(stream)

    def resize(self, nbytes: int, stream: Stream | None = None) -> None:
        """Take other memory, of `nbytes`, in place of this; the caller moves the contents.

        Raises:
            the machine's out-of-memory error; the memory is kept as it was.
        """
        other = self._memory.allocate(nbytes, stream)
        self.free()
        self._block, other._block = other._block, None
        self.nbytes, self.address, self.uses = nbytes, other.address, other.uses

    def free(self) -> None:
        """Give the memory back; harmless when repeated, and safe in finalizers and threads."""
        block = self._block
        if block is not None:
            self._block = None
            self._memory.release(block, self.uses)

    def __del__(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        # When the interpreter ends, nothing needs to be given back, and modules are half gone.
        if not finalizing():
            self.free()
