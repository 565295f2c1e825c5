"""A Runtime over any `torch.<type>` device module; a vendor overrides only what differs.

Calls pass the index by position: the vendors name that parameter differently.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import torch

from accelhal.errors import ErrorKind
from accelhal.facts import BoardKey, DeviceProperties, Location, MemoryStats, SupportedDtypes
from accelhal.runtimes.dtypes import COMMON_DTYPES
from accelhal.runtimes.error_messages import classify_message
from accelhal.runtimes.torch_features import has_accelerator_module
from accelhal.runtimes.vendor_import import device_module
from accelhal.spi import Runtime, Support

_MODULE_NAMES: Mapping[str, tuple[str, ...]] = {
    "streams": ("Stream", "current_stream", "default_stream", "set_stream"),
    "events": ("Event",),
    "memory_info": ("mem_get_info",),
    "memory_stats": (
        "memory_allocated",
        "max_memory_allocated",
        "memory_stats",
        "reset_peak_memory_stats",
    ),
    "caching_allocator": ("memory_reserved", "max_memory_reserved", "empty_cache"),
    "memory_fraction": ("set_per_process_memory_fraction",),
    "peer_access": ("can_device_access_peer",),
}
"""Capability -> the names that a device module must have for it."""

_GRAPH_NAMES = ("graph", "graph_pool_handle")

_STAT_KEYS: Mapping[str, str] = {
    "allocated": "allocated_bytes.all.current",
    "peak_allocated": "allocated_bytes.all.peak",
    "reserved": "reserved_bytes.all.current",
    "peak_reserved": "reserved_bytes.all.peak",
    "inactive_split": "inactive_split_bytes.all.current",
    "allocations": "allocation.all.current",
    "alloc_retries": "num_alloc_retries",
    "ooms": "num_ooms",
}
"""MemoryStats field -> key of `torch.<type>.memory_stats`."""

NOTHING_HELD = MemoryStats(**dict.fromkeys(_STAT_KEYS, 0))
"""Memory of a process that has not used the device yet."""


class TorchModuleRuntime(Runtime):
    """Runtime of a device module registered with torch.

    Args:
        device_type: torch device type ("npu").
        vendor: the vendor's name.
        package: the package that adds `torch.<device_type>`, imported where it is not there yet;
            None where torch brings the module.
        graph_class: name of the module's graph class, where it captures graphs.
        simulated: True where the boards exist in software alone.
    """

    def __init__(
        self,
        device_type: str,
        vendor: str,
        *,
        package: str | None = None,
        graph_class: str | None = None,
        simulated: bool = False,
    ) -> None:
        self.device_type = device_type
        self.vendor = vendor
        self.graph_class = graph_class
        self.simulated = simulated
        self.module: Any = device_module(device_type, package)

    # ---- identity

    def device_count(self) -> int:
        # Some modules count devices but cannot use them: both must agree before anything is called.
        return int(self.module.device_count()) if self.module.is_available() else 0

    def torch_device(self, index: int) -> torch.device:
        return torch.device(self.device_type, index)

    def properties(self, index: int) -> DeviceProperties:
        found = self.module.get_device_properties(index)
        uuid = getattr(found, "uuid", None)
        integrated = getattr(found, "is_integrated", None)
        return DeviceProperties(
            name=str(found.name),
            vendor=self.vendor,
            total_memory=getattr(found, "total_memory", None),
            compute_units=getattr(found, "multi_processor_count", None),
            uuid=str(uuid) if uuid else None,
            integrated=None if integrated is None else bool(integrated),
            simulated=self.simulated,
        )

    def capabilities(self, index: int) -> Mapping[str, Support]:
        found = {
            capability: Support.NATIVE
            for capability, names in _MODULE_NAMES.items()
            if all(hasattr(self.module, name) for name in names)
        }
        if torch.amp.is_autocast_available(self.device_type):
            found["autocast"] = Support.NATIVE
        if self.graph_class and all(
            hasattr(self.module, name) for name in (self.graph_class, *_GRAPH_NAMES)
        ):
            found["graphs"] = Support.NATIVE
            if hasattr(self.module, "make_graphed_callables"):
                found["graphed_callables"] = Support.NATIVE
        found["pin_memory"] = Support.NATIVE
        return found

    def supported_dtypes(self, index: int) -> SupportedDtypes:
        compute = {torch.float32, torch.float16}
        with self.module.device(index):  # the vendors answer for the current device
            if self.module.is_bf16_supported():
                compute.add(torch.bfloat16)
        listed = getattr(self.module, "get_amp_supported_dtype", None)
        autocast = set(listed()) if listed else {torch.float16, torch.bfloat16}
        return SupportedDtypes(
            storage=COMMON_DTYPES | compute,
            compute=frozenset(compute),
            autocast=frozenset(autocast & compute),
        )

    def locate(self, index: int) -> Location:
        uuid = self.properties(index).uuid
        if uuid is None:
            return Location(None, f"torch.{self.device_type} reports no UUID")
        return Location(BoardKey(self.device_type, "uuid", uuid))

    # ---- the current device

    def current_device(self) -> int:
        return int(self.module.current_device())

    def set_device(self, index: int) -> None:
        self.module.set_device(index)

    # ---- execution

    def synchronize(self, index: int) -> None:
        self.module.synchronize(index)

    def create_stream(self, index: int, priority: int = 0) -> Any:
        return self.module.Stream(index, priority)

    def current_stream(self, index: int) -> Any:
        return self.module.current_stream(index)

    def default_stream(self, index: int) -> Any:
        return self.module.default_stream(index)

    def set_stream(self, index: int, stream: Any) -> None:
        self.module.set_stream(stream)

    def create_event(self, index: int, enable_timing: bool = False, blocking: bool = False) -> Any:
        return self.module.Event(enable_timing, blocking)

    # ---- graphs

    def create_graph(self, index: int) -> Any:
        assert self.graph_class is not None, "declared only where the class is known"
        with self.module.device(index):
            return getattr(self.module, self.graph_class)()

    @contextmanager
    def capture_graph(
        self, index: int, graph: Any, *, pool: Any, stream: Any, capture_error_mode: str
    ) -> Iterator[Any]:
        # Left alone, the vendors capture all devices' work on the device where they first did.
        side = self.create_stream(index) if stream is None else stream
        # The vendors' first parameters differ in name, their later ones in order.
        with (
            self.module.device(index),
            self.module.graph(
                graph, pool=pool, stream=side, capture_error_mode=capture_error_mode
            ) as entered,
        ):
            yield entered

    def graph_pool_handle(self, index: int) -> Any:
        with self.module.device(index):
            return self.module.graph_pool_handle()

    def make_graphed_callables(
        self,
        index: int,
        callables: Any,
        sample_args: Any,
        *,
        num_warmup_iters: int = 3,
        allow_unused_input: bool = False,
        pool: Any = None,
    ) -> Any:
        pooled = {} if pool is None else {"pool": pool}  # early releases have no such parameter
        with self.module.device(index):
            return self.module.make_graphed_callables(
                callables,
                sample_args,
                num_warmup_iters=num_warmup_iters,
                allow_unused_input=allow_unused_input,
                **pooled,
            )

    # ---- memory

    def mem_get_info(self, index: int) -> tuple[int, int]:
        free, total = self.module.mem_get_info(index)
        return int(free), int(total)

    def memory_allocated(self, index: int) -> int:
        return int(self.module.memory_allocated(index))

    def max_memory_allocated(self, index: int) -> int:
        return int(self.module.max_memory_allocated(index))

    def memory_reserved(self, index: int) -> int:
        return int(self.module.memory_reserved(index))

    def max_memory_reserved(self, index: int) -> int:
        return int(self.module.max_memory_reserved(index))

    def memory_stats(self, index: int) -> MemoryStats:
        found = self.module.memory_stats(index)
        if not found:
            return NOTHING_HELD
        return MemoryStats(**{field: found.get(key) for field, key in _STAT_KEYS.items()})

    def reset_peak_memory_stats(self, index: int) -> None:
        if self.module.is_initialized():  # the allocator refuses before, and has no peak
            self.module.reset_peak_memory_stats(index)

    def empty_cache(self, index: int) -> None:
        if self.module.is_initialized():  # entering a device would start it, with nothing cached
            with self.module.device(index):
                self.module.empty_cache()

    def set_per_process_memory_fraction(self, index: int, fraction: float) -> None:
        self.module.set_per_process_memory_fraction(fraction, index)

    def pin_memory(self, index: int, tensor: torch.Tensor) -> torch.Tensor:
        with self.module.device(index):
            if has_accelerator_module():  # torch pins for the process's accelerator
                return tensor.pin_memory()
            return tensor.pin_memory(self.device_type)

    def can_access_peer(self, index: int, peer: int) -> bool:
        return bool(self.module.can_device_access_peer(index, peer))

    # ---- random numbers

    def manual_seed(self, index: int, seed: int) -> None:
        with self.module.device(index):
            self.module.manual_seed(seed)

    def get_rng_state(self, index: int) -> torch.Tensor:
        state: torch.Tensor = self.module.get_rng_state(index)
        return state

    def set_rng_state(self, index: int, state: torch.Tensor) -> None:
        self.module.set_rng_state(state, index)

    # ---- precision

    def autocast(self, index: int, dtype: torch.dtype) -> AbstractContextManager[Any]:
        return torch.autocast(self.device_type, dtype=dtype)

    # ---- errors

    def classify_error(self, error: BaseException) -> ErrorKind:
        return classify_message(error)
