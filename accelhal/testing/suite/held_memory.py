"""Memory that a rule takes on a device, the figures that tell of it, and where they start."""

from __future__ import annotations

import gc
from collections.abc import Mapping

import torch

from accelhal.facade import Device
from accelhal.testing.suite.base import SuiteBase

_FIGURES: Mapping[str, tuple[str, str]] = {
    "memory_allocated": ("memory_stats", "allocated"),
    "max_memory_allocated": ("memory_stats", "peak_allocated"),
    "memory_reserved": ("caching_allocator", "reserved"),
    "max_memory_reserved": ("caching_allocator", "peak_reserved"),
}
"""Method of Device that tells one figure of this process's memory -> the capability that it needs,
and the field of MemoryStats that tells the same."""


def hold(suite: SuiteBase, device: Device) -> torch.Tensor:
    """A tensor of `suite.allocation_bytes` whose every page is in use."""
    held = suite.allocate(suite.allocation_bytes, device)
    held.fill_(1)
    device.synchronize()
    return held


def settled(device: Device) -> int:
    """`memory_allocated` with all garbage collected and all work done; 0 where it is not known."""
    gc.collect()
    device.synchronize()
    return device.memory_allocated() if device.supports("memory_stats") else 0


def emptied(device: Device) -> None:
    """Settle the device and return its cache, so that new memory comes from the driver."""
    settled(device)
    if device.supports("caching_allocator"):
        device.empty_cache()


def figures(device: Device) -> dict[str, int]:
    """Every figure that the device tells of this process's memory, in bytes."""
    stats = device.memory_stats()
    found = {}
    for name, (capability, field) in _FIGURES.items():
        if device.supports(capability):
            found[name] = getattr(device, name)()
        told = getattr(stats, field)
        if told is not None:
            found[f"memory_stats().{field}"] = told
    return found


def told_twice(device: Device) -> dict[str, tuple[int, int]]:
    """Field of MemoryStats -> what it tells, and what the method tells that is about the same."""
    found = figures(device)
    return {
        field: (found[f"memory_stats().{field}"], found[name])
        for name, (_, field) in _FIGURES.items()
        if name in found and f"memory_stats().{field}" in found
    }
