"""`accelhal doctor`: run the checks, show what was found, end with the exit code that fits.

What only one form of output needs is imported where it is used: start-up is half of the run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import click

from accelhal.cli.exit_codes import ExitCode
from accelhal.cli.output import console, foreign_output, print_json
from accelhal.doctor.catalogue import CHECKS, select
from accelhal.doctor.engine import Report, run_checks
from accelhal.doctor.facts import Facts
from accelhal.doctor.imports import IMPORT_LIMIT_S
from accelhal.facts import FindingState
from accelhal.spi import BackendSpec


@click.command()
@click.argument("checks", nargs=-1, metavar="[CHECK]...")
@click.option("--list-checks", is_flag=True, help="List the checks and what each one reads.")
@click.option("--deep", is_flag=True, help="Also import torch and vendor packages in children.")
@click.option(
    "--timeout",
    type=click.IntRange(1, 3600),
    default=IMPORT_LIMIT_S,
    show_default=True,
    metavar="SECONDS",
    help="Limit for each child of --deep.",
)
@click.option("--strict", is_flag=True, help="Exit with 1 when there are warnings.")
@click.option("-v", "--verbose", is_flag=True, help="Show every finding and its evidence.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option(
    "--redact/--no-redact",
    default=None,
    help="Take out UUIDs, serials, names and addresses; the default with --json.",
)
def doctor(
    checks: tuple[str, ...],
    list_checks: bool,
    deep: bool,
    timeout: int,
    strict: bool,
    verbose: bool,
    as_json: bool,
    redact: bool | None,
) -> ExitCode:
    """Say why a board is missing or sick, and what to type next.

    Reads files and the environment only, and disturbs no job. CHECKs named as arguments are run
    alone. A machine without boards is no failure.
    """
    chosen = select(checks, deep=deep)
    if list_checks:
        _list_checks(as_json)
        return ExitCode.FINE
    with foreign_output(), _progress(deep) as show:
        facts = Facts(import_limit_s=timeout, on_import=show)
        report = run_checks(chosen, facts, deep=deep)
    hidden = as_json if redact is None else redact
    if hidden:
        report = _redacted(report, facts.specs)
    if as_json:
        from accelhal.doctor.document import report_document

        print_json("doctor", report_document(report, facts, redacted=hidden))
    else:
        from accelhal.cli.doctor_view import show_report

        show_report(console(), report, facts, verbose=verbose)
    return _exit_code(report, strict)


def _redacted(report: Report, specs: Iterable[BackendSpec]) -> Report:
    from accelhal.doctor.document import redacted
    from accelhal.evidence.environment import public_words
    from accelhal.redaction import Redactor, private_names

    return redacted(report, Redactor(private_names(os.environ, public_words(specs))))


def _exit_code(report: Report, strict: bool) -> ExitCode:
    if not report.finished:
        return ExitCode.COULD_NOT_RUN
    if report.count(FindingState.FAIL):
        return ExitCode.FAILURE
    if strict and report.count(FindingState.WARN):
        return ExitCode.WARNING
    return ExitCode.FINE


def _list_checks(as_json: bool) -> None:
    if as_json:
        from accelhal.doctor.document import check_document

        print_json("doctor.checks", {"checks": [check_document(check) for check in CHECKS]})
        return
    from accelhal.cli.doctor_view import show_checks

    show_checks(console(), CHECKS)


@contextmanager
def _progress(deep: bool) -> Iterator[Callable[[str], None]]:
    """A line on a terminal's standard error while children run; nothing elsewhere."""
    out = console(stderr=True) if deep else None
    if out is None or not out.is_terminal:
        yield lambda package: None
        return
    with out.status("looking at the host") as status:
        packages: list[str] = []

        def show(package: str) -> None:
            packages.append(package)
            status.update(f"importing in child processes: {', '.join(packages)}")

        yield show
