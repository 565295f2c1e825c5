"""The hazard detector: reports memory used by two pieces of work that nothing orders.

For each allocation it keeps the latest write and the reads since; a new use must be ordered after
them (happens-before, by the streams' vector clocks). `torch.cuda._sanitizer` works alike.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Literal

from accelhal_mock.simulation.host import HostBuffer, HostKnowledge, Operation
from accelhal_mock.simulation.vector_clock import covers

if TYPE_CHECKING:
    from accelhal_mock.simulation.allocation import Allocation
    from accelhal_mock.simulation.stream import Stream

HazardMode = Literal["raise", "warn", "off"]


class HazardKind(Enum):
    """The bugs that the detector tells apart, and what is missing in each."""

    READ_AFTER_WRITE = "reads memory that {other} may still be writing"
    WRITE_AFTER_WRITE = "writes memory that {other} may still be writing"
    WRITE_AFTER_READ = "writes memory that {other} may still be reading"
    FREED_EARLY = "reuses freed memory that {other} may still be using"
    HOST_REFILL = "changes {memory}, which {other} may still be reading"
    HOST_EARLY_READ = "reads {memory}, which {other} may not have filled yet"


@dataclass(frozen=True)
class Hazard:
    """One report.

    Attributes:
        kind: the bug.
        operation: the use that is at fault ("aten::add on stream 3 of mock:0").
        other: the earlier use that it is not ordered after.
        memory: what both use.
        fix: the call that is missing.
    """

    kind: HazardKind
    operation: str
    other: str
    memory: str
    fix: str

    def __str__(self) -> str:
        what = self.kind.value.format(other=self.other, memory=self.memory)
        return f"hazard ({self.kind.name.lower()}): {self.operation} {what}; {self.fix}"


class HazardError(RuntimeError):
    """Work that nothing orders uses the same memory; on a real board the result is a race."""

    def __init__(self, hazard: Hazard) -> None:
        super().__init__(str(hazard))
        self.hazard = hazard

    def __reduce__(self) -> tuple[type[HazardError], tuple[Hazard]]:
        return type(self), (self.hazard,)


class HazardWarning(UserWarning):
    """The same as HazardError, where hazards are only warned of."""


class Uses:
    """The uses of one piece of memory that a new one must be ordered after.

    Attributes:
        sole: the stream of all of them, where it is one stream; a shortcut, for then they are in
            order.
        write: the latest write.
        reads: reads since then, the latest of each stream, by stream id.
        inherited: uses of the memory's former owner that nothing ordered before it was freed.
    """

    __slots__ = ("inherited", "reads", "sole", "write")

    def __init__(self, inherited: tuple[Operation, ...] = ()) -> None:
        self.sole: Stream | None = None
        self.write: Operation | None = None
        self.reads: dict[int, Operation] = {}
        self.inherited = inherited

    def unordered(self, stream: Stream) -> tuple[Operation, ...]:
        """The uses that are not ordered before the present end of `stream`."""
        if self.sole is stream:
            return ()
        uses = [*self.reads.values(), *self.inherited]
        if self.write is not None:
            uses.append(self.write)
        return tuple(use for use in uses if not _ordered(use, stream))


class HazardDetector:
    """Checks each use of memory against the earlier ones.

    Attributes:
        mode: "raise" stops the operation at fault, "warn" lets it pass, "off" looks at nothing.
        active: whether it looks.
    """

    def __init__(self, mode: HazardMode, host: HostKnowledge) -> None:
        self.mode = mode
        self.active = mode != "off"
        self._host = host

    def touch(
        self,
        operation: Operation,
        reads: Sequence[Allocation],
        writes: Sequence[Allocation],
        host_writes: Sequence[HostBuffer] = (),
    ) -> None:
        """Check an operation that is about to join its stream, then note its uses.

        Raises:
            HazardError: in mode "raise"; nothing is noted then.
        """
        of_reads = [allocation.uses or _first_use(allocation) for allocation in reads]
        of_writes = [allocation.uses or _first_use(allocation) for allocation in writes]
        self.check(operation, reads, of_reads, writes, of_writes)
        for buffer in host_writes:
            self._check_refill(f"{operation.name} on {operation.stream}", buffer, operation.stream)
        self.note(operation, of_reads, of_writes)

    def check(
        self,
        operation: Operation,
        reads: Sequence[Allocation],
        of_reads: Sequence[Uses],
        writes: Sequence[Allocation],
        of_writes: Sequence[Uses],
    ) -> None:
        """Check an operation against the earlier uses of what it reads and writes."""
        stream = operation.stream
        for allocation, uses in zip(reads, of_reads, strict=True):
            if uses.sole is not stream:
                for hazard in _read_hazards(operation, allocation, uses):
                    self._report(hazard)
        for allocation, uses in zip(writes, of_writes, strict=True):
            if uses.sole is not stream:
                for hazard in _write_hazards(operation, allocation, uses):
                    self._report(hazard)

    @staticmethod
    def note(operation: Operation, of_reads: Sequence[Uses], of_writes: Sequence[Uses]) -> None:
        """Note the uses of an operation that was checked."""
        stream = operation.stream
        for uses in of_reads:
            uses.reads[stream.id] = operation
            if uses.sole is not stream:
                uses.sole = None
        for uses in of_writes:
            uses.sole = stream
            uses.write = operation
            uses.reads = {}
            uses.inherited = ()

    # ---- the host's own memory

    def host_reads(self, buffer: HostBuffer, name: str) -> None:
        """Check that the host may read a buffer: no copy into it is under way.

        Args:
            buffer: what the host is about to read.
            name: what the program called.
        """
        writer = buffer.writer
        if self.active and writer is not None and not self._host.knows(writer):
            self._report(
                Hazard(
                    HazardKind.HOST_EARLY_READ,
                    f"{name} on the host",
                    str(writer),
                    str(buffer),
                    f"wait first: call synchronize() on {writer.stream}, or on an event "
                    "recorded after the copy",
                )
            )

    def host_writes(self, buffer: HostBuffer, name: str) -> None:
        """Check that the host may change a buffer: no copy from it, or into it, is under way."""
        if self.active:
            self._check_refill(f"{name} on the host", buffer, None)
            self.host_reads(buffer, name)

    def _check_refill(self, operation: str, buffer: HostBuffer, stream: Stream | None) -> None:
        for reader in tuple(buffer.readers):
            ordered = self._host.knows(reader) or (stream is not None and _ordered(reader, stream))
            if not ordered:
                self._report(
                    Hazard(
                        HazardKind.HOST_REFILL,
                        operation,
                        str(reader),
                        str(buffer),
                        f"wait first: call synchronize() on {reader.stream}, or on an event "
                        "recorded after the copy, before the buffer is filled again",
                    )
                )

    def _report(self, hazard: Hazard) -> None:
        if self.mode == "raise":
            raise HazardError(hazard)
        warnings.warn(str(hazard), HazardWarning, stacklevel=_callers_level())


def _callers_level() -> int:
    """The stacklevel, for `_report`, of the program's own line, outside torch and this."""
    level = 1
    frame = sys._getframe(level)
    while frame.f_back is not None:
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package not in ("accelhal_mock", "accelhal", "torch"):
            break
        frame = frame.f_back
        level += 1
    return level


