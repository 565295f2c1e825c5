"""Runtime over torch_mlu: looking starts no device and spoils no fork, and boards are told by mask.

float32_precision is not declared: torch_mlu's TF32 switches differ by release and are not public.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import torch

from accelhal.errors import ErrorKind
from accelhal.facts import DeviceProperties, Location, MemoryStats, SupportedDtypes
from accelhal.host.visible_devices import active_mask
from accelhal.runtimes.checked_event import checked_event_class
from accelhal.runtimes.torch_module import NOTHING_HELD, TorchModuleRuntime
from accelhal_cambricon import error_messages
from accelhal_cambricon.location import locate
from accelhal_cambricon.probe import TORCH_PACKAGE, VISIBLE_DEVICES

_MOST_URGENT, _LEAST_URGENT = -3, 0
"""Stream priorities of torch_mlu (torch_mlu 1.25, Stream.priority_range)."""

_FIRST_WITH_BFLOAT16 = 5
"""`major` of the first chips that compute in bfloat16 (torch_mlu 1.25, is_bf16_supported)."""


class CambriconRuntime(TorchModuleRuntime):
    """torch.mlu, which torch_mlu adds to torch."""

    def __init__(self) -> None:
        super().__init__("mlu", "Cambricon", package=TORCH_PACKAGE, graph_class="MLUGraph")
        # The driver reads the variable once; what a program does to it later changes no device.
        self._mask = active_mask(VISIBLE_DEVICES, os.environ)
        # What CNRT answers for notifiers without timing is not documented.
        self._event_class = checked_event_class(self.module.Event)

    def device_count(self) -> int:
        # is_available() asks the driver, and after that no forked child can use a device.
        return int(self.module.device_count())

    def properties(self, index: int) -> DeviceProperties:
        isa = getattr(self.module.get_device_properties(index), "isa_version", None)
        key = self.locate(index).key
        return replace(
            super().properties(index),
            # The compiler's spelling: --bang-mlu-arch=mtp_592.
            arch=f"mtp_{isa}" if isa else None,
            uuid=key.value if key is not None and key.source == "uuid" else None,
        )

    def supported_dtypes(self, index: int) -> SupportedDtypes:
        shared = super().supported_dtypes(index)
        if self.module.get_device_properties(index).major >= _FIRST_WITH_BFLOAT16:
            return shared
        # torch_mlu 1.33 says yes for every chip: it counts emulation.
        emulated = {torch.bfloat16}
        return replace(
            shared,
            storage=shared.storage - emulated,
            compute=shared.compute - emulated,
            autocast=shared.autocast - emulated,
        )

    def locate(self, index: int) -> Location:
        return locate(index, self._mask)

    def create_stream(self, index: int, priority: int = 0) -> Any:
        # torch_mlu 1.25 raises above 0, where torch.cuda takes the nearest priority.
        return super().create_stream(index, min(max(priority, _MOST_URGENT), _LEAST_URGENT))

    def create_event(self, index: int, enable_timing: bool = False, blocking: bool = False) -> Any:
        return self._event_class(enable_timing, blocking)

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
        return super().memory_stats(index) if self.module.is_initialized() else NOTHING_HELD

    def classify_error(self, error: BaseException) -> ErrorKind:
        return error_messages.classify(error)
