"""Runtime over torch_mlu: getters that start no device, and priorities it would refuse.

float32_precision is not declared: torch_mlu's TF32 switches differ by release and are not public.
torch_mlu reports no UUID, so `locate` names no board and says why.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from accelhal.facts import DeviceProperties, MemoryStats
from accelhal.runtimes.torch_module import TorchModuleRuntime
from accelhal_cambricon.probe import TORCH_PACKAGE

_NOTHING_HELD = MemoryStats(0, 0, 0, 0, 0, 0, 0, 0)


class CambriconRuntime(TorchModuleRuntime):
    """torch.mlu, which torch_mlu adds to torch."""

    def __init__(self) -> None:
        super().__init__("mlu", "Cambricon", package=TORCH_PACKAGE, graph_class="MLUGraph")

    def properties(self, index: int) -> DeviceProperties:
        isa = getattr(self.module.get_device_properties(index), "isa_version", None)
        # The compiler's spelling: --bang-mlu-arch=mtp_592.
        return replace(super().properties(index), arch=f"mtp_{isa}" if isa else None)

    def create_stream(self, index: int, priority: int = 0) -> Any:
        # It raises for what is less urgent than 0, where torch.cuda takes the nearest priority.
        return super().create_stream(index, min(priority, 0))

    # Before the device is in use, torch_mlu's getters would create a context on it to answer 0.

    def memory_allocated(self, index: int) -> int:
        return super().memory_allocated(index) if self.module.is_initialized() else 0

    def max_memory_allocated(self, index: int) -> int:
        return super().max_memory_allocated(index) if self.module.is_initialized() else 0

    def memory_reserved(self, index: int) -> int:
        return super().memory_reserved(index) if self.module.is_initialized() else 0

    def max_memory_reserved(self, index: int) -> int:
        return super().max_memory_reserved(index) if self.module.is_initialized() else 0

    def memory_stats(self, index: int) -> MemoryStats:
        return super().memory_stats(index) if self.module.is_initialized() else _NOTHING_HELD
