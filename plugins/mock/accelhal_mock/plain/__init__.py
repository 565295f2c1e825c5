"""Plain mode: torch devices stay cpu, and the simulation is told of tensors by name.

It works beside a vendor's torch package, a CUDA build with boards, and any torch.
"""

from accelhal_mock.plain.runtime import PlainRuntime
from accelhal_mock.plain.streams import PlainEvent, PlainStream
from accelhal_mock.plain.tensors import board_of, empty, get, put, put_module
from accelhal_mock.plain.tracking import tracked

__all__ = [
    "PlainEvent",
    "PlainRuntime",
    "PlainStream",
    "board_of",
    "empty",
    "get",
    "put",
    "put_module",
    "tracked",
]
