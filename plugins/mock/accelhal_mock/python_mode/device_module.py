"""`torch.<name>`: the device module of the boards, with the calls of torch.cuda."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import torch

from accelhal_mock.python_mode import (
    devices,
    graphed_callables,
    graphs,
    memory,
    properties,
    random_numbers,
    streams,
)
from accelhal_mock.python_mode.installed import current_installation
from accelhal_mock.python_mode.waiting import wait_for


def synchronize(device: Any = None) -> None:
    """Wait until all streams of a board are done."""
    wait_for(devices.board_of(device))


def is_initialized() -> bool:
    """Whether a board was used in this process."""
    return current_installation().machine.initialized


def init() -> None:
    """Return at once: boards are initialised at their first use."""


def in_bad_fork() -> bool:
    """Whether the process was forked after its parent had used a board."""
    return current_installation().machine.bad_fork


def make_device_module(name: str) -> ModuleType:
    """The module to register with torch for the device type `name`."""
    module = ModuleType(f"torch.{name}", f"Simulated boards, as torch.{name}.")
    names: dict[str, Any] = {
        "init": init,
        "_lazy_init": init,
        "is_initialized": is_initialized,
        "_is_in_bad_fork": in_bad_fork,
        "synchronize": synchronize,
        "_exchange_device": devices.exchange_device,
        "_maybe_exchange_device": devices.exchange_device,
        "default_generators": random_numbers.default_generators,
        "OutOfMemoryError": torch.OutOfMemoryError,
        # The two ways in which vendors spell it: MockGraph, NPUGraph.
        f"{name.capitalize()}Graph": graphs.BoardGraph,
        f"{name.upper()}Graph": graphs.BoardGraph,
    }
    for source, exported in _EXPORTED:
        for public in exported.split():
            names[public] = getattr(source, public)
    names["stream"] = streams.StreamContext
    vars(module).update(names)
    return module


_EXPORTED = (
    (
        devices,
        "can_device_access_peer current_device device device_count device_of is_available "
        "set_device",
    ),
    (
        streams,
        "Event Stream StreamContext current_stream default_stream set_stream",
    ),
    (
        memory,
        "empty_cache get_per_process_memory_fraction max_memory_allocated max_memory_reserved "
        "mem_get_info memory_allocated memory_reserved memory_snapshot memory_stats "
        "reset_accumulated_memory_stats reset_peak_memory_stats set_per_process_memory_fraction",
    ),
    (
        properties,
        "get_amp_supported_dtype get_device_capability get_device_name get_device_properties "
        "is_bf16_supported",
    ),
    (
        random_numbers,
        "get_rng_state get_rng_state_all initial_seed manual_seed manual_seed_all seed seed_all "
        "set_rng_state set_rng_state_all",
    ),
    (graphs, "graph graph_pool_handle is_current_stream_capturing"),
    (graphed_callables, "make_graphed_callables"),
)
"""Module -> the names it gives to torch.<name>."""
