"""Throughput and latency against batch size, drawn into a file. Needs the extra `plot`."""

from __future__ import annotations

from pathlib import Path

from accelhal.bench.results import BenchResult
from accelhal.errors import UsageError


def draw(result: BenchResult, path: Path) -> None:
    """Write the plot.

    The shaded band of the latencies reaches from the median to the 99th percentile.

    Raises:
        UsageError: nothing was measured.
        OSError: the file cannot be written.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter, ScalarFormatter

    if not any(model.measured for model in result.models):
        raise UsageError("nothing was measured, so there is nothing to plot", operation="plot")
    figure = Figure(figsize=(11, 4.5), layout="constrained")
    throughput, latency = figure.subplots(1, 2)
    for model in result.models:
        batches = [row.batch_size for row in model.measured]
        if not batches:
            continue
        rates = [row.throughput_samples_per_s for row in model.measured]
        (line,) = throughput.plot(batches, rates, marker="o", label=model.name)
        p50 = [row.latency_p50_ms for row in model.measured]
        p99 = [row.latency_p99_ms for row in model.measured]
        latency.plot(batches, p50, marker="o", label=model.name, color=line.get_color())
        latency.fill_between(batches, p50, p99, alpha=0.2, color=line.get_color())
    throughput.set_ylabel("samples/s")
    latency.set_ylabel("latency, ms (p50 to p99)")
    ticks = sorted({row.batch_size for model in result.models for row in model.measured})
    for axes in (throughput, latency):
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xticks(ticks)
        axes.xaxis.set_major_formatter(ScalarFormatter())
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_xlabel("batch size")
        axes.grid(visible=True, alpha=0.3)
    throughput.legend()
    simulated = ", simulated" if result.simulated else ""
    figure.suptitle(
        f"{result.device} ({result.device_name}{simulated}), {result.mode}, {result.dtype}"
    )
    figure.savefig(path)
