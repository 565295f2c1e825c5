"""What a conformance run found, on a screen and in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from accelhal.testing.conformance import ConformanceReport, Outcome, RuleResult

_COLUMNS = ("Group", "Passed", "Failed", "Expected to fail", "Not applicable", "Reasons")
_COUNTED = (
    Outcome.PASSED,
    Outcome.FAILED,
    Outcome.EXPECTED_FAILURE,
    Outcome.NOT_APPLICABLE,
)
_STYLES = {Outcome.PASSED: "green", Outcome.FAILED: "bold red", Outcome.EXPECTED_FAILURE: "yellow"}


_WIDE = 100
"""Columns below which the reasons stand under the table: a last column would hold a word a line."""

_MARKUP = re.compile(r"[\\|<>*`]")
"""What Markdown would take for more than the character; names keep their underscores."""


def show_report(out: Console, report: ConformanceReport, *, verbose: bool) -> None:
    """Print the table, the failures with what they say, and the closing line."""
    out.print(Text(_heading(report), "bold"))
    out.print()
    wide = out.width >= _WIDE
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    table.add_column(_COLUMNS[0], no_wrap=True)
    for column in _COLUMNS[1:-1]:
        table.add_column(column, justify="right", min_width=max(map(len, column.split())))
    if wide:
        table.add_column(_COLUMNS[-1])
    rows = list(_rows(report))
    for group, numbers, reasons in rows:
        cells = [Text(str(n or "-"), _STYLES.get(o, "") if n else "dim") for o, n in numbers]
        table.add_row(group, *cells, *([Text("; ".join(reasons), "dim")] if wide else ()))
    out.print(table)
    if not wide:
        out.print()
        for group, _, reasons in rows:
            if reasons:
                out.print(Text(f"{group}: {'; '.join(reasons)}", "dim"))
    for result in report.having(Outcome.FAILED):
        out.print()
        out.print(Text.assemble(("✗ ", "red"), (result.title, "bold")))
        if result.statement:
            out.print(Text(f"  rule: {result.statement}"))
        for line in result.message.splitlines():
            out.print(Text(f"  {line}"))
    if verbose:
        for result in report.having(Outcome.NOT_APPLICABLE):
            out.print(Text(f"- {result.title}: {result.message}", "dim"))
    out.print()
    out.print(Text(closing(report), "green" if report.passed else "red"))


def markdown(report: ConformanceReport) -> str:
    """The same as a section of a Markdown document."""
    lines = [f"### {_heading(report)}", "", _line(_COLUMNS), _line(["---"] * len(_COLUMNS))]
    for group, numbers, reasons in _rows(report):
        lines.append(_line([group, *(str(n or "-") for _, n in numbers), "; ".join(reasons)]))
    failures = report.having(Outcome.FAILED)
    if failures:
        lines += ["", _line(("Failed rule", "What it says", "What was found")), _line(["---"] * 3)]
        lines += [_line(_failure(result)) for result in failures]
    return "\n".join([*lines, "", closing(report), ""])


def closing(report: ConformanceReport) -> str:
    """One sentence: how many rules passed, failed, or were not tried."""
    counts = {outcome: len(report.having(outcome)) for outcome in Outcome}
    parts = [f"{counts[Outcome.PASSED]} rules passed", f"{counts[Outcome.FAILED]} failed"]
    if counts[Outcome.EXPECTED_FAILURE]:
        parts.append(f"{counts[Outcome.EXPECTED_FAILURE]} failed as expected")
    parts.append(f"{counts[Outcome.NOT_APPLICABLE]} not applicable")
    if report.complete:
        return ", ".join(parts) + "."
    parts.append(f"{report.total - len(report.results)} not tried")
    return f"{', '.join(parts)}.\nStopped early: {report.stopped}"


def _heading(report: ConformanceReport) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    return f"Conformance of {report.backend} ({versions})"


def _rows(
    report: ConformanceReport,
) -> Iterator[tuple[str, list[tuple[Outcome, int]], list[str]]]:
    """Group, its numbers, and why rules were not applicable or expected to fail."""
    for group, counts in report.groups().items():
        yield group, [(o, counts[o]) for o in _COUNTED], list(report.reasons(group))


def _failure(result: RuleResult) -> tuple[str, str, str]:
    return result.title, result.statement, result.message


def _line(cells: Sequence[str]) -> str:
    escaped = (" ".join(_MARKUP.sub(r"\\\g<0>", cell).split()) for cell in cells)
    return f"| {' | '.join(escaped)} |"
