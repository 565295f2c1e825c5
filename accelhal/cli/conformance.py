"""`accelhal conformance`: every rule of the interface, tried on a backend."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from accelhal.cli.exit_codes import ExitCode
from accelhal.cli.output import console, print_json
from accelhal.device_name import parse_device_name
from accelhal.errors import UsageError
from accelhal.registry import backends
from accelhal.testing.conformance import (
    GROUPS,
    TIME_LIMIT_S,
    ConformanceReport,
    Outcome,
    Progress,
    run,
)


@click.command()
@click.argument("backend")
@click.option("--group", "groups", metavar="NAME", multiple=True, help="May be repeated.")
@click.option(
    "--timeout",
    "limit_s",
    type=click.FloatRange(1, 24 * 3600),
    default=TIME_LIMIT_S,
    show_default=True,
    metavar="SECONDS",
    help="Limit for the whole run.",
)
@click.option("-v", "--verbose", is_flag=True, help="Show every rule that is not applicable.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print tables in Markdown.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def conformance(
    backend: str,
    groups: tuple[str, ...],
    limit_s: float,
    verbose: bool,
    as_markdown: bool,
    as_json: bool,
) -> ExitCode:
    """Try every rule of the interface on a BACKEND, such as cpu.

    The rules run in a child process under pytest, which comes with the extra "test". They use the
    backend's devices and some of their memory.

    Exit code 2 where a rule failed.
    """
    _check_names(backend, groups)
    if as_json and as_markdown:
        raise UsageError("--json and --markdown exclude one another", operation="conformance")
    with _progress_bar(backend) as progress:
        report = run(backend, groups, limit_s=limit_s, progress=progress)
    if as_json:
        print_json("conformance", document(report))
    elif as_markdown:
        from accelhal.cli.conformance_view import markdown

        click.echo(markdown(report), nl=False)
    else:
        from accelhal.cli.conformance_view import show_report

        show_report(console(), report, verbose=verbose)
    return ExitCode.FINE if report.passed else ExitCode.FAILURE


def document(report: ConformanceReport) -> dict[str, object]:
    """The report as plain JSON values."""
    return {
        "backend": report.backend,
        "versions": dict(report.versions),
        "complete": report.complete,
        "passed": report.passed,
        "groups": [
            {"name": group, **{outcome.value: counts[outcome] for outcome in Outcome}}
            for group, counts in report.groups().items()
        ],
        "rules": [
            {
                "group": result.group,
                "rule": result.rule,
                "statement": result.statement,
                "outcome": result.outcome.value,
                "message": result.message,
            }
            for result in report.results
        ],
    }


def _check_names(backend: str, groups: tuple[str, ...]) -> None:
    """Refuse what means nothing here before a process is started for it."""
    unknown = [group for group in groups if group not in GROUPS]
    if unknown:
        raise UsageError(
            f"there is no group {unknown[0]!r}",
            operation="conformance",
            hint=f"one of: {', '.join(GROUPS)}",
        )
    name = parse_device_name(backend)
    if name.index is not None:
        raise UsageError(
            f"{backend!r} is a device: the suite takes all devices of a backend",
            operation="conformance",
            hint=f"accelhal conformance {name.backend}",
        )
    known = [found.name for found in backends()]
    if name.backend not in known:
        raise UsageError(
            f"no backend is named {name.backend!r}",
            operation="conformance",
            hint=f"installed: {', '.join(known)}",
        )


@contextmanager
def _progress_bar(backend: str) -> Iterator[Progress | None]:
    """A bar on a terminal; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich import progress

    bar = progress.Progress(
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn("{task.description}", markup=False),
        console=console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task(f"opening {backend}", total=None)

        def show(report: ConformanceReport, rule: str) -> None:
            bar.update(
                task,
                completed=len(report.results),
                total=report.total or None,
                description=rule or backend,
            )

        yield show
