"""Runtime over torch_npu: AI cores, the chip's name, and events that refuse what they cannot time.

float32_precision is not declared: its HF32 switches are not in torch_npu's documented interface.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from accelhal.facts import DeviceProperties
from accelhal.runtimes.torch_module import TorchModuleRuntime
from accelhal_ascend.event import checked_event_class
from accelhal_ascend.probe import TORCH_PACKAGE


class AscendRuntime(TorchModuleRuntime):
    """torch.npu, which torch_npu adds to torch."""

    def __init__(self) -> None:
        super().__init__("npu", "Huawei", package=TORCH_PACKAGE, graph_class="NPUGraph")
        self._event_class = checked_event_class(self.module.Event)

    def properties(self, index: int) -> DeviceProperties:
        found = self.module.get_device_properties(index)
        cores = getattr(found, "cube_core_num", None)
        shared = super().properties(index)
        # The toolchain's architecture is the chip's name; major and minor are there but None.
        return replace(shared, arch=shared.name, compute_units=cores or shared.compute_units)

    def create_event(self, index: int, enable_timing: bool = False, blocking: bool = False) -> Any:
        return self._event_class(enable_timing, blocking)
