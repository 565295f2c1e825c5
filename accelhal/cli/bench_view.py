"""A benchmark on a screen: what was measured on what, the table, and why rows have no numbers."""

from __future__ import annotations

from collections.abc import Collection

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from accelhal.bench.results import BenchResult, ModelResult, Row, RowStatus
from accelhal.bench.timing import MIN_ITERATIONS

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

LEAST_TELLING = ("of total", "runs", "p95 ms", "peak mem")
"""Columns left out of a narrow table, the first one first."""

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

_STYLES = {RowStatus.OUT_OF_MEMORY: "yellow", RowStatus.FAILED: "red", RowStatus.SKIPPED: "dim"}

ABSENT = "-"


def show_result(out: Console, result: BenchResult) -> None:
    """Print the result: heading, table, reasons, legend."""
    out.print(heading(result))
    out.print()
    out.print(_fitting_table(out, result))
    for line in reasons(result):
        out.print(line)
    out.print()
    for line in legend(result):
        out.print(line, style="dim")


def _fitting_table(out: Console, result: BenchResult) -> Table:
    """The table, without the least telling columns where the screen is too narrow for all."""
    for left_out in range(len(LEAST_TELLING) + 1):
        table = _table(result, LEAST_TELLING[:left_out])
        if Measurement.get(out, out.options, table).maximum < out.width:
            break
    return table


def _table(result: BenchResult, without: Collection[str]) -> Table:
    table = Table(
        box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold"
    )
    shown = [index for index, column in enumerate(COLUMNS) if column not in without]
    for index in shown:
        table.add_column(COLUMNS[index], justify="right" if index else "left", no_wrap=True)
    for model in result.models:
        for row in model.rows:
            line = cells(model, row)
            table.add_row(*(line[index] for index in shown), style=_STYLES.get(row.status))
    return table


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
    few = (row.iterations or 0) < MIN_ITERATIONS  # their tail would only repeat the longest
    return (
        name,
        f"{row.batch_size:,}",
        number(row.throughput_samples_per_s),
        number(row.latency_p50_ms),
        *(ABSENT if few else number(p) for p in (row.latency_p95_ms, row.latency_p99_ms)),
        f"{row.iterations:,}",
        size(row.peak_memory_bytes),
        ABSENT if percent is None else f"{percent:.1f} %",
    )


def number(value: float | None) -> str:
    """A figure with three or more significant digits."""
    if value is None:
        return ABSENT
    decimals = 0 if value >= 1000 else 1 if value >= 100 else 2 if value >= 1 else 3
    return f"{value:,.{decimals}f}" if value >= 0.1 or value == 0 else f"{value:.3g}"


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
