"""What a benchmark found: frozen facts with units in their names, and their JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any, Literal

from accelhal.bench.clock import ClockName
from accelhal.bench.memory import MemoryKind


class RowStatus(str, Enum):
    """How one batch size of one model went."""

    MEASURED = "measured"
    OUT_OF_MEMORY = "out_of_memory"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Row:
    """One model at one batch size. The numbers are None unless the status is MEASURED.

    Attributes:
        batch_size: samples in a batch.
        status: how it went.
        reason: why there are no numbers; empty when there are.
        iterations: batches the latencies were taken from.
        throughput_samples_per_s: samples a second, batches submitted back to back.
        latency_min_ms: shortest time of one batch submitted to an idle device, milliseconds.
        latency_p50_ms: median of those times.
        latency_p95_ms: 95th percentile, interpolated linearly.
        latency_p99_ms: 99th percentile.
        peak_memory_bytes: largest memory during the row; see `BenchResult.peak_memory_kind`.
        peak_memory_percent: share of the device's total memory, 0 to 100.
    """

    batch_size: int
    status: RowStatus
    reason: str = ""
    iterations: int | None = None
    throughput_samples_per_s: float | None = None
    latency_min_ms: float | None = None
    latency_p50_ms: float | None = None
    latency_p95_ms: float | None = None
    latency_p99_ms: float | None = None
    peak_memory_bytes: int | None = None
    peak_memory_percent: float | None = None


@dataclass(frozen=True)
class ModelResult:
    """One model over all batch sizes, smallest first.

    Attributes:
        name: built-in name, or the user's "package.module:factory".
        parameters: trainable and frozen weights, counted once where shared.
        rows: one for each batch size.
    """

    name: str
    parameters: int
    rows: tuple[Row, ...]

    @property
    def measured(self) -> tuple[Row, ...]:
        """The rows that have numbers."""
        return tuple(row for row in self.rows if row.status is RowStatus.MEASURED)

    @property
    def succeeded(self) -> bool:
        """True where at least one size was measured and none failed.

        Running out of memory at a larger size is a result, not a failure.
        """
        return bool(self.measured) and all(row.status is not RowStatus.FAILED for row in self.rows)


@dataclass(frozen=True)
class BenchResult:
    """A whole run, with what it takes to read its numbers.

    Attributes:
        accelhal_version: version of accelhal.
        torch_version: version of torch.
        device: device name ("cpu:0").
        device_name: product name.
        backend: backend name.
        simulated: True where the board exists in software alone; no number speaks of hardware.
        clock: "device_events" (native events on the device) or "host" (the monotonic clock of the
            host around a synchronised device).
        dtype: "float32", or the element type of autocast.
        float32_precision: how float32 products are computed ("ieee", "tf32"); None where the
            device does not say.
        mode: "inference" or "training" (forward, backward and an SGD step).
        threads: torch's threads for work on the processor.
        seconds: time asked for each row.
        total_memory_bytes: memory of the device, None where it is not reported.
        peak_memory_kind: whose memory the peaks count: "device" (this process's tensors on the
            device), "process" (the resident set of the whole process, Python and libraries
            included), None where the device counts none.
        models: one result a model, in the order asked for.
    """

    accelhal_version: str
    torch_version: str
    device: str
    device_name: str
    backend: str
    simulated: bool
    clock: ClockName
    dtype: str
    float32_precision: str | None
    mode: Literal["inference", "training"]
    threads: int
    seconds: float
    total_memory_bytes: int | None
    peak_memory_kind: MemoryKind | None
    models: tuple[ModelResult, ...]

    @property
    def succeeded(self) -> bool:
        """True where every model succeeded."""
        return all(model.succeeded for model in self.models)

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON values under the attributes' names."""
        return asdict(self)
