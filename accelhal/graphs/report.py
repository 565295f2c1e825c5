"""What became of the batch sizes of a GraphedModule."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CapturedSize:
    """A graph that was captured.

    Attributes:
        batch_size: rows that a replay computes.
        inputs: the shapes that it takes, without the batch: "float32[784]".
        seconds: time of warm-up and capture.
        memory: bytes that its buffers and its part of the pool took, as far as the device counts
            them; None where it counts nothing. Allocations of other threads meanwhile count too.
        replays: times it was replayed.
    """

    batch_size: int
    inputs: str
    seconds: float
    memory: int | None
    replays: int


@dataclass(frozen=True)
class FailedSize:
    """A batch size of which there is no graph.

    Attributes:
        batch_size: rows.
        inputs: the shapes, without the batch.
        reason: the error's class and message.
    """

    batch_size: int
    inputs: str
    reason: str


@dataclass(frozen=True)
class GraphReport:
    """Graphs of one GraphedModule.

    Attributes:
        device: device name.
        captured: graphs that are held now, in the order of their capture.
        failed: sizes that could not be captured.
        recaptures: times that all graphs were dropped because the model had changed.
        eager_calls: calls that ran without a graph, by `fallback="eager"`.
        eager_reason: why the last of them did; None where none did.
    """

    device: str
    captured: tuple[CapturedSize, ...]
    failed: tuple[FailedSize, ...]
    recaptures: int
    eager_calls: int
    eager_reason: str | None
