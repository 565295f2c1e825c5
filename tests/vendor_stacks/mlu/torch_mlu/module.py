"""Fills `torch.mlu` with the names of the chosen form, in place of the simulation's own."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import torch
from accelhal_mock.python_mode import graphed_callables, streams as simulated

from torch_mlu import (
    devices,
    form_1_25,
    form_1_33,
    graphs,
    memory,
    process,
    random_numbers,
    streams,
)
from torch_mlu.errors import CnrtError

_SHARED: tuple[tuple[Any, str], ...] = (
    (
        devices,
        "can_device_access_peer check_error current_device device device_count device_of "
        "get_device_capability get_device_name init ipc_collect is_available is_fp8_supported "
        "is_initialized set_device synchronize",
    ),
    (
        memory,
        "empty_cache max_memory_allocated max_memory_cached max_memory_reserved mem_get_info "
        "memory_allocated memory_cached memory_reserved memory_stats memory_stats_as_nested_dict "
        "reset_accumulated_memory_stats reset_max_memory_allocated reset_max_memory_cached "
        "reset_peak_memory_stats set_per_process_memory_fraction",
    ),
    (streams, "StreamContext set_stream stream"),
    (graphs, "graph_pool_handle is_current_stream_capturing"),
    (graphed_callables, "make_graphed_callables"),
    (
        random_numbers,
        "get_rng_state get_rng_state_all initial_seed manual_seed manual_seed_all seed seed_all "
        "set_rng_state set_rng_state_all",
    ),
)
"""Module -> the names that it gives to both forms."""


def fill() -> ModuleType:
    """`torch.mlu`, with the public names that torch_mlu gives it and no other."""
    module: ModuleType = sys.modules["torch.mlu"]
    for name in [name for name in vars(module) if not name.startswith("_")]:
        delattr(module, name)
    form: Any = form_1_25 if process.SETTINGS.form == "1.25" else form_1_33
    for source, exported in (*_SHARED, (form, form.NAMES)):
        for public in exported.split():
            setattr(module, public, getattr(source, public))
    vars(module).update(
        form.CLASSES,
        CnrtError=CnrtError,
        OutOfMemoryError=torch.OutOfMemoryError,
        current_stream=_stream_getter(form.CLASSES["Stream"], simulated.current_stream),
        default_stream=_stream_getter(form.CLASSES["Stream"], simulated.default_stream),
        _lazy_init=process.lazy_init,
        _is_in_bad_fork=lambda: process.machine.bad_fork,
    )
    sys.modules["torch_mlu.mlu"] = module
    return module


def _stream_getter(stream_class: Any, find: Any) -> Any:
    def getter(device: Any = None) -> Any:
        process.lazy_init()
        return stream_class(simulated=find(device).simulated)

    return getter
