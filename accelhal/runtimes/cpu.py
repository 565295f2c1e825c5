"""The built-in cpu backend: honest about what a processor has, and about what is emulated."""

from __future__ import annotations

import os
import platform
import threading
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import torch

from accelhal.errors import ErrorKind
from accelhal.facts import DeviceProperties, Location, MemoryStats, SupportedDtypes
from accelhal.host.system import cpu_model, memory_info
from accelhal.runtimes.context_stack import ContextStack
from accelhal.runtimes.dtypes import COMMON_DTYPES, WIDE_DTYPES
from accelhal.runtimes.error_messages import classify_message
from accelhal.runtimes.event_errors import foreign_event, unrecorded_event, untimed_event
from accelhal.runtimes.torch_features import precision_settings
from accelhal.spi import Runtime, Support

_STATUS = Path("/proc/self/status")
_CLEAR_REFS = Path("/proc/self/clear_refs")
_RESET_PEAK = "5"  # proc_pid_clear_refs(5): reset the peak resident set size, Linux >= 4.0

_STORAGE_DTYPES = COMMON_DTYPES | WIDE_DTYPES | {torch.bfloat16}
_COMPUTE_DTYPES = frozenset({torch.float32, torch.float64, torch.bfloat16, torch.float16})
_AUTOCAST_DTYPES = frozenset({torch.bfloat16, torch.float16})

_entered = ContextStack()


class CpuEvent:
    """A mark in a stream of the processor, which runs every call to its end before it returns.

    Times are the host's monotonic clock.
    """

    def __init__(self, enable_timing: bool = False) -> None:
        self.enable_timing = enable_timing
        self._recorded: float | None = None

    def record(self, stream: CpuStream | None = None) -> None:
        """Mark the present moment: all earlier work is done."""
        self._recorded = time.perf_counter()

    def wait(self, stream: CpuStream | None = None) -> None:
        """Return at once: what was recorded is done."""

    def query(self) -> bool:
        """True: no work is ever pending."""
        return True

    def synchronize(self) -> None:
        """Return at once: no work is ever pending."""

    def elapsed_time(self, end: CpuEvent) -> float:
        """Milliseconds from this event to `end`.

        Raises:
            UsageError: an event was made without enable_timing, never recorded, or elsewhere.
        """
        if not isinstance(end, CpuEvent):
            raise foreign_event(end)
        if not (self.enable_timing and end.enable_timing):
            raise untimed_event()
        if self._recorded is None or end._recorded is None:
            raise unrecorded_event()
        return (end._recorded - self._recorded) * 1e3


class CpuStream:
    """An in-order queue of the processor. Calls return with their work done: it never waits."""

    def __init__(self, runtime: CpuRuntime, priority: int = 0) -> None:
        self.device = torch.device("cpu")
        self.priority = priority
        self._runtime = runtime

    def synchronize(self) -> None:
        """Return at once: no work is ever pending."""

    def query(self) -> bool:
        """True: no work is ever pending."""
        return True

    def wait_event(self, event: CpuEvent) -> None:
        """Order later work after the event; it has happened already."""

    def wait_stream(self, stream: CpuStream) -> None:
        """Order later work after the other stream's; it is done already."""

    def record_event(self, event: CpuEvent | None = None) -> CpuEvent:
        """Record an event (a new untimed one when None) and return it."""
        event = event or CpuEvent()
        event.record(self)
        return event

    def __enter__(self) -> CpuStream:
        before = self._runtime.current_stream(0)
        self._runtime.set_stream(0, self)
        _entered.push(self, lambda: self._runtime.set_stream(0, before))
        return self

    def __exit__(self, *exception: object) -> None:
        _entered.pop(self)


