"""Machines of simulated boards for tests, beside whatever is installed in the process."""

from __future__ import annotations

from typing import Any

from accelhal_mock.profiles import load_profile
from accelhal_mock.simulation import Machine, MachineConfig


def make_machine(
    count: int = 2, profile: str = "a100-80g", name: str = "mock", **settings: Any
) -> Machine:
    """A machine of like boards; missing waits raise. `settings` are MachineConfig's."""
    settings.setdefault("hazards", "raise")
    profiles = (load_profile(profile),) * count
    return Machine(name, MachineConfig(profiles=profiles, **settings))
