"""The table of texts covers exactly the codes that checks can answer."""

from __future__ import annotations

import ast
import string
from pathlib import Path

import pytest

from accelhal import doctor
from accelhal.doctor.catalogue import CHECKS
from accelhal.doctor.texts import TEXTS
from accelhal.doctor.wording import summary
from accelhal.facts import Finding, FindingState
from accelhal.spi.doctor import Text

PACKAGE = Path(doctor.__file__).parent
PREFIXES = {code.partition(".")[0] for code in TEXTS}


def codes_in_source() -> set[str]:
    """String literals of the doctor and its checks that have the form of a code."""
    found = set()
    for path in [*PACKAGE.glob("*.py"), *PACKAGE.glob("checks/*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                group, dot, word = node.value.partition(".")
                if dot and group in PREFIXES and word.isidentifier():
                    found.add(node.value)
    return found - {check.id for check in CHECKS}


def test_every_code_has_a_text_and_every_text_a_code() -> None:
    assert codes_in_source() == set(TEXTS)


@pytest.mark.parametrize("code", TEXTS)
def test_loud_texts_say_what_would_be_right(code: str) -> None:
    text = TEXTS[code]
    fields = {name for _, name, _, _ in string.Formatter().parse(text.title) if name}
    assert text.title
    assert all(name.isidentifier() for name in fields)
    if text.expected:
        assert text.cause, "who reads what would be right also asks why"


def test_parameters_may_hold_braces() -> None:
    finding = Finding(
        "plugin.load", "plugin.broken", FindingState.FAIL, {"reason": "{x}"}, device="toy"
    )
    assert isinstance(TEXTS["plugin.broken"], Text)
    assert summary([finding]) == "the plugin of toy does not load"


def test_findings_of_one_code_share_a_line() -> None:
    findings = [
        Finding(
            "backend.probe", "probe.no_hardware", FindingState.INFO, {"reason": "none"}, device=name
        )
        for name in ("red", "blue")
    ]
    assert summary(findings) == "red, blue: no hardware"


def test_a_device_is_named_once_for_several_checks() -> None:
    findings = [
        Finding(check, "watch.no_job", FindingState.SKIP, {"reason": "none"}, device="red board 0")
        for check in ("perf.util", "perf.spin")
    ]
    assert summary(findings) == "red board 0 not judged: no job was seen on them"
