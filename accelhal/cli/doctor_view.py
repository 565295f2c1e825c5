"""The doctor's findings on a screen: a line for each group, details where something is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from accelhal import __version__
from accelhal.doctor.engine import SCENE_OPTIONS, Report
from accelhal.doctor.facts import Facts
from accelhal.doctor.wording import summary, wording
from accelhal.facts import Finding, FindingState
from accelhal.spi.doctor import Check, Text as Words

_MARKS = {
    FindingState.OK: ("✓", "+", "green"),
    FindingState.INFO: ("·", "-", "cyan"),
    FindingState.SKIP: ("→", ">", "dim"),
    FindingState.UNKNOWN: ("?", "?", "magenta"),
    FindingState.WARN: ("!", "!", "yellow"),
    FindingState.FAIL: ("✗", "x", "red"),
    FindingState.ERROR: ("↯", "E", "magenta"),
}
"""State -> mark, mark where the terminal has no Unicode, colour."""

_GRAVITY = list(FindingState)
_HOST_KINDS = {"container": "container", "vm": "virtual machine", "bare": "bare metal"}
_GROUP_WIDTH = 11
_LABEL_WIDTH = 11
_NOTHING = ("engine.nothing", "hardware.absent")
"""Codes of checks that had nothing to look at: said only where a group has nothing else to say."""

_LOUD = (FindingState.WARN, FindingState.FAIL, FindingState.ERROR)


def show_report(out: Console, report: Report, facts: Facts, *, verbose: bool) -> None:
    """Print the report: header, groups, the closing line."""
    out.print(_header(facts))
    out.print()
    for group, findings in _by_group(report):
        worst = max((f.state for f in findings), key=_GRAVITY.index)
        line = _grid(1, _GROUP_WIDTH)
        said = Text() if verbose else _group_line(findings, report.texts)
        line.add_row(_mark(out, worst), Text(group, "bold"), said)
        out.print(line)
        for finding in findings:
            if verbose or finding.state in _LOUD:
                for part in _details(out, finding, report.texts, verbose):
                    out.print(part)
    out.print()
    out.print(_closing(report))


def show_checks(out: Console, checks: Iterable[Check]) -> None:
    """Print the list of checks."""
    table = Table.grid(padding=(0, 2))
    for check in checks:
        reads = f"reads: {'; '.join(check.reads)}"
        option = SCENE_OPTIONS.get(check.cost)
        depth = f" (with {option})" if option else ""
        table.add_row(Text(check.id, "bold"), check.title + depth)
        table.add_row("", Text(reads, "dim"))
    out.print(table)


def show_explanation(out: Console, check: Check) -> None:
    """Print what a check judges, and why."""
    out.print(Text.assemble((check.id, "bold"), f"  {check.title}"))
    out.print(Text(f"reads: {'; '.join(check.reads)}", "dim"))
    if check.depends_on:
        lower = ", ".join(check.depends_on)
        out.print(Text(f"not judged where one of these failed: {lower}", "dim"))
    if check.explanation:
        out.print()
        out.print(check.explanation)


def _header(facts: Facts) -> Text:
    title = Text.assemble(("accelhal doctor ", "bold"), (__version__, "bold"))
    if not facts.live:
        return title.append("   evidence, not this host", "dim")
    system = facts.system
    kernel = system.kernel.partition("-")[0]
    parts = [
        f"Python {system.python}",
        f"torch {facts.torch.version}" if facts.torch else "no torch",
        f"{system.system} {kernel} {system.machine}",
        f"{system.container} container" if system.container else _HOST_KINDS[system.kind],
    ]
    return title.append("   " + ", ".join(parts), "dim")


def _by_group(report: Report) -> list[tuple[str, list[Finding]]]:
    order = list(dict.fromkeys(check.group for check in report.checks))
    group_of = {check.id: check.group for check in report.checks}
    return [
        (group, found)
        for group in order
        if (found := [f for f in report.findings if group_of[f.check] == group])
    ]


def _group_line(findings: Sequence[Finding], texts: Mapping[str, Words]) -> Text:
    """What is right in a group in words, and how much is wrong in numbers."""
    loud = [finding for finding in findings if finding.state in _LOUD]
    if loud:
        return Text(", ".join(_counts(loud)))
    groups: dict[tuple[int, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((_GRAVITY.index(finding.state), finding.code), []).append(finding)
    mildest_first = sorted(groups, key=lambda key: (key[0], key[1] in _NOTHING))
    telling = [key for key in mildest_first if key[1] not in _NOTHING] or mildest_first
    return Text("; ".join(dict.fromkeys(summary(groups[key], texts) for key in telling)))


def _details(
    out: Console, finding: Finding, texts: Mapping[str, Words], verbose: bool
) -> Iterator[Table]:
    words = wording(finding, texts)
    loud = finding.state in _LOUD
    title = _grid(1, 1)
    text = Text(words.title, "bold" if loud else "").append(f"  {finding.check}", "dim")
    title.add_row("", _mark(out, finding.state), text)
    if words.cause:
        title.add_row("", "", words.cause)
    yield title
    lines = _grid(1, 1, _LABEL_WIDTH)
    if words.expected and loud:
        lines.add_row("", "", Text("expected", "dim"), words.expected)
    if verbose:
        for source, said in finding.evidence.items():
            lines.add_row("", "", Text("seen", "dim"), f"{source}: {said}")
    for command in finding.commands:
        label = "next (root)" if finding.needs_root else "next"
        lines.add_row("", "", Text(label, "cyan"), Text(command, "cyan"))
    if lines.row_count:
        yield lines


def _grid(*widths: int) -> Table:
    """A table without lines: columns of these widths, and a last one that takes the rest."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    for width in widths:
        grid.add_column(width=width)
    grid.add_column(overflow="fold")
    return grid


def _mark(out: Console, state: FindingState) -> Text:
    unicode, plain, colour = _MARKS[state]
    return Text(unicode if out.encoding.lower().startswith("utf") else plain, colour)


def _counts(findings: Sequence[Finding]) -> list[str]:
    words = (
        (FindingState.FAIL, "problem"),
        (FindingState.WARN, "warning"),
        (FindingState.ERROR, "check failed to run"),
    )
    numbers = ((sum(f.state is state for f in findings), word) for state, word in words)
    return [f"{number} {word}{'s' * (number != 1)}" for number, word in numbers if number]


def _closing(report: Report) -> Text:
    loud = [finding for finding in report.findings if finding.state in _LOUD]
    if not loud:
        count = len(report.checks)
        looked = f"  ({count} check{'s' * (count != 1)}, {report.duration_ms:.0f} ms)"
        return Text.assemble(("No issues found", "bold green"), (looked, "dim"))
    groups = sum(any(f.state in _LOUD for f in findings) for _, findings in _by_group(report))
    failed = any(finding.state is FindingState.FAIL for finding in loud)
    text = f"{', '.join(_counts(loud))} in {groups} group{'s' * (groups != 1)}"
    return Text(text, "bold red" if failed else "bold yellow")
