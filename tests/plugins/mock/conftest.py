"""Fixtures of the simulation's tests."""

from __future__ import annotations

import pytest
from accelhal_mock.simulation import Machine
from simulated_machine import make_machine


@pytest.fixture
def machine() -> Machine:
    return make_machine()
