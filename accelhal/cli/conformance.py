"""`accelhal conformance`: every rule of the interface, tried on a backend."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from accelhal.cli.current_folder import current_folder
from accelhal.cli.exit_codes import ExitCode
from accelhal.cli.number_range import NumberRange
from accelhal.cli.output import console, print_json
from accelhal.device_name import parse_device_name
from accelhal.errors import AccelhalError, BackendConflictError, UsageError, did_you_mean
from accelhal.registry.listing import same_distribution
from accelhal.registry.plugins import BUILT_IN, installed_plugins
from accelhal.runtimes import cpu_spec
from accelhal.testing.conformance import GROUPS, ConformanceReport, Outcome
from accelhal.testing.conformance_run import Limits, Progress, run

_LIMITS = Limits()

_SECONDS = NumberRange(1, 24 * 3600)


@click.command()
@click.argument("backend")
@click.option("--group", "groups", metavar="NAME", multiple=True, help="May be repeated.")
@click.option(
    "--timeout",
    "run_s",
    type=_SECONDS,
    default=_LIMITS.run_s,
    show_default=True,
    metavar="SECONDS",
    help="Limit for the whole run.",
)
@click.option(
    "--open-timeout",
    "opening_s",
    type=_SECONDS,
    default=_LIMITS.opening_s,
    show_default=True,
    metavar="SECONDS",
    help="Limit for opening the backend.",
)
@click.option(
    "--rule-timeout",
    "rule_s",
    type=_SECONDS,
    default=_LIMITS.rule_s,
    show_default=True,
    metavar="SECONDS",
    help="Limit for one rule.",
)
@click.option("-v", "--verbose", is_flag=True, help="Show every rule that is not applicable.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print tables in Markdown.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def conformance(
    backend: str,
    groups: tuple[str, ...],
    run_s: float,
    opening_s: float,
    rule_s: float,
    verbose: bool,
    as_markdown: bool,
    as_json: bool,
) -> ExitCode:
    """Try every rule of the interface on a BACKEND, such as cpu.

    The rules run in a child process under pytest, which comes with the extra "test". They use the
    backend's devices and some of their memory. What is tried is what is installed, whatever lies
    in the current folder.

    Exit code 2 where a rule failed or was not tried, 3 where no rule applies to the backend.
    """
    _check_names(backend, groups)
    if as_json and as_markdown:
        raise UsageError("--json and --markdown exclude one another", operation="conformance")
    current_folder("conformance")
    with _progress_bar(backend) as progress:
        report = run(backend, groups, limits=Limits(opening_s, rule_s, run_s), progress=progress)
    if as_json:
        print_json("conformance", document(report))
    elif as_markdown:
        from accelhal.cli.conformance_view import markdown

        click.echo(markdown(report), nl=False)
    else:
        from accelhal.cli.conformance_view import show_report

        show_report(console(), report, verbose=verbose)
    if report.complete and not report.judged:
        raise AccelhalError(
            f"nothing was judged: none of {report.total} rules applies to {backend}",
            operation="conformance",
            hint="the reasons stand with each group; "
            + ("name other groups, or none for all rules" if groups else "ask the plugin's author"),
        )
    return ExitCode.FINE if report.passed else ExitCode.FAILURE


def document(report: ConformanceReport) -> dict[str, object]:
    """The report as plain JSON values."""
    return {
        "backend": report.backend,
        "versions": dict(report.versions),
        "complete": report.complete,
        "passed": report.passed,
        "total": report.total,
        "judged": report.judged,
        "stopped": report.stopped,
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
            hint=f"{did_you_mean(unknown[0], GROUPS)}one of: {', '.join(GROUPS)}",
        )
    name = parse_device_name(backend)
    if name.index is not None:
        raise UsageError(
            f"{backend!r} is a device: the suite takes all devices of a backend",
            operation="conformance",
            hint=f"accelhal conformance {backend.rpartition(':')[0]}",
        )
    # Names only: a plugin that ends the process when it is loaded must end the child's.
    providers = {cpu_spec.SPEC.name: [BUILT_IN]}
    for plugin in installed_plugins():
        providers.setdefault(plugin.name, []).append(plugin.distribution)
    own = providers.get(name.backend)
    if own is None:
        raise UsageError(
            f"no backend is named {name.backend!r}",
            operation="conformance",
            hint=f"{did_you_mean(name.backend, providers)}installed: {', '.join(providers)}",
        )
    pinned = name.distribution
    if pinned is None and len(set(own)) > 1:
        raise BackendConflictError(
            f"backend {name.backend!r} is claimed by {' and '.join(own)}",
            operation="conformance",
            hint=f"uninstall one, or name it: accelhal conformance {name.backend}@{own[0]}",
        )
    if pinned is not None and not any(same_distribution(pinned, each) for each in own):
        raise UsageError(
            f"{pinned} provides no backend {name.backend!r}",
            operation="conformance",
            hint=f"it is provided by {', '.join(own)}",
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