def _first_use(allocation: Allocation) -> Uses:
    uses = allocation.uses = Uses()
    return uses


def _ordered(earlier: Operation, stream: Stream) -> bool:
    """Whether an operation happens before the next one of `stream`."""
    return earlier.stream is stream or covers(stream.clock, earlier.stream.id, earlier.epoch)


def _read_hazards(operation: Operation, allocation: Allocation, uses: Uses) -> Iterator[Hazard]:
    if uses.write is not None and not _ordered(uses.write, operation.stream):
        yield _between(HazardKind.READ_AFTER_WRITE, operation, uses.write, allocation)


def _write_hazards(operation: Operation, allocation: Allocation, uses: Uses) -> Iterator[Hazard]:
    stream = operation.stream
    if uses.write is not None and not _ordered(uses.write, stream):
        yield _between(HazardKind.WRITE_AFTER_WRITE, operation, uses.write, allocation)
    for read in uses.reads.values():
        if not _ordered(read, stream):
            yield _between(HazardKind.WRITE_AFTER_READ, operation, read, allocation)
    for use in uses.inherited:
        if not _ordered(use, stream):
            yield Hazard(
                HazardKind.FREED_EARLY,
                str(operation),
                str(use),
                str(allocation),
                "the tensor that held this memory was freed too early: call "
                f"tensor.record_stream(stream) with {use.stream} before it is freed",
            )


def _between(
    kind: HazardKind, operation: Operation, other: Operation, allocation: Allocation
) -> Hazard:
    return Hazard(
        kind,
        str(operation),
        str(other),
        str(allocation),
        f"add stream.wait_stream(other) before it, with {operation.stream} as `stream` and "
        f"{other.stream} as `other`",
    )
