"""Markers in a stream: they carry its clock and its order to whoever waits for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accelhal_mock.simulation.vector_clock import VectorClock

if TYPE_CHECKING:
    from accelhal_mock.simulation.board import Board
    from accelhal_mock.simulation.graphs import Graph
    from accelhal_mock.simulation.stream import Stream


class Event:
    """A marker. It belongs to the board on which it is first recorded.

    Attributes:
        timing: whether `elapsed_time` may measure it.
        board: where it was first recorded, or None.
        moment: when it completes, in seconds of the machine's clock; None before `record`.
        clock: the work ordered before it.
        captured_in: the graph whose capture it was last recorded in, or None.
    """

    __slots__ = ("__weakref__", "board", "captured_in", "clock", "moment", "timing")

    def __init__(self, timing: bool = False) -> None:
        self.timing = timing
        self.board: Board | None = None
        self.moment: float | None = None
        self.clock: VectorClock = {}
        self.captured_in: Graph | None = None

    def record(self, stream: Stream) -> None:
        """Mark the end of all work queued in `stream` so far.

        Raises:
            BoardError: the event belongs to another board, or the stream's board is out of order.
        """
        board = stream.board
        board.check_usable()
        if self.board is None:
            self.board = board
        elif self.board is not board:
            raise board.machine.errors.board(
                f"Event device {self.board.index} does not match recording stream's device "
                f"{board.index}."
            )
        self.captured_in = stream.capture
        self.clock = stream.knowledge()
        self.moment = stream.end()

    def query(self) -> bool:
        """Whether the marked work is done; True where none was marked.

        Under a virtual clock a "no" takes time: half of what is left.
        """
        if self.moment is None or self.board is None:
            return True
        self.board.check_usable()
        self._refuse_captured("query")
        clock = self.board.machine.clock
        if clock.now() < self.moment:
            clock.polled(self.moment)
            return False
        self.board.machine.host.learn(self.clock)
        return True

    def synchronize(self) -> None:
        """Wait until the marked work is done; returns at once where none was marked."""
        if self.moment is None or self.board is None:
            return
        self._refuse_captured("synchronize")
        self.board.wait(self.moment, self.clock)

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds between the two markers on their board's clock.

        Errors have torch's own classes and words (c10/core/impl/InlineEvent.h).

        Raises:
            ValueError: a marker is untimed, or was never recorded.
            RuntimeError: a marker is not completed, or is another board's.
        """
        if not (self.timing and end.timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self.moment is None or end.moment is None or self.board is None or end.board is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        self._refuse_captured("elapsed_time")
        if self.board is not end.board:
            raise RuntimeError(
                f"Event device index {self.board.index} does not match other's device index "
                f"{end.board.index}."
            )
        now = self.board.machine.clock.now()
        if now < self.moment or now < end.moment:
            raise RuntimeError("Both events must be completed before calculating elapsed time.")
        return (end.moment - self.moment) * 1e3

    def _refuse_captured(self, call: str) -> None:
        if self.captured_in is not None and self.board is not None:
            self.captured_in.invalidate(f"{call} of an event recorded during capture")
