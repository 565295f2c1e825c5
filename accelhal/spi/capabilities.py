"""The optional capabilities of a device, and the Runtime methods that each one promises."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

CAPABILITIES: Mapping[str, str] = {
    "streams": "several in-order queues of work, and waits between them",
    "events": "markers in a stream that can be waited for and timed",
    "memory_info": "free and total memory of the device",
    "memory_stats": "memory of this process on the device, with peaks",
    "caching_allocator": "memory kept by the process for reuse, and returned by empty_cache",
    "memory_fraction": "a cap on the memory this process may take",
    "graphs": "work captured once and replayed with one launch",
    "graphed_callables": "functions whose forward and backward passes are captured as graphs",
    "peer_access": "direct copies between devices of the backend",
    "pin_memory": "page-locked host memory for asynchronous copies",
    "autocast": "automatic mixed precision",
    "float32_precision": "a choice of how float32 products are computed",
}
"""The closed list of optional capabilities and what each gives."""

REQUIRED_CAPABILITY: Mapping[str, str] = {
    "create_stream": "streams",
    "current_stream": "streams",
    "default_stream": "streams",
    "set_stream": "streams",
    "create_event": "events",
    "create_graph": "graphs",
    "capture_graph": "graphs",
    "graph_pool_handle": "graphs",
    "make_graphed_callables": "graphed_callables",
    "mem_get_info": "memory_info",
    "memory_allocated": "memory_stats",
    "max_memory_allocated": "memory_stats",
    "memory_stats": "memory_stats",
    "reset_peak_memory_stats": "memory_stats",
    "memory_reserved": "caching_allocator",
    "max_memory_reserved": "caching_allocator",
    "empty_cache": "caching_allocator",
    "set_per_process_memory_fraction": "memory_fraction",
    "can_access_peer": "peer_access",
    "pin_memory": "pin_memory",
    "autocast": "autocast",
    "get_float32_precision": "float32_precision",
    "set_float32_precision": "float32_precision",
}
"""Optional Runtime method -> the capability that promises it."""


class Support(str, Enum):
    """How a device has a capability; an absent one is simply not listed."""

    NATIVE = "native"
    EMULATED = "emulated"
