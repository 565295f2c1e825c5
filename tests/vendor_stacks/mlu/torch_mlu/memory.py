"""The calls of torch.mlu about memory. Unlike torch.cuda's, its getters create a context."""

from __future__ import annotations

from typing import Any

import torch
from accelhal_mock.python_mode import devices as boards, memory

from torch_mlu import process


def memory_stats(device: Any = None) -> dict[str, Any]:
    process.lazy_init()
    return memory.memory_stats(device)


def memory_stats_as_nested_dict(device: Any = None) -> dict[str, Any]:
    process.lazy_init()
    return memory.nested_memory_stats(device)


def memory_allocated(device: Any = None) -> int:
    return int(memory_stats(device)["allocated_bytes.all.current"])


def max_memory_allocated(device: Any = None) -> int:
    return int(memory_stats(device)["allocated_bytes.all.peak"])


def memory_reserved(device: Any = None) -> int:
    return int(memory_stats(device)["reserved_bytes.all.current"])


def max_memory_reserved(device: Any = None) -> int:
    return int(memory_stats(device)["reserved_bytes.all.peak"])


def memory_cached(device: Any = None) -> int:
    return memory_reserved(device)


def max_memory_cached(device: Any = None) -> int:
    return max_memory_reserved(device)


def reset_peak_memory_stats(device: Any = None) -> None:
    _check_allocator()
    memory.reset_peak_memory_stats(device)


def reset_accumulated_memory_stats(device: Any = None) -> None:
    _check_allocator()
    memory.reset_accumulated_memory_stats(device)


def reset_max_memory_allocated(device: Any = None) -> None:
    reset_peak_memory_stats(device)


def reset_max_memory_cached(device: Any = None) -> None:
    reset_peak_memory_stats(device)


def mem_get_info(device: Any = None) -> tuple[int, int]:
    process.lazy_init()
    if isinstance(device, torch.device) and device.index is None:
        raise ValueError("Expected a torch.device with a specified index or an integer")
    return memory.mem_get_info(device)


def empty_cache() -> None:
    if process.is_initialized():
        memory.empty_cache()


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    process.lazy_init()
    memory.set_per_process_memory_fraction(fraction, device)


def snapshot() -> list[dict[str, Any]]:
    process.lazy_init()
    return memory.memory_snapshot()


def _check_allocator() -> None:
    if not process.is_initialized():
        index = boards.current_device()
        raise RuntimeError(f"Allocator not initialized for device {index}: did you call init?")
