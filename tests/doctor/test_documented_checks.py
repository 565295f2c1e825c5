"""Every check is explained, and docs/doctor_checks.md says what the catalogue says."""

from __future__ import annotations

import re
import string

import doctor_document
import pytest
from doctor_document import DOCUMENT, SPECS

from accelhal.doctor.catalogue import catalogue
from accelhal.registry.vendor_hosts import vendor_host
from accelhal.spi.doctor import Check

KNOWN = catalogue(SPECS)


def test_the_page_is_up_to_date() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert doctor_document.written(text) == text, "run `python tests/doctor_document.py`"


@pytest.mark.parametrize("check", KNOWN.checks, ids=lambda check: check.id)
def test_checks_are_explained(check: Check) -> None:
    assert re.fullmatch(r"[a-z]+\.[a-z0-9_]+", check.id)
    assert check.group
    assert check.title
    assert check.reads
    assert len(check.explanation) > 40, "--explain has nothing to say"


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_messages_have_a_check_and_words(spec: object) -> None:
    ids = {check.id for check in KNOWN.checks}
    for rule in vendor_host(spec).messages:  # type: ignore[arg-type]
        assert rule.check in ids, rule
        text = KNOWN.texts[rule.code]
        named = {
            name
            for part in (text.title, text.cause, text.expected)
            for _, name, _, _ in string.Formatter().parse(part)
            if name
        }
        assert named - {"device"} <= set(rule.pattern.groupindex), rule.code
        assert rule.commands, "who reads it wants to know what to type next"
