"""The simulation core: boards on their own time, without torch.

The caller computes results by itself, at once; the core says when they are done, what they cost,
where memory lies, what goes wrong, and which waits are missing.
"""

from accelhal_mock.simulation.allocation import Allocation
from accelhal_mock.simulation.board import Board
from accelhal_mock.simulation.cost import CostModel
from accelhal_mock.simulation.errors import BoardError, ErrorTypes, OutOfMemoryError
from accelhal_mock.simulation.event import Event
from accelhal_mock.simulation.faults import BitFlip, Fault, FaultKind
from accelhal_mock.simulation.graphs import Graph
from accelhal_mock.simulation.hazards import Hazard, HazardError, HazardKind, HazardWarning
from accelhal_mock.simulation.host import HostBuffer
from accelhal_mock.simulation.machine import MOST_BOARDS, Machine, MachineConfig
from accelhal_mock.simulation.memory import CachingAllocator
from accelhal_mock.simulation.stream import Stream

__all__ = [
    "MOST_BOARDS",
    "Allocation",
    "BitFlip",
    "Board",
    "BoardError",
    "CachingAllocator",
    "CostModel",
    "ErrorTypes",
    "Event",
    "Fault",
    "FaultKind",
    "Graph",
    "Hazard",
    "HazardError",
    "HazardKind",
    "HazardWarning",
    "HostBuffer",
    "Machine",
    "MachineConfig",
    "OutOfMemoryError",
    "Stream",
]
