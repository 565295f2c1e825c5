"""Runs the benchmark: `python -m benchmarks.batching`, from the repository's root.

Peers come with the extra `bench-peers`. BentoML wants an older cattrs than accelhal and needs an
environment of its own (the group `bench-bentoml`, pip 25.1 or newer), whose interpreter is named
with `--python`:

    pip install -c constraints.txt '.[torch,bench-peers]'
    python -m venv ../bentoml
    ../bentoml/bin/pip install --group bench-bentoml
    python -m benchmarks.batching --python ../bentoml/bin/python
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape

from benchmarks.batching.contenders import FLOOR, IDEAL, OURS, PEERS
from benchmarks.batching.interpreters import Interpreters
from benchmarks.batching.report import (
    document,
    noise_line,
    print_left_out,
    verdict_table,
    versions_line,
    workload_table,
)
from benchmarks.batching.rounds import Row, Timing, opened, run_workload
from benchmarks.batching.verdicts import Verdict, verdicts
from benchmarks.batching.workloads import BY_NAME

_FULL = Timing(rounds=5, warm=0.25, seconds=0.5, idle_seconds=4.0)
_QUICK = Timing(rounds=1, warm=0.05, seconds=0.15, idle_seconds=0.5)
_CONTENDERS = (OURS, *PEERS, FLOOR, IDEAL)


@click.command(help="Measure batchers side by side, each in its own process.")
@click.option("--quick", is_flag=True, help="One short round of each: under a minute.")
@click.option("--rounds", type=click.IntRange(1), help="Rounds of each contender.")
@click.option("--seconds", type=click.FloatRange(0.01), help="Measured seconds of a round.")
@click.option("--workload", "names", multiple=True, type=click.Choice(tuple(BY_NAME)))
@click.option("--contender", "only", multiple=True, type=click.Choice(_CONTENDERS))
@click.option(
    "--python",
    "pythons",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False),
    help="Another interpreter to look for contenders in; may be repeated.",
)
@click.option("--json", "json_path", type=click.Path(dir_okay=False, path_type=Path))
def main(
    quick: bool,
    rounds: int | None,
    seconds: float | None,
    names: tuple[str, ...],
    only: tuple[str, ...],
    pythons: tuple[str, ...],
    json_path: Path | None,
) -> None:
    usual = _QUICK if quick else _FULL
    timing = replace(usual, rounds=rounds or usual.rounds, seconds=seconds or usual.seconds)
    console = Console()
    load = os.getloadavg()[0]
    interpreters = Interpreters([sys.executable, *pythons])
    contenders, left_out = opened(only or _CONTENDERS, interpreters)
    print_left_out(console, {name: escape(reason) for name, reason in left_out.items()})
    console.print(versions_line(interpreters.versions), highlight=False)
    results: dict[str, list[Row]] = {}
    found: list[Verdict] = []
    try:
        for name in names or BY_NAME:
            workload = BY_NAME[name]
            with console.status(name) as status:
                results[name] = run_workload(workload, contenders, timing, status.update)
            found += verdicts(workload, results[name])
            console.print(workload_table(workload, results[name]))
    finally:
        for one in contenders:
            one.close()
    console.print(verdict_table(found))
    console.print(noise_line(load, results))
    if json_path is not None:
        whole = document(results, found, interpreters.versions, left_out, timing, load)
        json_path.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
