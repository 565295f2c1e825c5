"""The JSON document of a run: its fields, and nothing private in it."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from doctor.toys import TOY_VARIABLE, FakeHost, toy_spec

from accelhal.doctor.catalogue import catalogue
from accelhal.doctor.document import finding_document, redacted, report_document
from accelhal.doctor.engine import run_checks
from accelhal.facts import Finding, FindingState
from accelhal.redaction import PrivateNames, Redactor
from accelhal.spi import BackendSpec

UUID = "8932f937-d72c-4106-c12f-20bd9faed9f6"
FIELDS = {
    "id",
    "code",
    "device",
    "state",
    "severity",
    "title",
    "evidence",
    "expected",
    "cause",
    "hint",
    "needs_root",
    "disturbs",
    "confidence",
    "refs",
}


def test_a_finding_has_its_promised_fields() -> None:
    document = finding_document(
        Finding("backend.probe", "probe.no_driver", FindingState.FAIL, {"reason": "no"}, "toy")
    )
    assert set(document) == FIELDS
    assert document["severity"] == "failure"


@pytest.mark.usefixtures("fresh_registry")
def test_the_envelope_counts_every_finding(fake: FakeHost) -> None:
    facts = fake.facts
    report = run_checks(catalogue().select([]), facts)
    document = json.loads(json.dumps(report_document(report, facts, redacted=False)))
    assert sum(document["summary"].values()) == len(document["findings"])
    assert document["host_kind"] in ("bare", "container", "vm")
    assert document["tool"]["name"] == "accelhal"
    assert document["vendors"] == []


def test_private_details_do_not_leave_in_any_field(
    fake: FakeHost, install: Callable[[BackendSpec], None]
) -> None:
    install(toy_spec())
    fake.environ[TOY_VARIABLE] = f"0,GPU-{UUID}"
    fake.package("torch", "2.13.0")
    facts = fake.facts
    report = redacted(
        run_checks(catalogue().select([]), facts),
        Redactor(PrivateNames(homes=(str(fake.root),))),
    )
    text = json.dumps(report_document(report, facts, redacted=True))
    assert UUID not in text
    assert str(fake.root) not in text
    assert "GPU-<uuid-1>" in text
    assert "~/site-packages/torch/version.py" in text
