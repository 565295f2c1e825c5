"""Which boards --measure leaves alone."""

from __future__ import annotations

from typing import Any

import pytest
from doctor.cases.evidence_of import boards

from accelhal.doctor.measuring.use import use_of
from accelhal.facts import ProcessMemory, Telemetry

GIB = 1 << 30


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        ({"processes": (ProcessMemory(7, GIB),), "telemetry": Telemetry(utilization=0)}, "7"),
        ({"processes": (), "telemetry": Telemetry(utilization=40)}, "40 % busy"),
        (
            {"processes": (), "telemetry": Telemetry(memory_used=20 * GIB, memory_total=80 * GIB)},
            "25% of its memory",
        ),
        ({"processes": None, "telemetry": None}, "neither processes nor utilisation"),
        ({"processes": (), "telemetry": Telemetry()}, "neither processes nor utilisation"),
    ],
)
def test_boards_in_use(seen: dict[str, Any], words: str) -> None:
    (reading,) = boards("npu", 1, **seen)
    assert words in use_of(reading)


def test_a_board_at_rest_is_in_no_use_though_its_firmware_holds_memory() -> None:
    rest = Telemetry(utilization=1, memory_used=3 * GIB, memory_total=64 * GIB)
    (reading,) = boards("npu", 1, processes=(), telemetry=rest)
    assert use_of(reading) == ""
