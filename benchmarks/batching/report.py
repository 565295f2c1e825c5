"""What a run found, as tables on screen and as a JSON document."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.batching.contenders import FLOOR, IDEAL, OURS
from benchmarks.batching.figures import Figures
from benchmarks.batching.rounds import Row, Timing
from benchmarks.batching.verdicts import Verdict
from benchmarks.batching.workloads import Workload

_COLUMNS = {
    "cpu_us": ("CPU us/req", ".2f"),
    "per_second": ("req/s", ",.0f"),
    "tokens_per_second": ("tokens/s", ",.0f"),
    "p50_ms": ("p50 ms", ".3f"),
    "p99_ms": ("p99 ms", ".3f"),
    "fill": ("fill", ".0%"),
    "efficiency": ("pad eff", ".2f"),
    "wakeups_per_second": ("wakes/s", ".1f"),
    "cpu_share": ("CPU", ".0%"),
}
_ABSENT = "-"


def _said(value: float | None, form: str) -> str:
    return _ABSENT if value is None else format(value, form)


def workload_table(workload: Workload, rows: Sequence[Row]) -> Table:
    """Medians of every contender in one workload, the figure of its first target first."""
    first = workload.targets[0]
    rows = sorted(
        rows,
        key=lambda row: (
            (value := getattr(row.median, first.figure)) is None,
            (value or 0.0) * (1 if first.less_is_better else -1),
        ),
    )
    medians = {id(row): row.median for row in rows}
    shown = [
        name
        for name in _COLUMNS
        if (name != "cpu_share" or workload.driver == "idle")
        and any(getattr(one, name) is not None for one in medians.values())
    ]
    table = Table(title=workload.title, title_justify="left")
    table.add_column("batcher")
    table.add_column("setting")
    for name in shown:
        table.add_column(_COLUMNS[name][0], justify="right")
    notes = {id(row): _note(row, medians[id(row)]) for row in rows}
    if any(notes.values()):
        table.add_column("note")
    for row in rows:
        median = medians[id(row)]
        table.add_row(
            row.contender,
            row.setting,
            *(_said(getattr(median, name), _COLUMNS[name][1]) for name in shown),
            *([notes[id(row)]] if any(notes.values()) else []),
            style="bold"
            if row.contender == OURS
            else "dim"
            if row.contender in (IDEAL, FLOOR)
            else None,
        )
    return table


def _note(row: Row, median: Figures) -> str:
    if median.stranded:
        return f"{median.stranded:.0f} callers were left waiting"
    return row.error or ""


def verdict_table(found: Sequence[Verdict]) -> Table:
    """Each target, the ratio seen, and whether it is met."""
    table = Table(title="targets", title_justify="left")
    for name in ("workload", "figure"):
        table.add_column(name)
    for name in ("ours", "theirs", "ratio", "target"):
        table.add_column(name, justify="right")
    for name in ("against", "verdict"):
        table.add_column(name)
    for one in found:
        label, form = _COLUMNS[one.target.figure]
        alone = one.target.against == "none"
        sign = "<=" if one.target.less_is_better else ">="
        bound = _said(one.target.bound, form if alone else ".2f")
        unjudged = "not measured" if one.ratio is None else ""
        verdict = {True: "[green]pass", False: "[red]miss", None: unjudged}[one.met]
        table.add_row(
            one.workload,
            label,
            _said(one.ours, form),
            _said(one.theirs, form),
            _ABSENT if alone else _said(one.ratio, ".2f"),
            f"{sign} {bound}" if one.target.bound is not None else _ABSENT,
            _ABSENT if alone else one.rival or one.target.against,
            verdict,
        )
    return table


def others_share(results: Mapping[str, Sequence[Row]]) -> float | None:
    """What other processes took of the machine, over all rounds: the noise of the figures."""
    shares = [
        figures.others_share
        for rows in results.values()
        for row in rows
        for figures in row.rounds
        if figures.others_share is not None
    ]
    return statistics.median(shares) if shares else None


def noise_line(load: float, results: Mapping[str, Sequence[Row]]) -> str:
    """How busy the machine was with other things.

    Args:
        load: The load average before the run.
        results: The rounds of the run.
    """
    share = others_share(results)
    return (
        f"{os.cpu_count()} CPUs, load average {load:.2f} before and {os.getloadavg()[0]:.2f} "
        f"after; other processes took {_said(share, '.0%')} of the machine in the median round"
    )


def document(
    results: Mapping[str, Sequence[Row]],
    found: Sequence[Verdict],
    versions: Mapping[str, str],
    left_out: Mapping[str, str],
    timing: Timing,
    load: float,
) -> dict[str, Any]:
    """The whole run, every round included."""
    return {
        "machine": {
            "cpus": os.cpu_count(),
            "python": platform.python_version(),
            "load_before": load,
            "load_after": os.getloadavg()[0],
            "others_share": others_share(results),
        },
        "timing": asdict(timing),
        "versions": dict(versions),
        "left_out": dict(left_out),
        "workloads": {
            name: [{**asdict(row), "median": asdict(row.median)} for row in rows]
            for name, rows in results.items()
        },
        "targets": [{**asdict(one), "met": one.met} for one in found],
    }


def versions_line(versions: Mapping[str, str]) -> str:
    return "peers: " + (", ".join(f"{k} {v}" for k, v in versions.items()) or "none")


def print_left_out(console: Console, left_out: Mapping[str, str]) -> None:
    for name, reason in left_out.items():
        console.print(f"[yellow]left out[/yellow] {name}: {reason}", highlight=False)
