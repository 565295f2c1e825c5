"""Runtime over torch_npu: what a device is, which board it is on, and events that were not timed.

float32_precision is not declared: its HF32 switches are not in torch_npu's documented interface.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from accelhal.errors import ErrorKind
from accelhal.facts import DeviceProperties, Location
from accelhal.host.visible_devices import active_mask
from accelhal.runtimes.checked_event import checked_event_class
from accelhal.runtimes.torch_module import TorchModuleRuntime
from accelhal_ascend import error_messages
from accelhal_ascend.location import locate
from accelhal_ascend.probe import TORCH_PACKAGE, VISIBLE_DEVICES
from accelhal_ascend.repairs import repair

_GRAPH_LIMIT = 1800
"""Graphs on a board: each keeps one or more of its 2048 hardware streams, and vLLM's users meet the
end at 1800 to 1920 (https://github.com/vllm-project/vllm-ascend/issues/1168)."""

_NO_UUID = "00000000-0000-0000-0000-000000000000"
"""What torch_npu reports, of every device, where CANN does not tell UUIDs: before CANN 9.2, or with
a driver before HDK 25.5.5 (CANN runtime, example device_identity_mapping)."""


class AscendRuntime(TorchModuleRuntime):
    """torch.npu, which torch_npu adds to torch."""

    def __init__(self) -> None:
        super().__init__("npu", "Huawei", package=TORCH_PACKAGE, graph_class="NPUGraph")
        self._event_class = checked_event_class(self.module.Event)
        repair(self.module)
        # CANN reads the variable once, at about this time.
        self._mask = active_mask(VISIBLE_DEVICES, os.environ)

    def properties(self, index: int) -> DeviceProperties:
        found = self.module.get_device_properties(index)
        cores = getattr(found, "cube_core_num", None)
        shared = super().properties(index)
        return replace(
            shared,
            # The toolchain's architecture is the chip's name; major and minor are there but None.
            arch=shared.name,
            compute_units=cores or shared.compute_units,
            uuid=None if shared.uuid == _NO_UUID else shared.uuid,
        )

    def locate(self, index: int) -> Location:
        return locate(index, self._mask)

    def create_event(self, index: int, enable_timing: bool = False, blocking: bool = False) -> Any:
        return self._event_class(enable_timing, blocking)

    def graph_limit(self, index: int) -> int | None:
        return _GRAPH_LIMIT

    def classify_error(self, error: BaseException) -> ErrorKind:
        return error_messages.classify(error)
