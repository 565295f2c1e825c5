"""Devices as torch sees them: what they are, their memory in this process, their dtypes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class DeviceProperties:
    """What a device is. None means that torch does not report it.

    Attributes:
        name: product name.
        vendor: vendor name.
        total_memory: bytes.
        arch: the vendor's architecture name ("sm_90"), as its toolchain writes it.
        compute_units: multiprocessors, AI cores or CPU cores.
        uuid: board UUID in the driver's spelling.
        pci: domain:bus:device.function.
        integrated: True where the device shares the host's memory.
        simulated: True for devices that exist in software alone.
    """

    name: str
    vendor: str
    total_memory: int | None = None
    arch: str | None = None
    compute_units: int | None = None
    uuid: str | None = None
    pci: str | None = None
    integrated: bool | None = None
    simulated: bool = False


@dataclass(frozen=True)
class MemoryStats:
    """This process's memory on a device, in bytes and counts. None means "not reported", never 0.

    Attributes:
        allocated: bytes held by live tensors.
        peak_allocated: largest `allocated` since the last reset.
        reserved: bytes the caching allocator holds from the driver.
        peak_reserved: largest `reserved` since the last reset.
        inactive_split: bytes in free pieces of partly used blocks; they cannot be returned.
        allocations: live allocations.
        alloc_retries: times the allocator flushed its cache and tried again.
        ooms: out-of-memory errors raised.
    """

    allocated: int | None = None
    peak_allocated: int | None = None
    reserved: int | None = None
    peak_reserved: int | None = None
    inactive_split: int | None = None
    allocations: int | None = None
    alloc_retries: int | None = None
    ooms: int | None = None

    @property
    def fragmentation(self) -> float | None:
        """(reserved - allocated) / reserved: the share of the cache no tensor uses, 0 to 1."""
        if self.reserved is None or self.allocated is None:
            return None
        return (self.reserved - self.allocated) / self.reserved if self.reserved else 0.0


@dataclass(frozen=True)
class SupportedDtypes:
    """The element types a device takes: to hold, to multiply, and under autocast."""

    storage: frozenset[torch.dtype]
    compute: frozenset[torch.dtype]
    autocast: frozenset[torch.dtype]
