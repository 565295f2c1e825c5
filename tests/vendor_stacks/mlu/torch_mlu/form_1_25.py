"""What torch.mlu 1.25 has otherwise than 1.33."""

from __future__ import annotations

from typing import Any

import torch

from torch_mlu import devices, memory
from torch_mlu.events import PlainEvent
from torch_mlu.graphs import DEFAULT_MODE, CaptureContext, Graph, PlainGraph
from torch_mlu.streams import StrictStream

StrictStream.event_class = PlainEvent
default_generators: tuple[torch.Generator, ...] = ()


def get_device_properties(device: Any) -> Any:
    return devices.properties_of(device)


def is_bf16_supported() -> bool:
    return devices.has_bfloat16()


def memory_snapshot() -> list[dict[str, Any]]:
    return memory.snapshot()


def supports_linear_memory(device: Any = None) -> bool:
    return bool(devices.properties_of(device).supports_linear_memory)


class graph(CaptureContext):
    """Context that captures the work of its body."""

    stream_class = StrictStream

    def __init__(
        self,
        mlu_graph: Graph,
        pool: Any = None,
        stream: Any = None,
        capture_error_mode: str = DEFAULT_MODE,
    ) -> None:
        super().__init__(mlu_graph, pool, stream, capture_error_mode)

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        self.leave()


def get_amp_supported_dtype() -> list[torch.dtype]:
    return [torch.float16, torch.bfloat16]


def is_autocast_enabled() -> bool:
    return torch.is_autocast_enabled("mlu")


def set_autocast_enabled(enable: bool) -> None:
    torch.set_autocast_enabled("mlu", enable)


def get_autocast_dtype() -> torch.dtype:
    return torch.get_autocast_dtype("mlu")


def set_autocast_dtype(dtype: torch.dtype) -> None:
    torch.set_autocast_dtype("mlu", dtype)


CLASSES = {
    "Event": PlainEvent,
    "MLUGraph": PlainGraph,
    "Stream": StrictStream,
    "graph": graph,
}

NAMES = (
    "default_generators get_amp_supported_dtype get_autocast_dtype get_device_properties "
    "is_autocast_enabled is_bf16_supported memory_snapshot set_autocast_dtype "
    "set_autocast_enabled supports_linear_memory"
)
