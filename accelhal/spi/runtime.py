"""The torch side of a backend.

A Runtime holds vendor calls and no validation: `accelhal.Device` checks arguments, capabilities and
errors once for all of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NoReturn

from accelhal.errors import ErrorKind, UnsupportedError
from accelhal.facts import DeviceProperties, Location, MemoryStats, SupportedDtypes
from accelhal.spi.capabilities import REQUIRED_CAPABILITY, Support

if TYPE_CHECKING:
    import torch


class Runtime(ABC):
    """The torch side of a backend. Indices are torch's: they follow the visible-devices variable.

    Optional methods raise UnsupportedError until overridden; `capabilities` says which ones work.
    """

    # ---- identity

    @abstractmethod
    def device_count(self) -> int:
        """Devices that this process sees."""

    @abstractmethod
    def torch_device(self, index: int) -> torch.device:
        """The torch.device that tensors on this device carry."""

    @abstractmethod
    def properties(self, index: int) -> DeviceProperties:
        """What the device is."""

    @abstractmethod
    def capabilities(self, index: int) -> Mapping[str, Support]:
        """Capabilities of the device; keys are from CAPABILITIES."""

    @abstractmethod
    def supported_dtypes(self, index: int) -> SupportedDtypes:
        """Element types of the device."""

    def locate(self, index: int) -> Location:
        """The board under the device, or why it cannot be told."""
        return Location(None, f"this backend does not say which board device {index} is")

    # ---- the current device, per thread

    @abstractmethod
    def current_device(self) -> int:
        """Index of the calling thread's current device."""

    @abstractmethod
    def set_device(self, index: int) -> None:
        """Make the device current for the calling thread."""

    # ---- execution

    @abstractmethod
    def synchronize(self, index: int) -> None:
        """Wait until all work queued on the device is done."""

    def create_stream(self, index: int, priority: int = 0) -> Any:
        """A new stream on the device: the vendor's own torch object."""
        _absent("create_stream")

    def current_stream(self, index: int) -> Any:
        """The calling thread's current stream on the device."""
        _absent("current_stream")

    def default_stream(self, index: int) -> Any:
        """The device's default stream."""
        _absent("default_stream")

    def set_stream(self, index: int, stream: Any) -> None:
        """Make `stream`, of device `index`, that device's current stream in the calling thread.

        May leave the device current; the caller restores it.
        """
        _absent("set_stream")

    def create_event(self, index: int, enable_timing: bool = False, blocking: bool = False) -> Any:
        """A new event for the device: the vendor's own torch object."""
        _absent("create_event")

    # ---- graphs

    def create_graph(self, index: int) -> Any:
        """A new, empty graph: the vendor's own torch object, with replay() and reset()."""
        _absent("create_graph")

    def capture_graph(
        self, index: int, graph: Any, *, pool: Any, stream: Any, capture_error_mode: str
    ) -> AbstractContextManager[Any]:
        """Context in which work on the device is recorded into `graph` instead of run."""
        _absent("capture_graph")

    def graph_pool_handle(self, index: int) -> Any:
        """A memory pool that several graphs may share."""
        _absent("graph_pool_handle")

    def graph_limit(self, index: int) -> int | None:
        """Graphs that the device holds at once; None where memory alone limits them. Since 1.1."""
        return None

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
        """The vendor's `make_graphed_callables`, with torch's arguments. Since 1.1."""
        _absent("make_graphed_callables")

    # ---- memory, in bytes

    def mem_get_info(self, index: int) -> tuple[int, int]:
        """(free, total) memory of the device."""
        _absent("mem_get_info")

    def memory_allocated(self, index: int) -> int:
        """Memory held by this process's tensors."""
        _absent("memory_allocated")

    def max_memory_allocated(self, index: int) -> int:
        """Largest `memory_allocated` since the last reset."""
        _absent("max_memory_allocated")

    def memory_reserved(self, index: int) -> int:
        """Memory held by the process's caching allocator."""
        _absent("memory_reserved")

    def max_memory_reserved(self, index: int) -> int:
        """Largest `memory_reserved` since the last reset."""
        _absent("max_memory_reserved")

    def memory_stats(self, index: int) -> MemoryStats:
        """All memory figures the device reports."""
        _absent("memory_stats")

    def reset_peak_memory_stats(self, index: int) -> None:
        """Lower the peaks to the current figures."""
        _absent("reset_peak_memory_stats")

    def empty_cache(self, index: int) -> None:
        """Return unused cached memory to the driver."""
        _absent("empty_cache")

    def set_per_process_memory_fraction(self, index: int, fraction: float) -> None:
        """Cap this process at `fraction` (0 to 1) of the device's memory."""
        _absent("set_per_process_memory_fraction")

    def pin_memory(self, index: int, tensor: torch.Tensor) -> torch.Tensor:
        """A copy of a host tensor in page-locked memory (the tensor itself when already pinned)."""
        _absent("pin_memory")

    def can_access_peer(self, index: int, peer: int) -> bool:
        """Whether the device reads another device's memory directly."""
        _absent("can_access_peer")

    # ---- random numbers

    @abstractmethod
    def manual_seed(self, index: int, seed: int) -> None:
        """Seed the device's default generator."""

    @abstractmethod
    def get_rng_state(self, index: int) -> torch.Tensor:
        """State of the device's default generator, a uint8 tensor on the host."""

    @abstractmethod
    def set_rng_state(self, index: int, state: torch.Tensor) -> None:
        """Restore a state taken by `get_rng_state`."""

    # ---- precision

    def autocast(self, index: int, dtype: torch.dtype) -> AbstractContextManager[Any]:
        """Context in which eligible operators run in `dtype`."""
        _absent("autocast")

    def get_float32_precision(self, index: int) -> str:
        """How float32 products are computed: "ieee", or a reduced form such as "tf32"."""
        _absent("get_float32_precision")

    def set_float32_precision(self, index: int, precision: str) -> None:
        """Choose how float32 products are computed; raises ValueError for an unknown choice."""
        _absent("set_float32_precision")

    # ---- errors

    def classify_error(self, error: BaseException) -> ErrorKind:
        """Kind of an error raised by code that ran on this backend; never raises."""
        return ErrorKind.UNKNOWN


def _absent(method: str) -> NoReturn:
    capability = REQUIRED_CAPABILITY[method]
    raise UnsupportedError(
        f"{method} needs the capability {capability!r}, which this device does not have",
        operation=method,
        capability=capability,
    )
