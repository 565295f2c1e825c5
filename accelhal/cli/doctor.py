"""`accelhal doctor`: run the checks, show what was found, end with the exit code that fits.

What only one form of output needs is imported where it is used: start-up is half of the run.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from accelhal.cli.doctor_progress import progress_shown
from accelhal.cli.evidence_option import EvidenceCommand, from_option
from accelhal.cli.exit_codes import ExitCode
from accelhal.cli.number_range import NumberRange
from accelhal.cli.output import console, foreign_output, print_json
from accelhal.doctor.catalogue import Catalogue, catalogue
from accelhal.doctor.engine import DEFAULT_SCENE, Report, run_checks
from accelhal.doctor.facts import Facts
from accelhal.doctor.imports import IMPORT_LIMIT_S
from accelhal.errors import UsageError
from accelhal.evidence.snapshot import Snapshot
from accelhal.facts import FindingState
from accelhal.spi.doctor import Cost


@click.command(cls=EvidenceCommand)
@click.argument("checks", nargs=-1, metavar="[CHECK]...")
@from_option
@click.option("--list-checks", is_flag=True, help="List the checks and what each one reads.")
@click.option("--explain", metavar="CHECK", help="Say what a check judges, and why.")
@click.option("--deep", is_flag=True, help="Also start child processes: imports, opening boards.")
@click.option("--measure", is_flag=True, help="Also compute and copy on idle boards for seconds.")
@click.option(
    "--watch",
    type=NumberRange(1, 86400),
    metavar="SECONDS",
    help="Also sample the boards while a job runs, and judge how it uses them.",
)
@click.option("--force", is_flag=True, help="Let --measure use boards that are in use.")
@click.option(
    "--device",
    "devices",
    multiple=True,
    metavar="NAME",
    help="Judge these boards alone.",
)
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
@click.option("--markdown", is_flag=True, help="Print Markdown, to paste into an issue.")
@click.option(
    "--redact/--no-redact",
    default=None,
    help="Take out UUIDs, serials, names and addresses; the default with --json and --markdown.",
)
def doctor(
    checks: tuple[str, ...],
    files: tuple[str, ...],
    list_checks: bool,
    explain: str | None,
    deep: bool,
    measure: bool,
    watch: float | None,
    force: bool,
    devices: tuple[str, ...],
    timeout: int,
    strict: bool,
    verbose: bool,
    as_json: bool,
    markdown: bool,
    redact: bool | None,
) -> ExitCode:
    """Say why a board is missing or sick, and what to type next.

    Reads files, the environment and the driver libraries only, and disturbs no job. CHECKs named
    as arguments are run alone. A machine without boards is no failure.
    """
    if as_json and markdown:
        raise click.UsageError("--json and --markdown are two forms of one report: choose one")
    scene = _scene(deep, measure, watch)
    if files:
        _refuse_live_options(scene, force)
    with foreign_output():
        facts = Facts(
            evidence=_evidence(files) if files else None,
            force=force,
            watch_s=watch or 0.0,
            import_limit_s=timeout,
            deep=deep,
        )
        known = catalogue(facts.specs)
    if list_checks:
        _list_checks(known, as_json)
        return ExitCode.FINE
    if explain is not None:
        _explain(known, explain)
        return ExitCode.FINE
    chosen = known.select(checks, scene)
    with foreign_output(), progress_shown(facts, scene):
        facts.only = _only(devices, facts)
        report = run_checks(chosen, facts, scene=scene, texts=known.texts)
    hidden = as_json or markdown if redact is None else redact
    if hidden:
        report = _redacted(report, facts)
    if as_json:
        from accelhal.doctor.document import report_document

        print_json("doctor", report_document(report, facts, redacted=hidden))
    elif markdown:
        from accelhal.doctor.markdown import report_markdown

        click.echo(report_markdown(report, facts), nl=False)
    else:
        from accelhal.cli.doctor_view import show_report

        show_report(console(), report, facts, verbose=verbose)
    return _exit_code(report, strict)


def _scene(deep: bool, measure: bool, watch: float | None) -> frozenset[Cost]:
    asked = ((Cost.CHILD, deep), (Cost.BOARD, measure), (Cost.WATCH, watch is not None))
    return DEFAULT_SCENE | {cost for cost, wanted in asked if wanted}


def _refuse_live_options(scene: frozenset[Cost], force: bool) -> None:
    if scene != DEFAULT_SCENE or force:
        raise UsageError(
            "--deep, --measure, --watch and --force act on this host, and --from shows another",
            operation="doctor",
            hint="leave them out, or run them on the host itself",
        )


def _evidence(files: Sequence[str]) -> Snapshot:
    from accelhal.cli.evidence_option import collect

    return collect(files).snapshot


def _only(devices: Sequence[str], facts: Facts) -> frozenset[object] | None:
    if not devices:
        return None
    from accelhal.doctor.chosen_boards import chosen_boards

    return chosen_boards(devices, facts)


def _redacted(report: Report, facts: Facts) -> Report:
    """Without private details: names of this machine, and of the evidence's variables."""
    from accelhal.doctor.document import redacted
    from accelhal.evidence.environment import public_words
    from accelhal.redaction import Redactor, private_names

    shown = {**os.environ, **facts.host.environ}
    return redacted(report, Redactor(private_names(shown, public_words(facts.specs))))


def _exit_code(report: Report, strict: bool) -> ExitCode:
    if not report.finished:
        return ExitCode.COULD_NOT_RUN
    if report.count(FindingState.FAIL):
        return ExitCode.FAILURE
    if strict and report.count(FindingState.WARN):
        return ExitCode.WARNING
    return ExitCode.FINE


def _list_checks(known: Catalogue, as_json: bool) -> None:
    if as_json:
        from accelhal.doctor.document import check_document

        print_json("doctor.checks", {"checks": [check_document(check) for check in known.checks]})
        return
    from accelhal.cli.doctor_view import show_checks

    show_checks(console(), known.checks)


def _explain(known: Catalogue, check_id: str) -> None:
    from accelhal.cli.doctor_view import show_explanation

    (check,) = known.select([check_id])
    show_explanation(console(), check)
