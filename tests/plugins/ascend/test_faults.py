"""Ascend's numbered faults."""

from __future__ import annotations

from collections import Counter

import pytest
from accelhal_ascend.faults import FAULTS

from accelhal.facts.faults import Fault

TABLE = FAULTS.read()


def found(family: str, code: int | str) -> Fault:
    fault = TABLE.find(family, code)
    assert fault is not None
    return fault


def test_all_rows_are_there() -> None:
    counts = Counter(fault.family for fault in TABLE.faults)
    assert counts == {"device": 806, "server": 60, "runtime": 24, "dcmi": 3}


@pytest.mark.parametrize(
    ("code", "action"),
    [
        ("0x80E18402", "rma"),
        ("80e18401", "collect"),
        (0x80E01801, "reset"),
        ("0x80E00209", "mechanical"),
        ("0x81078603", "link"),
        ("0x8C2FA009", "none"),
        ("0x40F84E00", "reset"),
    ],
)
def test_key_codes(code: int | str, action: str) -> None:
    assert found("device", code).action.value == action


def test_a_code_without_words_says_what_its_level_asks_for() -> None:
    fault = found("device", "0x8F180460")
    assert (fault.severity.value, fault.action.value) == ("fatal", "rma")
    assert fault.meaning


def test_an_unknown_code_is_a_warning() -> None:
    fault = found("device", 0x80FFFFFF)
    assert (fault.code, fault.listed, fault.severity.value) == ("0x80FFFFFF", False, "warning")


@pytest.mark.parametrize(
    ("family", "code", "action"),
    [
        ("runtime", 507008, "driver"),
        ("runtime", "507033", "driver"),
        ("runtime", 107001, "config"),
        ("runtime", "ei0006", "link"),
        ("runtime", "EZ1001", "driver"),
        ("runtime", "EE1001", "driver"),
        ("dcmi", -8005, "config"),
        ("dcmi", "-8020", "config"),
    ],
)
def test_errors_of_the_libraries(family: str, code: int | str, action: str) -> None:
    assert found(family, code).action.value == action


def test_an_error_without_a_row_is_none() -> None:
    assert TABLE.find("runtime", 100000) is None
