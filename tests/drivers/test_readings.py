"""A figure is in its range, or None with the reason."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given, strategies as st

from accelhal.drivers.readings import (
    NO_SOURCE,
    RANGES,
    NotReportedError,
    Once,
    collect,
    first,
    or_none,
)
from accelhal.errors import DeviceLostError
from accelhal.facts import BoardDetails, MemoryErrors, PcieLink, Telemetry

KINDS = (BoardDetails, MemoryErrors, PcieLink, Telemetry)


def refuse() -> float:
    raise NotReportedError("asked of a slice")


def test_values_and_reasons_part() -> None:
    found = collect(Telemetry, {"power": lambda: 61.5, "temperature": refuse, "core_clock": None})
    assert found.power == 61.5
    assert found.temperature is None
    assert found.reasons["temperature"] == "asked of a slice"
    assert found.reasons["core_clock"] == NO_SOURCE
    assert "power" not in found.reasons


def test_a_lost_board_goes_through() -> None:
    def lost() -> float:
        raise DeviceLostError("fell off the bus")

    with pytest.raises(DeviceLostError):
        collect(Telemetry, {"power": lost})


def test_a_range_belongs_to_a_field() -> None:
    known = {field.name for kind in KINDS for field in fields(kind)}
    assert set(RANGES) <= known


@given(st.sampled_from(KINDS), st.data())
def test_no_figure_is_outside_its_range(kind: Any, data: st.DataObject) -> None:
    numbers = st.one_of(st.none(), st.integers(), st.floats())
    names = [field.name for field in fields(kind) if field.name in RANGES]
    answers = {name: data.draw(numbers) for name in names}
    found = collect(kind, {name: (lambda name=name: answers[name]) for name in names})
    for name in names:
        value = getattr(found, name)
        if value is None:
            assert found.reasons[name]
        else:
            assert RANGES[name][0] <= value <= RANGES[name][1]
            assert value == answers[name]


def test_no_more_memory_is_in_use_than_there_is() -> None:
    found = collect(Telemetry, {"memory_used": lambda: 9 << 30, "memory_total": lambda: 8 << 30})
    assert (found.memory_used, found.memory_total) == (None, 8 << 30)
    assert "one of the two is wrong" in found.reasons["memory_used"]


def test_a_board_without_memory_tells_none() -> None:
    found = collect(Telemetry, {"memory_used": lambda: 0, "memory_total": lambda: 0})
    assert (found.memory_used, found.memory_total) == (0, None)


def test_the_first_reader_that_has_an_answer_is_taken() -> None:
    assert first(refuse, lambda: 2.0, lambda: 3.0) == 2.0
    assert or_none(refuse) is None
    with pytest.raises(NotReportedError, match=r"^asked of a slice$"):
        first(refuse, refuse)


@pytest.mark.parametrize("answers", [True, False])
def test_what_comes_with_one_call_is_asked_once(answers: bool) -> None:
    asked = []

    def read() -> float:
        asked.append(1)
        return 7.0 if answers else refuse()

    once = Once(read)
    assert [or_none(once), or_none(once)] == ([7.0, 7.0] if answers else [None, None])
    assert len(asked) == 1
