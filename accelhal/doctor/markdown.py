"""A report as Markdown, to be pasted into an issue."""

from __future__ import annotations

from collections.abc import Iterator

from accelhal import __version__
from accelhal.doctor.engine import Report
from accelhal.doctor.facts import Facts
from accelhal.doctor.wording import wording
from accelhal.facts import Finding, FindingState

_LOUD = (FindingState.FAIL, FindingState.WARN, FindingState.ERROR)


def report_markdown(report: Report, facts: Facts) -> str:
    """The report: what is wrong with cause and next step, then a table of all findings."""
    source = "this host" if facts.live else "evidence of a host"
    lines = [f"## accelhal doctor {__version__}: {source}", ""]
    loud = [finding for finding in report.findings if finding.state in _LOUD]
    for finding in sorted(loud, key=lambda finding: _LOUD.index(finding.state)):
        lines += _paragraph(finding, report)
    if not loud:
        lines += ["No issues found.", ""]
    lines += ["<details><summary>All findings</summary>", ""]
    lines += ["| state | check | device | finding |", "|---|---|---|---|"]
    for finding in report.findings:
        title = wording(finding, report.texts).title
        cells = (finding.state.value, finding.check, finding.device or "", title)
        lines.append(f"| {' | '.join(map(_cell, cells))} |")
    return "\n".join([*lines, "", "</details>", ""])


def _paragraph(finding: Finding, report: Report) -> Iterator[str]:
    words = wording(finding, report.texts)
    yield f"**{finding.state.value}** `{finding.check}`: {_text(words.title)}"
    yield ""
    if words.cause:
        yield from (_text(words.cause), "")
    if words.expected:
        yield from (f"Expected: {_text(words.expected)}.", "")
    if finding.commands:
        yield from ("```sh", *finding.commands, "```", "")


def _text(words: str) -> str:
    return " ".join(words.split()).replace("<", "&lt;")


def _cell(words: str) -> str:
    return _text(words).replace("|", "\\|")
