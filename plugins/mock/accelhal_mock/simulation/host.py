"""What the host knows of the boards' work, and the copies it has under way in its own memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from accelhal_mock.simulation.vector_clock import VectorClock, covers, merge

if TYPE_CHECKING:
    from accelhal_mock.simulation.stream import Stream


class Operation(NamedTuple):
    """One piece of work in a stream's order.

    Attributes:
        stream: where it runs.
        epoch: its place in the stream, counted from 1.
        name: what the program called ("aten::mul", "copy to host").
    """

    stream: Stream
    epoch: int
    name: str

    def __str__(self) -> str:
        return f"{self.name} on {self.stream}"


class HostBuffer:
    """Host memory that asynchronous copies read or write: one per pinned, or awaited, storage.

    Attributes:
        readers: copies from this buffer to a board that the host has not waited for.
        writer: the latest copy from a board into this buffer that it has not waited for, or None.
    """

    __slots__ = ("__weakref__", "name", "readers", "writer")

    def __init__(self, name: str = "host buffer") -> None:
        self.name = name
        self.readers: list[Operation] = []
        self.writer: Operation | None = None

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False)
class PendingCopy:
    """A copy between host and board that the host has not waited for.

    Attributes:
        operation: the copy.
        read: buffers it reads.
        written: buffers it writes.
        on_complete: called once, when the host learns that the copy is done, before the wait that
            showed it returns in any thread.
    """

    operation: Operation
    read: tuple[HostBuffer, ...]
    written: tuple[HostBuffer, ...]
    on_complete: Callable[[], None] | None


class HostKnowledge:
    """The host's vector clock: the work it has waited for, on any board.

    All host threads share one clock, for the ways in which they order one another (locks, queues)
    cannot be seen: what one of them has waited for, all may rely on.

    Attributes:
        version: changes whenever something is learnt; streams compare it before they merge.
        completing: held while copies are completed. Who queues one holds it until the copy's memory
            is ready for that; it is taken before any board's lock.
    """

    def __init__(self) -> None:
        self.clock: VectorClock = {}
        self.version = 0
        self.completing = threading.RLock()
        self._pending: list[PendingCopy] = []
        self._lock = threading.Lock()

    def knows(self, operation: Operation) -> bool:
        """Whether the host has waited for the operation."""
        return covers(self.clock, operation.stream.id, operation.epoch)

    def expect(self, copy: PendingCopy) -> None:
        """Keep a copy until the host learns that it is done."""
        with self._lock:
            for buffer in copy.read:
                buffer.readers.append(copy.operation)
            for buffer in copy.written:
                buffer.writer = copy.operation
            self._pending.append(copy)

    def learn(self, clock: Mapping[int, int]) -> None:
        """Take in what a wait has shown, and complete the copies that it covers."""
        with self.completing:  # another thread that waited for the same must find them completed
            for copy in self._now_done(clock):
                if copy.on_complete is not None:
                    copy.on_complete()

    def after_fork(self) -> None:
        """In a child process: new locks, for a thread of the parent may have held the old ones."""
        self.completing = threading.RLock()
        self._lock = threading.Lock()

    def _now_done(self, clock: Mapping[int, int]) -> list[PendingCopy]:
        done: list[PendingCopy] = []
        with self._lock:
            learned = dict(self.clock)
            merge(learned, clock)
            self.clock = learned
            self.version += 1
            if self._pending:
                done = [copy for copy in self._pending if self.knows(copy.operation)]
                self._pending = [copy for copy in self._pending if not self.knows(copy.operation)]
            for copy in done:
                self._forget(copy)
        return done

    @staticmethod
    def _forget(copy: PendingCopy) -> None:
        for buffer in copy.read:
            buffer.readers.remove(copy.operation)
        for buffer in copy.written:
            if buffer.writer is copy.operation:
                buffer.writer = None
