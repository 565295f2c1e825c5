"""Graphs: work recorded once with the very memory it touches, and replayed with one launch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from accelhal_mock.simulation.error_texts import (
    CAPTURE_INVALIDATED,
    CAPTURE_ISOLATION,
    CAPTURE_ON_DEFAULT_STREAM,
    CAPTURE_UNJOINED,
    CAPTURE_UNSUPPORTED,
    CAPTURED_EVENT,
    EMPTY_GRAPH,
)
from accelhal_mock.simulation.hazards import Uses
from accelhal_mock.simulation.host import Operation
from accelhal_mock.simulation.vector_clock import covers, merge

if TYPE_CHECKING:
    from accelhal_mock.simulation.allocation import Allocation
    from accelhal_mock.simulation.board import Board
    from accelhal_mock.simulation.event import Event
    from accelhal_mock.simulation.faults import BitFlip
    from accelhal_mock.simulation.stream import Stream


@dataclass(frozen=True, eq=False)
class Node:
    """One recorded piece of work: `replay` does it again on the memory it names."""

    name: str
    replay: Callable[[], None]
    reads: tuple[Allocation, ...]
    writes: tuple[Allocation, ...]


@dataclass(eq=False)
class _Captured:
    """A stream that takes part in a capture: the length of its work, and its last operation."""

    length: float
    epoch: int = 0


class Graph:
    """Work captured from a stream, and from streams that joined it by waiting for its events.

    The nodes keep the memory they touch: it stays allocated as long as they live.

    Attributes:
        board: where it was captured.
        nodes: recorded work, in the order of its launches.
        duration: seconds that a replay takes beside its one launch.
    """

    def __init__(self, board: Board) -> None:
        self.board = board
        self.nodes: list[Node] = []
        self.duration = 0.0
        self._origin: Stream | None = None
        self._streams: dict[Stream, _Captured] = {}
        self._uses: dict[Allocation, Uses] = {}
        self._failure: str | None = None
        self._complete = False

    # ---- capture

    def begin(self, stream: Stream) -> None:
        """Record the stream's work from here, in place of running it.

        Raises:
            BoardError: the stream is its board's default stream, or is captured already.
        """
        self.board.check_usable()
        if stream is self.board.default_stream:
            self._raise(CAPTURE_ON_DEFAULT_STREAM)
        if stream.capture is not None:
            stream.capture.invalidate("capture_begin")
        if self._complete or self._streams:
            self.reset()
        self._origin = stream
        self._streams[stream] = _Captured(0.0)
        stream.capture = self

    def end(self) -> None:
        """End the capture. The streams run their work again, whether or not this raises.

        Raises:
            BoardError: a call during capture was not permitted, or a stream that joined was not
                waited for by the stream that began.
        """
        origin, streams, failure = self._origin, self._streams, self._failure
        if origin is None:
            self._raise(EMPTY_GRAPH)
        for stream in streams:
            stream.capture = None
        self._origin, self._streams, self._uses = None, {}, {}
        if failure is not None:
            self.nodes.clear()
            self._raise(CAPTURE_INVALIDATED, failure)
        for stream, captured in streams.items():
            if stream is not origin and not covers(origin.clock, stream.id, captured.epoch):
                self.nodes.clear()
                self._raise(CAPTURE_UNJOINED, str(stream))
        self.duration = streams[origin].length
        self._complete = True

    def add(
        self,
        stream: Stream,
        name: str,
        cost: float,
        reads: Sequence[Allocation],
        writes: Sequence[Allocation],
        replay: Callable[[], None] | None,
    ) -> None:
        """Record a launch; the stream calls this, and has counted it.

        Raises:
            BoardError: the work cannot be replayed, or an earlier call spoilt the capture.
            HazardError: work within the graph uses the same memory unordered.
        """
        if self._failure is not None:
            self._raise(CAPTURE_INVALIDATED, self._failure)
        if replay is None:
            self.invalidate(name)
        hazards = self.board.machine.hazards
        if hazards.active:
            operation = Operation(stream, stream.epoch, name)
            of_reads = [self._uses.setdefault(allocation, Uses()) for allocation in reads]
            of_writes = [self._uses.setdefault(allocation, Uses()) for allocation in writes]
            hazards.check(operation, reads, of_reads, writes, of_writes)
            hazards.note(operation, of_reads, of_writes)
        captured = self._streams[stream]
        captured.length += cost - self.board.cost.launch
        captured.epoch = stream.epoch
        self.nodes.append(Node(name, replay, tuple(reads), tuple(writes)))

    def wait(self, stream: Stream, event: Event) -> None:
        """Let a stream wait for an event, where the one or the other is captured.

        A stream that waits for an event of the capture joins it.

        Raises:
            BoardError: the wait would order captured work after work that is not captured, or the
                event's capture has ended.
        """
        if event.captured_in is not self or stream.capture not in (None, self):
            self._spoil(CAPTURE_ISOLATION, str(stream))
        if not self._streams:
            self._raise(CAPTURED_EVENT)
        assert event.moment is not None, "a captured event is recorded"
        captured = self._streams.get(stream)
        if captured is None:
            captured = self._streams[stream] = _Captured(event.moment, stream.epoch)
            stream.capture = self
        captured.length = max(captured.length, event.moment)
        merge(stream.clock, event.clock)

    def length_of(self, stream: Stream) -> float:
        """Seconds of work captured in a stream so far."""
        return self._streams[stream].length

    def invalidate(self, call: str) -> NoReturn:
        """Spoil the capture by a call that it does not permit."""
        self._spoil(CAPTURE_UNSUPPORTED, call)

    # ---- replay

    def replay(self, stream: Stream | None = None) -> BitFlip | None:
        """Do the recorded work again, with one launch, in a stream (the current one when None).

        Raises:
            BoardError: nothing was captured, or the board fails.
            HazardError: the graph's memory is still used by unordered work.
        """
        if not self._complete:
            self._raise(EMPTY_GRAPH)
        if stream is None:
            stream = self.board.current_stream()
        reads = {use: None for node in self.nodes for use in node.reads}
        writes = {use: None for node in self.nodes for use in node.writes}
        cost = self.board.cost.launch + self.duration
        flip = stream.launch("graph replay", cost, tuple(reads), tuple(writes))
        for node in self.nodes:
            node.replay()
        return flip

    def reset(self) -> None:
        """Forget the recorded work, and let go of its memory."""
        self.nodes.clear()
        self.duration = 0.0
        self._failure = None
        self._complete = False

    def _spoil(self, text: str, detail: str) -> NoReturn:
        self._failure = detail
        self._raise(text, detail)

    def _raise(self, text: str, detail: str = "") -> NoReturn:
        machine = self.board.machine
        message = text.format(name=machine.name.upper())
        raise machine.errors.board(f"{message} ({detail})" if detail else message)
