"""Findings in words: the text of their code with their parameters filled in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from accelhal.doctor.texts import TEXTS
from accelhal.facts import Finding
from accelhal.spi.doctor import Text


@dataclass(frozen=True)
class Wording:
    """A finding in words."""

    title: str
    cause: str
    expected: str


def wording(finding: Finding, texts: Mapping[str, Text] = TEXTS) -> Wording:
    """The finding's text, its parameters filled in.

    Args:
        finding: of a code that `texts` has.
        texts: the core's, and those of the plugins whose rules ran (`Report.texts`).
    """
    text = texts[finding.code]
    params = {**finding.params, "device": finding.device or "the host"}
    return Wording(
        text.title.format_map(params),
        text.cause.format_map(params),
        text.expected.format_map(params),
    )


def summary(findings: Sequence[Finding], texts: Mapping[str, Text] = TEXTS) -> str:
    """One line for findings of one code."""
    text = texts[findings[0].code]
    if len(findings) == 1 or not text.several:
        titles = dict.fromkeys(wording(finding, texts).title for finding in findings)
        return "; ".join(titles)
    lists: dict[str, str | int] = {
        "number": len(findings),
        "devices": ", ".join(dict.fromkeys(f.device or "the host" for f in findings)),
        "packages": ", ".join(str(finding.params.get("package", "")) for finding in findings),
    }
    return text.several.format_map({**findings[0].params, **lists})
