"""What torch.mlu 1.33 has otherwise than 1.25."""

from __future__ import annotations

from typing import Any

import torch
from accelhal_mock.python_mode import devices as boards, memory as simulated

from torch_mlu import devices, memory, process
from torch_mlu.events import TorchEvent
from torch_mlu.graphs import DEFAULT_MODE, CaptureContext, Graph, KeepingGraph
from torch_mlu.streams import ClampingStream

ClampingStream.event_class = TorchEvent


def get_device_properties(device: Any = None) -> Any:
    return devices.properties_of(device)


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Always True, whatever the chip computes in."""
    return True


def is_tf32_supported() -> bool:
    return devices.has_bfloat16()


def memory_snapshot(mempool_id: Any = None, include_traces: bool = True) -> list[dict[str, Any]]:
    return memory.snapshot()


def get_per_process_memory_fraction(device: Any = None) -> float:
    process.lazy_init()
    return simulated.get_per_process_memory_fraction(device)


def utilization(device: Any = None) -> int:
    """Percent, by CNDev."""
    process.lazy_init()
    return round(100 * boards.board_of(device).sensors.read().utilization)


def get_allocator_backend() -> str:
    return "native"


class graph(CaptureContext):
    """Context that captures the work of its body."""

    stream_class = ClampingStream

    def __init__(
        self,
        mlu_graph: Graph,
        pool: Any = None,
        stream: Any = None,
        capture_error_mode: str = DEFAULT_MODE,
    ) -> None:
        super().__init__(mlu_graph, pool, stream, capture_error_mode)

    def __exit__(self, *args: Any) -> None:
        self.leave()


def get_amp_supported_dtype() -> list[torch.dtype]:
    return [
        torch.float32,
        torch.float16,
        torch.bfloat16,
        torch.float8_e4m3fn,
        torch.float8_e5m2,
    ]


CLASSES = {
    "Event": TorchEvent,
    "MLUGraph": KeepingGraph,
    "Stream": ClampingStream,
    "graph": graph,
}

NAMES = (
    "get_allocator_backend get_amp_supported_dtype get_device_properties "
    "get_per_process_memory_fraction is_bf16_supported is_tf32_supported memory_snapshot "
    "utilization"
)
