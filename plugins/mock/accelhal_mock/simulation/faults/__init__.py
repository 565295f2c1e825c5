"""Faults of simulated boards: what there is, when each strikes, and what it does."""

from accelhal_mock.simulation.faults.catalogue import CATALOGUE, Fault, FaultKind
from accelhal_mock.simulation.faults.effects import BitFlip, LaunchEffects
from accelhal_mock.simulation.faults.notation import parse_faults
from accelhal_mock.simulation.faults.schedule import FaultSchedule

__all__ = [
    "CATALOGUE",
    "BitFlip",
    "Fault",
    "FaultKind",
    "FaultSchedule",
    "LaunchEffects",
    "parse_faults",
]
