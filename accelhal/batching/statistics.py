"""What a batcher has done: counted a batch at a time, told as one frozen record."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from accelhal.batching.request import ReleaseReason


class BatchRecord(NamedTuple):
    """One batch that ran.

    Attributes:
        lane: name of the lane.
        requests: requests in it.
        rows: rows in it, without padding.
        padded_rows: rows that the model was given.
        tokens: entries along the padded dimension, without padding; equal to `rows` where nothing
            is padded.
        padded_tokens: entries that the model was given.
        queue_wait: seconds that its first request waited.
        service: seconds from its forming to its answers.
        reason: why it was formed when it was.
        failed: requests answered with an error.
        isolated: whether it failed as a whole and was run in parts.
    """

    lane: str
    requests: int
    rows: int
    padded_rows: int
    tokens: int
    padded_tokens: int
    queue_wait: float
    service: float
    reason: ReleaseReason
    failed: int
    isolated: bool


@dataclass(frozen=True)
class LaneStatistics:
    """One lane.

    Attributes:
        name: its device's or its own name.
        state: "standby", "running", "lost" or "ended".
        in_flight: batches formed and not yet answered.
        busy_for: seconds since the oldest of them was formed: one that grows without end hangs.
    """

    name: str
    state: str
    in_flight: int
    busy_for: float


@dataclass(frozen=True)
class BatcherStatistics:
    """A batcher's figures since it was made, and what it holds now.

    Attributes:
        queued: rows of live requests that wait for a lane.
        waiting_for_space: requests that wait for the queue to have room.
        in_flight: batches formed and not yet answered.
        requests: requests answered with a result.
        failed: requests answered with an error of the model or the device.
        rejected: requests refused because the queue was full.
        shed: queued requests that gave way to more urgent ones.
        expired: requests whose deadline passed or could not be met.
        cancelled: requests that were cancelled before they were formed into a batch.
        batches: batches run.
        batch_rows: rows of a batch -> batches of so many rows.
        reasons: why batches were formed -> how many.
        rows: rows run, without padding.
        padded_rows: rows that the model was given.
        tokens: entries along the padded dimension, without padding.
        padded_tokens: entries that the model was given.
        queue_wait: seconds that the first requests of the batches waited, summed.
        service: seconds from forming to answers, summed over the batches.
        isolated: batches that failed as a whole and were run in parts.
        model_calls: calls of the model, repeated ones included.
        out_of_memory: batches halved because the device's memory was full.
        ceilings: bucket -> rows above which its batches have exhausted memory.
        failovers: batches that another lane ran because theirs was lost.
        restarts: times that a lane's loop was started anew after an error inside accelhal.
        lanes: the lanes.
        healthy: whether a request submitted now would be run.
    """

    queued: int
    waiting_for_space: int
    in_flight: int
    requests: int
    failed: int
    rejected: int
    shed: int
    expired: int
    cancelled: int
    batches: int
    batch_rows: Mapping[int, int]
    reasons: Mapping[ReleaseReason, int]
    rows: int
    padded_rows: int
    tokens: int
    padded_tokens: int
    queue_wait: float
    service: float
    isolated: int
    model_calls: int
    out_of_memory: int
    ceilings: Mapping[Hashable, int]
    failovers: int
    restarts: int
    lanes: tuple[LaneStatistics, ...]
    healthy: bool

    @property
    def mean_batch(self) -> float:
        """Rows of a batch on average; 0 before the first."""
        return self.rows / self.batches if self.batches else 0.0

    @property
    def padding_efficiency(self) -> float:
        """Share of the entries given to the model that were not padding; 1 before the first."""
        return self.tokens / self.padded_tokens if self.padded_tokens else 1.0


UNREAD_BATCHES = 64
"""Batches that are noted and counted later, together: a lane's way to its callers is short."""


@dataclass(eq=False)
class Counters:
    """The figures as they grow; changed under the dispatcher's lock alone, but by `note`."""

    requests: int = 0
    failed: int = 0
    rejected: int = 0
    shed: int = 0
    expired: int = 0
    cancelled: int = 0
    batches: int = 0
    batch_rows: Counter[int] = field(default_factory=Counter)
    reasons: Counter[ReleaseReason] = field(default_factory=Counter)
    rows: int = 0
    padded_rows: int = 0
    tokens: int = 0
    padded_tokens: int = 0
    queue_wait: float = 0.0
    service: float = 0.0
    isolated: int = 0
    model_calls: int = 0
    out_of_memory: int = 0
    failovers: int = 0
    restarts: int = 0

    def __post_init__(self) -> None:
        self._unread: deque[tuple[BatchRecord, int, bool]] = deque()

    def copied(self) -> dict[str, Any]:
        """The figures by name, to stay as they are."""
        self.read()
        return {
            name: value.copy() if isinstance(value, dict) else value
            for name, value in vars(self).items()
            if not name.startswith("_")
        }

    def note(self, record: BatchRecord, model_calls: int, out_of_memory: bool) -> bool:
        """Take note of a batch, from any thread; whether it is time to `read` the notes."""
        self._unread.append((record, model_calls, out_of_memory))
        return len(self._unread) >= UNREAD_BATCHES

    def read(self) -> None:
        """Count the batches that were noted."""
        while self._unread:
            self._add(*self._unread.popleft())

    def _add(self, record: BatchRecord, model_calls: int, out_of_memory: bool) -> None:
        self.requests += record.requests - record.failed
        self.failed += record.failed
        self.batches += 1
        self.batch_rows[record.rows] += 1
        self.reasons[record.reason] += 1
        self.rows += record.rows
        self.padded_rows += record.padded_rows
        self.tokens += record.tokens
        self.padded_tokens += record.padded_tokens
        self.queue_wait += record.queue_wait
        self.service += record.service
        self.isolated += record.isolated
        self.model_calls += model_calls
        self.out_of_memory += out_of_memory
