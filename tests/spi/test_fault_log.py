"""Faults in the text of a kernel log."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from accelhal.facts.faults import Fault, FaultAction, FaultSeverity
from accelhal.facts.sources import Source, Strength
from accelhal.spi.fault_log import MOST_EVENTS, count_restarts, read_fault_events
from accelhal.spi.fault_tables import FaultFamily, FaultTable, LogPattern

FAULT = Fault(
    family="alarm",
    code="7",
    meaning="it broke",
    severity=FaultSeverity.ERROR,
    action=FaultAction.RESET,
    source=Source("a page", "2026-11", Strength.VENDOR_DOCUMENT),
)
TABLE = FaultTable(
    (FAULT,),
    {"alarm": FaultFamily("alarm", False, {})},
    (
        LogPattern(re.compile(r"alarm (?P<board>[a-z]+) (?P<code>\d{1,6})"), "alarm", "alarm"),
        LogPattern(re.compile(r"gone: (?P<board>[a-z]+)"), "gone", "alarm", "7"),
    ),
)


@pytest.mark.parametrize(
    ("line", "time"),
    [
        ("[  12.500000] acme: alarm one 7", 12.5),
        ("<6>[12.5] acme: alarm one 7", 12.5),
        ("4,1021,12500000,-;acme: alarm one 7", 12.5),
        ("Nov 30 12:00:00 host kernel: acme: alarm one 7", None),
        ("[Mon Nov 30 12:00:00 2026] acme: alarm one 7", None),
    ],
)
def test_a_fault_has_its_board_and_time(line: str, time: float | None) -> None:
    [event] = read_fault_events(["nothing", line], TABLE)
    assert (event.fault, event.board, event.time) == (FAULT, "one", time)
    assert event.line == line


def test_a_line_may_tell_a_fault_without_its_code() -> None:
    [event] = read_fault_events(["acme gone: two"], TABLE)
    assert (event.fault.code, event.board) == ("7", "two")


def test_a_code_that_nobody_knows_is_no_event() -> None:
    assert read_fault_events(["alarm one 8"], TABLE) == ()


LOG = [
    "-- Boot 0123456789abcdef0123456789abcdef --",
    "[0.000000] Linux version 6.8.0",
    "[5.0] alarm one 7",
    "-- Boot 1123456789abcdef0123456789abcdef --",
    "[0.000000] Linux version 6.8.0",
    "[6.0] alarm one 7",
]


def test_starts_of_the_host_are_counted_once() -> None:
    assert [event.restarts for event in read_fault_events(LOG, TABLE)] == [0, 1]
    assert count_restarts(LOG) == 1
    assert count_restarts(["[9.0] the ring was cut before", *LOG]) == 2
    assert count_restarts([]) == 0


def test_of_a_storm_the_latest_are_kept() -> None:
    storm = (f"[{n}.0] alarm one 7" for n in range(MOST_EVENTS + 5))
    events = read_fault_events(storm, TABLE)
    assert len(events) == MOST_EVENTS
    assert events[-1].time == MOST_EVENTS + 4


def test_an_endless_line_is_cut() -> None:
    [event] = read_fault_events(["alarm one 7 " + "x" * 1_000_000], TABLE)
    assert len(event.line) < 1000


WORDS = st.sampled_from(
    ["[12.5] ", "[1.", "4,1,9,-;", "alarm ", "one ", "7", "gone: ", "Linux version 6"]
)


@given(st.lists(st.lists(st.one_of(WORDS, st.text(max_size=5)), max_size=6).map("".join)))
def test_any_text_is_read(lines: list[str]) -> None:
    events = read_fault_events(lines, TABLE)
    assert len(events) <= len(lines)
    assert all(event.fault == FAULT for event in events)
