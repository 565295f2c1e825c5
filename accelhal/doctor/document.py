"""A report as plain data for programs, private details taken out where it is to be shared."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from accelhal import __version__
from accelhal.doctor.engine import Report
from accelhal.doctor.facts import Facts
from accelhal.doctor.texts import TEXTS
from accelhal.doctor.wording import wording
from accelhal.facts import Finding, FindingState
from accelhal.host import pci
from accelhal.redaction import Redactor
from accelhal.spi.doctor import Check, NotShownError, Text

SEVERITY = {
    FindingState.INFO: "info",
    FindingState.WARN: "warning",  # slower, or less than there could be
    FindingState.FAIL: "failure",  # a job cannot run
}


def report_document(report: Report, facts: Facts, *, redacted: bool) -> dict[str, Any]:
    """The JSON document of a run, without its schema."""
    return {
        "tool": {"name": "accelhal", "version": __version__},
        "live": facts.live,
        "host_kind": _host_kind(facts),
        "vendors": _vendors(facts),
        "redacted": redacted,
        "summary": {state.value: report.count(state) for state in FindingState},
        "duration_ms": round(report.duration_ms, 1),
        "findings": [finding_document(f, report.texts) for f in report.findings],
    }


def _host_kind(facts: Facts) -> str | None:
    try:
        return facts.system.kind
    except NotShownError:
        return None


def _vendors(facts: Facts) -> list[str]:
    found = {reading.board.vendor for reading in facts.readings()}
    with suppress(NotShownError):
        found |= {pci.vendor_of(board.vendor).name for board in facts.boards}
    return sorted(found)


def finding_document(finding: Finding, texts: Mapping[str, Text] = TEXTS) -> dict[str, Any]:
    """One finding with its texts."""
    words = wording(finding, texts)
    return {
        "id": finding.check,
        "code": finding.code,
        "device": finding.device,
        "state": finding.state.value,
        "severity": SEVERITY.get(finding.state, "none"),
        "title": words.title,
        "evidence": dict(finding.evidence),
        "expected": words.expected,
        "cause": words.cause,
        "hint": list(finding.commands),
        "needs_root": finding.needs_root,
        "disturbs": finding.disturbs,
        "confidence": finding.confidence,
        "refs": list(finding.refs),
    }


def check_document(check: Check) -> dict[str, Any]:
    """One check as --list-checks shows it."""
    return {
        "id": check.id,
        "group": check.group,
        "title": check.title,
        "reads": list(check.reads),
        "cost": check.cost.value,
        "depends_on": list(check.depends_on),
    }


def redacted(report: Report, redactor: Redactor) -> Report:
    """The report with private details taken out of what was read; fixed words stay."""
    return replace(report, findings=tuple(_redacted(f, redactor) for f in report.findings))


def _redacted(finding: Finding, redactor: Redactor) -> Finding:
    return replace(
        finding,
        params=redactor.value(finding.params),
        evidence=redactor.value(finding.evidence),
        commands=tuple(map(redactor.text, finding.commands)),
    )
