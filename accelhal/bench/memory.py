"""Peak memory of a row, and whose memory that is."""

from __future__ import annotations

from typing import Literal

from accelhal.facade import Device
from accelhal.spi import Support

MemoryKind = Literal["device", "process"]


class PeakMemory:
    """The device's own peak, where it counts one.

    Attributes:
        kind: "device" for this process's tensors on the device, "process" for the resident set of
            the whole process, None where the device counts neither.
        total: memory of the device in bytes, None where it is not reported.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self.kind = _kind(device)
        self.total = _total(device)

    def reset(self) -> None:
        """Start a new peak at what is in use now."""
        if self.kind:
            self._device.reset_peak_memory_stats()

    def read(self) -> int | None:
        """Bytes at the peak since the last reset."""
        return self._device.max_memory_allocated() if self.kind else None


def _kind(device: Device) -> MemoryKind | None:
    support = device.supports("memory_stats")
    if support is None:
        return None
    # A simulated board counts tensors; the processor has only the process's resident set.
    emulated = support is Support.EMULATED and not device.simulated
    return "process" if emulated else "device"


def _total(device: Device) -> int | None:
    total = device.properties.total_memory
    if total is None and device.supports("memory_info"):
        return device.mem_get_info()[1]
    return total
