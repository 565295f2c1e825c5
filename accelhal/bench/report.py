"""A result as text: what was measured on what, and the table's cells."""

from __future__ import annotations

from accelhal.bench.results import BenchResult, ModelResult, Row, RowStatus

COLUMNS = (
    "model",
    "batch",
    "samples/s",
    "p50 ms",
    "p95 ms",
    "p99 ms",
    "runs",
    "peak mem",
    "of total",
)

CLOCKS = {
    "device_events": "the device's events",
    "host": "the host's clock around a synchronised device",
}

MEMORY_KINDS = {
    "device": "this process's tensors on the device",
    "process": "resident set of the whole process, Python and libraries included",
    None: "not counted by this device",
}

_STATUS_TEXT = {
    RowStatus.OUT_OF_MEMORY: "out of memory",
    RowStatus.FAILED: "failed",
    RowStatus.SKIPPED: "skipped",
}

ABSENT = "-"


def heading(result: BenchResult) -> str:
    """The device and how it was used, in one line."""
    name = f"{result.device} ({result.device_name})"
    simulated = ", simulated: no number here speaks of hardware" if result.simulated else ""
    precision = ""
    if result.float32_precision and result.dtype == "float32":
        precision = f" ({result.float32_precision})"
    threads = f"{result.threads} thread{'s' * (result.threads != 1)}"
    return (
        f"{name}{simulated}: {result.mode}, {result.dtype}{precision}, "
        f"torch {result.torch_version}, {threads}"
    )


def legend(result: BenchResult) -> tuple[str, ...]:
    """What the columns mean, a line each."""
    return (
        "samples/s: batches back to back; latency: one batch on an idle device; "
        f"timed by {CLOCKS[result.clock]}",
        f"peak mem: {MEMORY_KINDS[result.peak_memory_kind]}",
    )


def reasons(result: BenchResult) -> tuple[str, ...]:
    """Why rows have no numbers, a line for each reason of a model."""
    batches: dict[tuple[str, str], list[str]] = {}
    for model in result.models:
        for row in model.rows:
            if row.reason:
                batches.setdefault((model.name, row.reason), []).append(str(row.batch_size))
    return tuple(
        f"{name}, batch {', '.join(sizes)}: {reason}" for (name, reason), sizes in batches.items()
    )


def cells(model: ModelResult, row: Row) -> tuple[str, ...]:
    """One line of the table, a cell for each of COLUMNS."""
    name = f"{model.name} ({count(model.parameters)})"
    if row.status is not RowStatus.MEASURED:
        empty = len(COLUMNS) - 3
        return (name, f"{row.batch_size:,}", _STATUS_TEXT[row.status], *[ABSENT] * empty)
    percent = row.peak_memory_percent
    return (
        name,
        f"{row.batch_size:,}",
        number(row.throughput_samples_per_s),
        number(row.latency_p50_ms),
        number(row.latency_p95_ms),
        number(row.latency_p99_ms),
        f"{row.iterations:,}",
        size(row.peak_memory_bytes),
        ABSENT if percent is None else f"{percent:.1f} %",
    )


def number(value: float | None) -> str:
    """A figure with three or more significant digits."""
    if value is None:
        return ABSENT
    decimals = 0 if value >= 1000 else 1 if value >= 100 else 2 if value >= 1 else 3
    return f"{value:,.{decimals}f}"


def size(value: int | None) -> str:
    """Bytes in binary units."""
    if value is None:
        return ABSENT
    amount = float(value)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1024:
            return f"{amount:.0f} B" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} TiB"


def count(parameters: int) -> str:
    """A number of parameters as it is quoted: "25.6 M"."""
    for limit, unit in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        if parameters >= limit:
            return f"{parameters / limit:.1f} {unit}"
    return str(parameters)