class CpuRuntime(Runtime):
    """The processor as one device. Its memory is the host's; a process holds its resident set."""

    def __init__(self) -> None:
        self._default_stream = CpuStream(self)
        self._current = threading.local()
        self._capabilities = _capabilities()

    # ---- identity

    def device_count(self) -> int:
        return 1

    def torch_device(self, index: int) -> torch.device:
        return torch.device("cpu")

    def properties(self, index: int) -> DeviceProperties:
        memory = memory_info()
        return DeviceProperties(
            name=cpu_model() or "CPU",
            vendor="host",
            total_memory=memory.total if memory else None,
            arch=platform.machine(),
            compute_units=os.cpu_count(),
            integrated=True,
        )

    def capabilities(self, index: int) -> Mapping[str, Support]:
        return self._capabilities

    def supported_dtypes(self, index: int) -> SupportedDtypes:
        return SupportedDtypes(_STORAGE_DTYPES, _COMPUTE_DTYPES, _AUTOCAST_DTYPES)

    def locate(self, index: int) -> Location:
        return Location(None, "the processor is not a board")

    # ---- the current device

    def current_device(self) -> int:
        return 0

    def set_device(self, index: int) -> None:
        """Nothing to change: there is one processor device."""

    # ---- execution

    def synchronize(self, index: int) -> None:
        torch.cpu.synchronize()

    def create_stream(self, index: int, priority: int = 0) -> CpuStream:
        return CpuStream(self, priority)

    def current_stream(self, index: int) -> CpuStream:
        stream: CpuStream = getattr(self._current, "stream", self._default_stream)
        return stream

    def default_stream(self, index: int) -> CpuStream:
        return self._default_stream

    def set_stream(self, index: int, stream: CpuStream) -> None:
        self._current.stream = stream

    def create_event(
        self, index: int, enable_timing: bool = False, blocking: bool = False
    ) -> CpuEvent:
        return CpuEvent(enable_timing)

    # ---- memory

    def mem_get_info(self, index: int) -> tuple[int, int]:
        memory = memory_info()
        assert memory is not None, "declared only where the host reports its memory"
        return memory.available, memory.total

    def memory_allocated(self, index: int) -> int:
        """Resident set of this process, Python and libraries included."""
        return _status_bytes("VmRSS")

    def max_memory_allocated(self, index: int) -> int:
        """Peak resident set of this process since the last reset."""
        return _status_bytes("VmHWM")

    def memory_stats(self, index: int) -> MemoryStats:
        return MemoryStats(allocated=_status_bytes("VmRSS"), peak_allocated=_status_bytes("VmHWM"))

    def reset_peak_memory_stats(self, index: int) -> None:
        _CLEAR_REFS.write_text(_RESET_PEAK)

    # ---- random numbers

    def manual_seed(self, index: int, seed: int) -> None:
        torch.default_generator.manual_seed(seed)

    def get_rng_state(self, index: int) -> torch.Tensor:
        return torch.get_rng_state()

    def set_rng_state(self, index: int, state: torch.Tensor) -> None:
        torch.set_rng_state(state)

    # ---- precision

    def autocast(self, index: int, dtype: torch.dtype) -> AbstractContextManager[Any]:
        return torch.autocast("cpu", dtype=dtype)

    def get_float32_precision(self, index: int) -> str:
        # torch answers what a setting inherits; "none" anywhere is the IEEE default.
        found = {str(setting.fp32_precision) for setting in _precision_settings()}
        return min(found - {"none", "ieee"}, default="ieee")  # "bf16", the coarser, before "tf32"

    def set_float32_precision(self, index: int, precision: str) -> None:
        try:
            for setting in _precision_settings():
                setting.fp32_precision = precision
        except RuntimeError as error:
            raise ValueError(str(error)) from error

    # ---- errors

    def classify_error(self, error: BaseException) -> ErrorKind:
        return classify_message(error)


def _capabilities() -> Mapping[str, Support]:
    found = {
        "streams": Support.EMULATED,
        "events": Support.EMULATED,
        "autocast": Support.NATIVE,
    }
    if memory_info() is not None:
        found["memory_info"] = Support.NATIVE
    if _STATUS.exists() and os.access(_CLEAR_REFS, os.W_OK):
        found["memory_stats"] = Support.EMULATED
    if _precision_settings():
        found["float32_precision"] = Support.NATIVE
    return found


def _precision_settings() -> tuple[Any, ...]:
    """The settings of the products that oneDNN computes, by operator."""
    return precision_settings("mkldnn.matmul", "mkldnn.conv", "mkldnn.rnn")


def _status_bytes(field: str) -> int:
    """A field of /proc/self/status that is given in KiB, in bytes.

    The file is opened at each call: one kept open would go on showing the parent after a fork.
    """
    for line in _STATUS.read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise OSError(f"{_STATUS} has no field {field}")
