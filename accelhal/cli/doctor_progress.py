"""How far the slow scenes of the doctor are, on a terminal's standard error."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from accelhal.cli.output import console
from accelhal.doctor.engine import DEFAULT_SCENE
from accelhal.doctor.facts import Facts
from accelhal.spi.doctor import Cost

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress


@contextmanager
def progress_shown(facts: Facts, scene: Collection[Cost]) -> Iterator[None]:
    """Context in which children and seconds of `facts` are shown; nothing where nobody looks."""
    out = console(stderr=True) if set(scene) - DEFAULT_SCENE else None
    if out is None or not out.is_terminal:
        yield
        return
    with _bar(out) as bar:
        _connect(facts, bar)
        yield


def _bar(out: Console) -> Progress:
    # Here, because it takes long to import and the default scene shows none.
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeRemainingColumn(),
        console=out,
        transient=True,
    )


def _connect(facts: Facts, bar: Progress) -> None:
    """Let the bar follow: without end while children run, towards the end of --watch."""
    task = bar.add_task("looking at the host", total=None)
    packages: list[str] = []

    def imports(package: str) -> None:
        packages.append(package)
        bar.update(task, description=f"importing in child processes: {', '.join(packages)}")

    def measures(board: str) -> None:
        bar.update(task, description=f"measuring {board}", total=None)

    def watches(seconds: float) -> None:
        bar.update(task, description="watching", completed=seconds, total=facts.watch_s)

    facts.on_import, facts.on_measure, facts.on_watch = imports, measures, watches
