"""Figures that tools print: in the unit that is due and in range, or None with the reason."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given, strategies as st

from accelhal.drivers.printed import cells, count, is_frame, number, pci_address, shown, word
from accelhal.drivers.readings import NotReportedError, or_none
from accelhal.facts import Telemetry


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [("105", "", 105), (" 3.70 W ", "W", 3.7), ("-5C", "C", -5), ("0 %", "%", 0)],
)
def test_a_figure_before_its_unit(text: str, unit: str, value: float) -> None:
    assert number(text, unit) == value


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        *(("", ""), ("-", ""), ("N/A", "W"), ("5", "W"), ("5 kW", "W"), ("W", "W"), ("5.", "")),
        *((".5", ""), ("1e3", ""), ("nan", ""), ("inf", ""), ("1_0", ""), ("٣", ""), ("1 2", "")),
        ("9" * 30, ""),
    ],
)
def test_what_is_no_figure_is_quoted(text: str, unit: str) -> None:
    with pytest.raises(NotReportedError, match="the tool prints"):
        number(text, unit)


def test_long_texts_are_quoted_in_part() -> None:
    with pytest.raises(NotReportedError) as error:
        number("x" * 10_000)
    assert len(str(error.value)) < 100


@pytest.mark.parametrize("text", ["-1", "1.0", "N/A", "", "1 GiB", "9" * 20])
def test_a_count_is_whole_and_not_negative(text: str) -> None:
    assert count("12 MiB", "MiB") == 12
    with pytest.raises(NotReportedError):
        count(text, "MiB" if "MiB" in text else "")


@pytest.mark.parametrize(
    "text", ["", " ", "-", "NA", "N/A", "[N/A]", "/", "MLUXXX-XX", "xxx", "**"]
)
def test_what_stands_for_a_name_or_masks_it_is_none(text: str) -> None:
    assert word(" 910B3 ") == "910B3"
    with pytest.raises(NotReportedError):
        word(text)


def test_addresses_become_the_kernels() -> None:
    assert pci_address("0000:C1:00.0 ") == "0000:c1:00.0"
    assert pci_address("00000001:3B:1F.7") == "0001:3b:1f.7"


@pytest.mark.parametrize(
    "text", ["NA", "", "0:1:2.3", "0000:C1:20.0", "0000:C1:00.8", "0000:G1:00.0"]
)
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(NotReportedError):
        pci_address(text)


def test_cells_of_a_row() -> None:
    assert cells("  | a   b |  | c|\t") == ["a b", "", "c"]
    assert [cells(line) for line in ("| a", "a |", "|", "", "+--+")] == [None] * 5


def test_frames() -> None:
    assert all(map(is_frame, ("+---+", "+==+==+", "|===+==|", " +--+ ")))
    assert not any(map(is_frame, ("", "+", "---", "| - |", "+-x-+", "| |")))


def test_a_page_says_why_it_lacks_a_figure() -> None:
    readers = {
        "power": partial(number, "NA"),
        "utilization": partial(number, "101"),
        "temperature": partial(number, "40"),
    }
    found = shown(Telemetry, readers, "tool info")
    assert (found.temperature, found.power, found.utilization) == (40, None, None)
    assert found.reasons["power"] == "the tool prints 'NA'"
    assert "101" in found.reasons["utilization"]
    assert found.reasons["*"] == "tool info does not show it"
    assert found.reasons.keys() == {"power", "utilization", "*"}


@given(st.text(), st.sampled_from(["", "W", "MiB", "%"]))
def test_any_text_is_a_figure_or_a_reason(text: str, unit: str) -> None:
    for read in (partial(number, text, unit), partial(count, text, unit)):
        value = or_none(read)
        assert value is None or abs(value) < 1e20
