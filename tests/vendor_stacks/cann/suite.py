"""The npu backend with what the conformance suite must know of the simulated stack."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from accelhal_ascend.spec import SPEC as PLUGIN_SPEC

NOT_SIMULATED = {
    "test_telemetry_is_of_the_board_asked_for": (
        "the simulated driver library does not see the memory that the simulated CANN gives out"
    )
}
"""Rule -> what of a real stack it needs."""

_CRITICAL = 3  # dcmi_get_device_health


class SimulatedStack:
    """Overrides of `accelhal.testing.suite.SuiteBase`."""

    matrix_size = 128  # a product takes 2 ms on the host

    @pytest.fixture(autouse=True)
    def _is_simulated(self, request: pytest.FixtureRequest) -> None:
        reason = NOT_SIMULATED.get(request.node.originalname)
        if reason is not None:
            pytest.skip(reason)

    @contextlib.contextmanager
    def inject_fault(self, device: Any) -> Iterator[None]:
        """Context in which the driver calls the device's board critical."""
        boards = Path(os.environ["SIM_SCENARIO"])
        before = boards.read_text()
        boards.write_text(f"{before}set {device.location.key.value} health {_CRITICAL}\n")
        try:
            yield
        finally:
            boards.write_text(before)


SPEC = replace(
    PLUGIN_SPEC,
    extensions={**PLUGIN_SPEC.extensions, "conformance": f"{__name__}:{SimulatedStack.__name__}"},
)
"""The plugin's own description, with the simulation's part of the suite."""
