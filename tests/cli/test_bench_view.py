"""The benchmark's table and the lines around it."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from accelhal.bench import BenchResult, ModelResult, Row, RowStatus
from accelhal.cli import bench_view

MEASURED = Row(
    batch_size=32,
    status=RowStatus.MEASURED,
    iterations=1200,
    throughput_samples_per_s=12345.6,
    latency_min_ms=0.5,
    latency_p50_ms=0.98765,
    latency_p95_ms=12.345,
    latency_p99_ms=123.45,
    peak_memory_bytes=3 * 2**30 // 2,
    peak_memory_percent=12.34,
)
FULL = Row(64, RowStatus.OUT_OF_MEMORY, reason="OutOfMemoryError: full")
SKIPPED = Row(128, RowStatus.SKIPPED, reason="batch 64 ran out of memory")
MORE_SKIPPED = replace(SKIPPED, batch_size=256)
MODEL = ModelResult("resnet50", 25_557_032, (MEASURED, FULL, SKIPPED, MORE_SKIPPED))
RESULT = BenchResult(
    accelhal_version="0.1.0",
    torch_version="2.13.0",
    device="toy:0",
    device_name="Toy",
    backend="toy",
    simulated=False,
    clock="device_events",
    dtype="float32",
    float32_precision="tf32",
    mode="inference",
    threads=2,
    seconds=1.0,
    total_memory_bytes=2**34,
    peak_memory_kind="device",
    models=(MODEL,),
)


def test_a_measured_row_fills_every_column() -> None:
    cells = bench_view.cells(MODEL, MEASURED)
    assert dict(zip(bench_view.COLUMNS, cells, strict=True)) == {
        "model": "resnet50 (25.6 M)",
        "batch": "32",
        "samples/s": "12,346",
        "p50 ms": "0.988",
        "p95 ms": "12.35",
        "p99 ms": "123.5",
        "runs": "1,200",
        "peak mem": "1.5 GiB",
        "of total": "12.3 %",
    }


@pytest.mark.parametrize(("row", "text"), [(FULL, "out of memory"), (SKIPPED, "skipped")])
def test_a_row_without_numbers_says_why(row: Row, text: str) -> None:
    cells = bench_view.cells(MODEL, row)
    assert len(cells) == len(bench_view.COLUMNS)
    assert cells[2] == text
    assert set(cells[3:]) == {"-"}


def test_memory_that_is_not_counted_is_a_dash_not_a_zero() -> None:
    row = replace(MEASURED, peak_memory_bytes=None, peak_memory_percent=None)
    assert bench_view.cells(MODEL, row)[-2:] == ("-", "-")


def test_reasons_are_told_once_for_all_their_sizes() -> None:
    assert bench_view.reasons(RESULT) == (
        "resnet50, batch 64: OutOfMemoryError: full",
        "resnet50, batch 128, 256: batch 64 ran out of memory",
    )


def test_the_heading_names_device_and_precision() -> None:
    heading = bench_view.heading(RESULT)
    assert "toy:0 (Toy)" in heading
    assert "float32 (tf32)" in heading
    assert "simulated" not in heading
    assert "simulated" in bench_view.heading(replace(RESULT, simulated=True))


def test_the_legend_names_clock_and_memory() -> None:
    assert "the device's events" in " ".join(bench_view.legend(RESULT))
    process = bench_view.legend(replace(RESULT, peak_memory_kind="process", clock="host"))
    assert "resident set" in " ".join(process)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (2**40, "1.0 TiB"), (2**51, "2048.0 TiB")],
)
def test_bytes_are_shown_in_binary_units(value: int, text: str) -> None:
    assert bench_view.size(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(950, "950"), (1500, "1.5 k"), (109_482_240, "109.5 M"), (7e9, "7.0 B")]
)
def test_parameters_are_counted_as_they_are_quoted(value: int, text: str) -> None:
    assert bench_view.count(value) == text


@pytest.mark.parametrize("width", [60, 72, 80, 100])
def test_a_narrow_screen_loses_columns_not_digits(width: int) -> None:
    out = Console(width=width, record=True, file=io.StringIO())
    bench_view.show_result(out, RESULT)
    lines = out.export_text().splitlines()
    heads = next(line for line in lines if line.startswith("model"))
    assert max(map(len, lines)) <= width
    assert any("resnet50 (25.6 M)" in line and "12,346" in line for line in lines)
    assert ("of total" in heads) is (width >= 100)


def test_few_runs_have_no_tail() -> None:
    cells = bench_view.cells(MODEL, replace(MEASURED, iterations=3))
    shown = dict(zip(bench_view.COLUMNS, cells, strict=True))
    assert (shown["p50 ms"], shown["p95 ms"], shown["p99 ms"]) == ("0.988", "-", "-")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (0.0, "0.000"),
        (0.00123, "0.00123"),
        (0.0567, "0.0567"),
        (0.123, "0.123"),
        (1.234, "1.23"),
        (123.45, "123.5"),
        (12345.6, "12,346"),
    ],
)
def test_a_figure_keeps_three_digits(value: float | None, text: str) -> None:
    assert bench_view.number(value) == text
