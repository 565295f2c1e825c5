"""The air of a machine in what ipmitool prints."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from accelhal.facts.host_record import AirReading
from accelhal.host.air import COMMAND, parse_air, read_air

LISTS = {
    "sdr type": [
        "Inlet Temp       | 04h | ok  |  7.1 | 23 degrees C",
        "Exhaust Temp     | 01h | ok  |  7.1 | 38 degrees C",
        "CPU1 Temp        | 0Eh | ok  |  3.1 | 61 degrees C",
    ],
    "sdr": [
        "Ambient          | 23 degrees C      | ok",
        "Air Outlet       | 38 degrees C      | ok",
        "Fan1             | 5400 RPM          | ok",
    ],
    "sensor": [
        "Front Panel Temp | 23.000     | degrees C  | ok    | na | na | na | 40.000 | 45.000 | na",
        "Exit Air Temp    | 38.000     | degrees C  | ok    | na | na | na | 70.000 | 80.000 | na",
    ],
}


@pytest.mark.parametrize("lines", LISTS.values(), ids=LISTS)
def test_inlet_and_outlet_of_each_list(lines: list[str]) -> None:
    assert parse_air(lines) == (AirReading(inlet=23.0, outlet=38.0),)


def test_the_warmest_of_several_counts() -> None:
    lines = [
        f"Inlet {n} | 04h | ok | 7.1 | {degrees} degrees C" for n, degrees in enumerate((23, 29))
    ]
    assert parse_air(lines) == (AirReading(inlet=29.0, outlet=None),)


@pytest.mark.parametrize(
    "line",
    [
        "Inlet Temp       | 04h | ns  |  7.1 | No Reading",
        "Inlet Temp       | na         | degrees C  | na    | na",
        "CPU1 Temp        | 0Eh | ok  |  3.1 | 61 degrees C",
        "Inlet Fan        | 5400 RPM          | ok",
    ],
)
def test_lines_without_a_temperature_of_the_air(line: str) -> None:
    assert parse_air([line]) == ()


@given(st.lists(st.text(max_size=120), max_size=20))
def test_any_lines_are_read(lines: list[str]) -> None:
    assert len(parse_air(lines)) <= 1


@pytest.fixture
def ipmitool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Puts a script into the place of ipmitool."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def install(script: str) -> None:
        path = tmp_path / COMMAND[0]
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)

    return install


def test_the_tool_is_asked(ipmitool: Callable[[str], None]) -> None:
    ipmitool("echo 'Inlet Temp | 04h | ok | 7.1 | 23 degrees C'")
    assert read_air() == (AirReading(inlet=23.0, outlet=None),)


def test_a_tool_that_fails_says_why(ipmitool: Callable[[str], None]) -> None:
    ipmitool("echo 'Could not open device at /dev/ipmi0' >&2; exit 1")
    assert read_air() == "ipmitool: Could not open device at /dev/ipmi0"
    ipmitool("exit 3")
    assert read_air() == "ipmitool: exit status 3"


def test_a_tool_that_hangs_is_given_up(
    ipmitool: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("accelhal.host.air.LIMIT_S", 0.2)
    ipmitool("exec sleep 60")
    assert read_air() == "ipmitool took over 0.2 s"


def test_no_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert read_air() == "ipmitool is not installed"
