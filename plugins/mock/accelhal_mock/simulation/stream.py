"""In-order queues of a board's work, each with its own time and its own order towards the others.

Streams do not compete: two of one board run side by side, each at the board's full speed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from accelhal_mock.simulation.event import Event
from accelhal_mock.simulation.faults.effects import BitFlip
from accelhal_mock.simulation.host import HostBuffer, Operation, PendingCopy
from accelhal_mock.simulation.vector_clock import VectorClock, merge

if TYPE_CHECKING:
    from accelhal_mock.simulation.allocation import Allocation
    from accelhal_mock.simulation.board import Board
    from accelhal_mock.simulation.graphs import Graph


class Stream:
    """A queue of work on one board.

    Attributes:
        id: unique in the machine; the key of vector clocks.
        number: unique on the board; 0 is its default stream.
        priority: as asked for; lower is more urgent. It has no effect on time.
        ready: when all work queued so far ends, in seconds of the machine's clock.
        busy: seconds of work queued since the machine was configured.
        capture: the graph that records this stream's work, or None.
    """

    __slots__ = (
        "__weakref__",
        "_host_version",
        "board",
        "busy",
        "capture",
        "clock",
        "epoch",
        "id",
        "number",
        "priority",
        "ready",
    )

    def __init__(self, board: Board, id: int, number: int, priority: int = 0) -> None:  # noqa: A002
        self.board = board
        self.id = id
        self.number = number
        self.priority = priority
        self.ready = 0.0
        self.busy = 0.0
        self.epoch = 0
        self.clock: VectorClock = {}
        self.capture: Graph | None = None
        self._host_version = 0

    def __repr__(self) -> str:
        name = "default stream" if self.number == 0 else f"stream {self.number}"
        return f"{name} of {self.board}"

    # ---- work

    def launch(
        self,
        name: str,
        cost: float,
        reads: Sequence[Allocation] = (),
        writes: Sequence[Allocation] = (),
        *,
        host_reads: Sequence[HostBuffer] = (),
        host_writes: Sequence[HostBuffer] = (),
        on_complete: Callable[[], None] | None = None,
        replay: Callable[[], None] | None = None,
    ) -> BitFlip | None:
        """Queue a piece of work. The caller computes its result, at once and by itself.

        Args:
            name: what the program called, for reports.
            cost: seconds the board takes; see `CostModel`.
            reads: memory it reads.
            writes: memory it writes.
            host_reads: host buffers an asynchronous copy reads; hazards until the host has waited.
            host_writes: host buffers an asynchronous copy writes; the same.
            on_complete: called when the host learns that the work is done (it has waited for it).
            replay: does the work again on the same memory; needed while the stream is captured.

        Returns:
            The bit to flip in the result where a wrong_result fault strikes, else None.

        Raises:
            HazardError: the memory is still used by work that is not ordered before this.
            BoardError: the board is lost, or reports an earlier failure; or the process was forked.
        """
        board = self.board
        effects = None
        if board.watched:
            if self.capture is None:
                effects = board.before_launch()
            else:
                board.check_usable()
        machine = board.machine
        with board.lock:
            host = machine.host
            if self._host_version != host.version:
                self._host_version = host.version
                merge(self.clock, host.clock)
            epoch = self.epoch + 1
            if self.capture is None and machine.hazards.active:
                machine.hazards.touch(Operation(self, epoch, name), reads, writes, host_writes)
            self.epoch = epoch
            self.clock[self.id] = epoch
            if self.capture is not None:
                self.capture.add(self, name, cost, reads, writes, replay)
                return None
            if effects is not None:
                cost *= effects.slowdown
            now = machine.clock.now()
            self.ready = (now if now > self.ready else self.ready) + cost
            self.busy += cost
            if effects is not None and effects.hangs:
                self.ready = math.inf
        if host_reads or host_writes or on_complete is not None:
            operation = Operation(self, epoch, name)
            host.expect(PendingCopy(operation, tuple(host_reads), tuple(host_writes), on_complete))
        return effects.flip if effects is not None else None

    # ---- order

    def wait_event(self, event: Event) -> None:
        """Order later work of this stream after the event; nothing waits yet."""
        if event.moment is None:
            return
        with self.board.lock:
            capture = event.captured_in or self.capture
            if capture is not None:
                capture.wait(self, event)
                return
            if event.moment > self.ready:
                self.ready = event.moment
            merge(self.clock, event.clock)

    def wait_stream(self, stream: Stream) -> None:
        """Order later work of this stream after all work queued in `stream` so far."""
        self.wait_event(stream.record_event())

    def record_event(self, event: Event | None = None) -> Event:
        """Record an event (a new untimed one when None) and return it."""
        event = event or Event()
        event.record(self)
        return event

    def end(self) -> float:
        """When all work queued so far ends: now, where none is left.

        During capture it is the length of the work captured in this stream.
        """
        if self.capture is not None:
            return self.capture.length_of(self)
        return max(self.ready, self.board.machine.clock.now())

    def knowledge(self) -> VectorClock:
        """All work ordered before the present end of this stream."""
        with self.board.lock:
            merge(self.clock, self.board.machine.host.clock)
            return dict(self.clock)

    # ---- the host waits

    def synchronize(self) -> None:
        """Let the host wait until all queued work is done.

        Raises:
            BoardError: the board failed, or hangs (after the machine's watchdog).
        """
        if self.capture is not None:
            self.capture.invalidate("synchronize")
        known = self.knowledge()  # before the moment: another thread may launch meanwhile
        self.board.wait(self.ready, known)

    def query(self) -> bool:
        """Whether all queued work is done. Under a virtual clock a "no" takes time, as polls do."""
        self.board.check_usable()
        if self.capture is not None:
            self.capture.invalidate("query")
        machine, known = self.board.machine, self.knowledge()
        if machine.clock.now() < self.ready:
            machine.clock.polled(self.ready)
            return False
        machine.host.learn(known)
        return True

    def is_capturing(self) -> bool:
        """Whether a graph records this stream's work."""
        return self.capture is not None
