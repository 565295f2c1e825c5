"""What a plugin implements: a BackendSpec, a Runtime, and where the driver has one a Management.

A Runtime holds vendor calls and no validation: `accelhal.Device` checks arguments, capabilities and
errors once for all of them. Importing this module loads neither torch nor a vendor package.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from accelhal.errors import ErrorKind, UnsupportedError
from accelhal.facts import (
    BoardDetails,
    BoardInfo,
    BoardKey,
    DeviceProperties,
    HealthReport,
    HealthStatus,
    Link,
    Location,
    MemoryErrors,
    MemoryStats,
    Partition,
    PcieLink,
    Probe,
    ProcessMemory,
    Relation,
    SupportedDtypes,
    Telemetry,
)
from accelhal.host import Host
from accelhal.host.device_nodes import DeviceNodes
from accelhal.host.library_search import LibraryFile
from accelhal.host.visible_devices import VisibleDevices

if TYPE_CHECKING:
    import torch

API_VERSION = (1, 1)
"""(major, minor) of this interface. A plugin's major must match; minors only add options."""

ENTRY_POINT_GROUP = "accelhal.backends"

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

EXTENSIONS: Mapping[str, str] = {
    "doctor_facts": "facts that only this vendor's host shows",
    "doctor_rules": "checks over those facts",
    "compatibility": "driver, toolkit and torch pairs known to work or not",
    "faults": "the vendor's fault codes, their severity and remedy",
    "evidence_readers": "readers of the vendor tools' output",
    "sanitizer": "the vendor's memory and race checker",
    "profiler_ranges": "named ranges for the vendor's profiler",
    "occupancy": "occupancy calculator",
    "operators": "which operators have kernels, and what runs the others",
    "conformance": "how the conformance suite makes tensors and faults, what it expects to fail",
    "ray_resource": "resource name under Ray",
    "board_models": "nominal figures of the vendor's boards",
}
"""The closed list of extension keys: what is a vendor's by nature, reached by name alone."""


class Support(str, Enum):
    """How a device has a capability; an absent one is simply not listed."""

    NATIVE = "native"
    EMULATED = "emulated"


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


class Management(ABC):
    """The driver-library side of a backend: all boards of the host, without torch.

    Optional methods answer "not reported" until overridden. A value that the driver does not
    report is None with its reason; an exception means that the board or the library failed.

    Attributes:
        sources: what each figure is read from: "class.field" of accelhal.facts ("Telemetry.power")
            -> the driver's call or file.
    """

    sources: ClassVar[Mapping[str, str]] = {}

    @abstractmethod
    def boards(self) -> Sequence[BoardInfo]:
        """Every board of this vendor, visible to this process or not; each carries its key."""

    def telemetry(self, board: BoardKey) -> Telemetry:
        """Sensors of the board."""
        return Telemetry(reasons={"*": "this backend reads no sensors"})

    def health(self, board: BoardKey) -> HealthReport:
        """Health of the board."""
        return HealthReport(HealthStatus.UNKNOWN, reason="this backend reads no health")

    def details(self, board: BoardKey) -> BoardDetails:
        """What of the board changes seldom or never. Since 1.1."""
        return BoardDetails(reasons={"*": "this backend reads no details"})

    def memory_errors(self, board: BoardKey) -> MemoryErrors:
        """Errors of the board's memory and their repair. Since 1.1."""
        return MemoryErrors(reasons={"*": "this backend reads no memory errors"})

    def pcie(self, board: BoardKey) -> PcieLink:
        """The board's link to the host. Since 1.1."""
        return PcieLink(reasons={"*": "this backend reads no PCIe link"})

    def links(self, board: BoardKey) -> Sequence[Link]:
        """Links of the board to other boards and to the host."""
        return ()

    def processes(self, board: BoardKey) -> Sequence[ProcessMemory]:
        """Processes that hold memory on the board."""
        return ()

    def partitions(self, board: BoardKey) -> Sequence[Partition]:
        """Slices the board is cut into."""
        return ()

    def relation(self, board: BoardKey, other: BoardKey) -> Relation | None:
        """How near the two boards are, by the driver's word; None where it has none. Since 1.1."""
        return None

    def versions(self) -> Mapping[str, str]:
        """Versions that the driver reports: "driver", "library", "toolkit". Since 1.1."""
        return {}

    def close(self) -> None:  # noqa: B027  (optional: most libraries need no shutdown)
        """Release the driver library."""


@dataclass(frozen=True, kw_only=True)
class BackendSpec:
    """One backend, described without importing torch or the vendor's package.

    The entry point `accelhal.backends` of the plugin names a module-level instance.

    Attributes:
        name: torch device type ("npu"); also the entry point's name.
        vendor: the vendor's name.
        api_version: the interface version the plugin was written for.
        priority: automatic choice takes the highest; accelhal's cpu has 0.
        probe: looks at the host and says whether the backend can be used; imports no vendor
            package, opens nothing, takes under 50 ms.
        open_runtime: imports what it needs and returns the Runtime.
        open_management: loads the driver library and returns the Management, or None.
        driver_library: the file that open_management loads; where the loader would not find it,
            nothing is started. None where only trying can tell. Since 1.1.
        torch_package: the package that adds `torch.<name>` ("torch_npu"), or None.
        needs_privateuse1: whether it takes torch's one place for out-of-tree devices.
        visible_devices: the variables that hide devices; the first one set wins.
        device_nodes: what the driver puts under /dev.
        distributed_backend: name of the collective library for torch.distributed.
        pci_vendor_ids: four hexadecimal digits, lower case.
        simulated: True where there is no hardware behind it.
        extensions: keys of EXTENSIONS -> "package.module:attribute".
    """

    name: str
    vendor: str
    api_version: tuple[int, int]
    priority: int
    probe: Callable[[Host], Probe]
    open_runtime: Callable[[], Runtime]
    open_management: Callable[[], Management] | None = None
    driver_library: LibraryFile | None = None
    torch_package: str | None = None
    needs_privateuse1: bool = False
    visible_devices: tuple[VisibleDevices, ...] = ()
    device_nodes: tuple[DeviceNodes, ...] = ()
    distributed_backend: str = "gloo"
    pci_vendor_ids: tuple[str, ...] = ()
    simulated: bool = False
    extensions: Mapping[str, str] = field(default_factory=dict)
