"""Device: what a program holds, with every check that stands before a runtime's call."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any

from accelhal.device_name import DeviceName
from accelhal.errors import (
    AccelhalError,
    BackendConflictError,
    BackendLoadError,
    DeviceNotFoundError,
    ErrorKind,
    UnsupportedError,
    UsageError,
    described,
    message_of,
)
from accelhal.facade.arguments import CAPTURE_ERROR_MODES, SEEDS, as_fraction, as_integer
from accelhal.facade.contexts import StreamContext, entered
from accelhal.facts import (
    BoardInfo,
    BoardKey,
    DeviceProperties,
    HealthReport,
    HealthStatus,
    Location,
    MemoryStats,
    SupportedDtypes,
    Telemetry,
)
from accelhal.management.finding import FoundBoard, find_board
from accelhal.management.planes import open_management
from accelhal.registry import OpenBackend, open_backend
from accelhal.runtimes.translation import kind_of, translated
from accelhal.spi import CAPABILITIES, REQUIRED_CAPABILITY, BackendSpec, Management, Support

if TYPE_CHECKING:
    import torch

_RUNTIME_METHODS = (
    "properties",
    "locate",
    "set_device",
    "synchronize",
    "manual_seed",
    "get_rng_state",
    "set_rng_state",
    "supported_dtypes",
    "graph_limit",
    *REQUIRED_CAPABILITY,
)
"""The Runtime methods that take an index and are called through `Device._call`."""


class Device:
    """A device that torch computes on. Cheap, hashable, picklable; made by `accelhal.device()`.

    `with device:` makes it current for the calling thread and restores the former one.

    Attributes:
        index: torch's index, always explicit.
        torch_device: what to pass to torch: `torch.ones(3, device=device.torch_device)`.
    """

    __slots__ = ("_backend", "_methods", "_runtime", "_supported", "index", "torch_device")

    index: int
    torch_device: torch.device

    def __init__(self, backend: OpenBackend, index: int) -> None:
        count = backend.ask("device_count")
        if not 0 <= index < count:
            name = backend.spec.name
            raise DeviceNotFoundError(
                f"{name}:{index} does not exist: {name} has {count} device{'s' * (count != 1)}",
                backend=name,
                device=f"{name}:{index}",
                operation="device",
                hint=_which_index(backend.spec, count),
            )
        self._backend = backend
        self._runtime = backend.runtime
        self.index = index
        self.torch_device = backend.ask("torch_device", index)
        self._supported = _declared(backend, backend.ask("capabilities", index))
        self._methods: dict[str, Callable[..., Any]] = {
            method: getattr(backend.runtime, method)
            for method in _RUNTIME_METHODS
            if REQUIRED_CAPABILITY.get(method) in (None, *self._supported)
        }

    # ---- identity

    @property
    def backend(self) -> str:
        """Backend name ("cuda")."""
        return self._backend.spec.name

    @property
    def vendor(self) -> str:
        """The vendor's name."""
        return self._backend.spec.vendor

    @property
    def simulated(self) -> bool:
        """True where the board exists in software alone."""
        return self._backend.spec.simulated

    @property
    def distributed_backend(self) -> str:
        """Name of the backend's collective library for torch.distributed ("nccl", "gloo")."""
        return self._backend.spec.distributed_backend

    @property
    def properties(self) -> DeviceProperties:
        """What the device is; memory in bytes."""
        return self._call("properties")

    @property
    def location(self) -> Location:
        """The key of the board under the device, or why it cannot be told."""
        return self._call("locate")

    @property
    def board(self) -> BoardInfo | None:
        """The board under the device; None where it cannot be told. Never raises."""
        return self.find_board().board

    def find_board(self) -> FoundBoard:
        """The board under the device, or None and why it cannot be told. Never raises."""
        try:
            location = self._runtime.locate(self.index)
        except Exception as error:  # the plugin's
            return FoundBoard(None, described(error))
        return find_board(self._backend.spec, location)

    def supports(self, capability: str) -> Support | None:
        """How the device has a capability: NATIVE, EMULATED, or None where it has not.

        Raises:
            UsageError: `capability` is not in `accelhal.spi.CAPABILITIES`.
        """
        if not isinstance(capability, str) or capability not in CAPABILITIES:
            raise UsageError(
                f"{capability!r} is not a capability",
                operation="supports",
                hint=f"one of: {', '.join(CAPABILITIES)}",
            )
        return self._supported.get(capability)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Device)
            and self.index == other.index
            and self._backend is other._backend
        )

    def __hash__(self) -> int:
        return hash((self.backend, self.index))

    def __str__(self) -> str:
        return f"{self.backend}:{self.index}"

    def __repr__(self) -> str:
        return f"<accelhal.Device {self}>"

    def __copy__(self) -> Device:
        return self

    def __deepcopy__(self, memo: object) -> Device:
        return self

    def __reduce__(self) -> tuple[Callable[..., Device], tuple[object, ...]]:
        return _rebind, (
            self.backend,
            self._backend.distribution,
            self.index,
            self.location.key,
            _masks(self._backend.spec),
        )

    # ---- the current device and stream of the calling thread

    def __enter__(self) -> Device:
        before = self._backend.ask("current_device")
        self._call("set_device")
        entered.push(self, partial(self._backend.ask, "set_device", before))
        return self

    def __exit__(self, *exception: object) -> None:
        entered.pop(self)

    def stream(self, stream: Any) -> AbstractContextManager[Any]:
        """Context in which `stream` is current, and with it this device; None changes nothing.

        One stream may be entered twice, and by several threads at once; each leaves what it found.

        Raises:
            UsageError: the stream is another device's.
        """
        self._check_capability("set_stream")
        if stream is not None:
            self._check_stream(stream)
        return StreamContext(self, stream)

    def Stream(self, priority: int = 0) -> Any:
        """A new stream: the vendor's own torch object. Lower numbers are more urgent.

        Raises:
            UsageError: the priority is no integer.
        """
        number = as_integer(priority)
        if number is None:
            raise self._misused("Stream", f"the priority must be an integer, not {priority!r}")
        return self._call("create_stream", number)

    def Event(self, enable_timing: bool = False, blocking: bool = False) -> Any:
        """A new event: the vendor's own torch object.

        Args:
            enable_timing: let `elapsed_time` measure it, in milliseconds.
            blocking: let `synchronize` sleep rather than spin, where the vendor can.

        Raises:
            UsageError: an argument that is neither True nor False.
        """
        for name, flag in (("enable_timing", enable_timing), ("blocking", blocking)):
            if not isinstance(flag, bool):
                raise self._misused("Event", f"{name} must be True or False, not {flag!r}")
        return self._call("create_event", enable_timing, blocking)

    def current_stream(self) -> Any:
        """The calling thread's current stream on this device."""
        return self._call("current_stream")

    def default_stream(self) -> Any:
        """The device's default stream."""
        return self._call("default_stream")

    def synchronize(self) -> None:
        """Wait until all work queued on the device is done."""
        self._call("synchronize")

    # ---- graphs

    def Graph(self) -> Any:
        """A new, empty graph: the vendor's own torch object, with `replay()` and `reset()`."""
        return self._call("create_graph")

    def graph(
        self,
        graph: Any,
        *,
        pool: Any = None,
        stream: Any = None,
        capture_error_mode: str = "global",
    ) -> AbstractContextManager[Any]:
        """Context in which work on this device is recorded into `graph` instead of run.

        The mode is always passed on: the vendors' defaults differ.

        Args:
            graph: made by `Graph()`.
            pool: memory shared with other graphs: `graph_pool_handle()` or another graph's pool.
            stream: stream of this device to capture on; a new one when None.
            capture_error_mode: which threads' unsafe calls end the capture: "global",
                "thread_local" or "relaxed".

        Raises:
            UsageError: an unknown mode, or another device's stream.
        """
        self._check_capability("capture_graph")
        if capture_error_mode not in CAPTURE_ERROR_MODES:
            raise UsageError(
                f"{capture_error_mode!r} is not a capture error mode",
                device=str(self),
                operation="graph",
                hint=f"one of: {', '.join(CAPTURE_ERROR_MODES)}",
            )
        if stream is not None:
            self._check_stream(stream)
        return self._call(
            "capture_graph", graph, pool=pool, stream=stream, capture_error_mode=capture_error_mode
        )

    def graph_pool_handle(self) -> Any:
        """A memory pool that several graphs may share."""
        return self._call("graph_pool_handle")

    @property
    def graph_limit(self) -> int | None:
        """Graphs that this device holds at once; None where memory alone limits them."""
        return self._call("graph_limit")

    def make_graphed_callables(
        self,
        callables: Any,
        sample_args: Any,
        *,
        num_warmup_iters: int = 3,
        allow_unused_input: bool = False,
        pool: Any = None,
    ) -> Any:
        """The vendor's own `make_graphed_callables`: forward and backward passes as graphs.

        Args:
            callables: a function or module, or a tuple of them in the order in which they run.
            sample_args: its arguments, a tuple of tensors; a tuple of those for several callables.
            num_warmup_iters: runs before the capture.
            allow_unused_input: let some arguments have no gradient.
            pool: memory shared with other graphs: `graph_pool_handle()` or another graph's pool.

        Raises:
            UsageError: the number of warm-up runs is not an integer, 0 or more.
        """
        self._check_capability("make_graphed_callables")
        rounds = as_integer(num_warmup_iters)
        if rounds is None or rounds < 0:
            raise self._misused(
                "make_graphed_callables",
                f"num_warmup_iters must be an integer, 0 or more, not {num_warmup_iters!r}",
            )
        return self._call(
            "make_graphed_callables",
            callables,
            sample_args,
            num_warmup_iters=rounds,
            allow_unused_input=allow_unused_input,
            pool=pool,
        )

    # ---- memory, in bytes

    def mem_get_info(self) -> tuple[int, int]:
        """(free, total) memory of the device, in bytes."""
        return self._call("mem_get_info")

    def memory_allocated(self) -> int:
        """Bytes held by this process's tensors (on cpu: its resident set)."""
        return self._call("memory_allocated")

    def max_memory_allocated(self) -> int:
        """Largest `memory_allocated()` since the last reset, in bytes."""
        return self._call("max_memory_allocated")

    def memory_reserved(self) -> int:
        """Bytes held by this process's caching allocator."""
        return self._call("memory_reserved")

    def max_memory_reserved(self) -> int:
        """Largest `memory_reserved()` since the last reset, in bytes."""
        return self._call("max_memory_reserved")

    def memory_stats(self) -> MemoryStats:
        """All memory figures the device reports; None where it does not."""
        return self._call("memory_stats")

    def reset_peak_memory_stats(self) -> None:
        """Lower the peaks to the current figures."""
        self._call("reset_peak_memory_stats")

    def empty_cache(self) -> None:
        """Return unused cached memory to the driver."""
        self._call("empty_cache")

    def set_per_process_memory_fraction(self, fraction: float) -> None:
        """Cap this process at a share of the device's memory.

        Raises:
            UsageError: `fraction` is not a number from 0 to 1.
        """
        number = as_fraction(fraction)
        if number is None:
            raise self._misused(
                "set_per_process_memory_fraction",
                f"the memory fraction must be a number from 0 to 1, not {fraction!r}",
            )
        self._call("set_per_process_memory_fraction", number)

    def pin_memory(self, tensor: torch.Tensor) -> torch.Tensor:
        """A copy of a host tensor in page-locked memory (the tensor itself when already pinned).

        Raises:
            UsageError: not a tensor on the host.
        """
        where = getattr(getattr(tensor, "device", None), "type", None)
        if where != "cpu":
            raise UsageError(
                f"pin_memory takes a tensor on the cpu, not {where or type(tensor).__name__}",
                device=str(self),
                operation="pin_memory",
                hint="call tensor.cpu() first",
            )
        return self._call("pin_memory", tensor)

    def can_access_peer(self, other: Device) -> bool:
        """Whether this device reads `other`'s memory directly; always between a device and itself.

        Devices of different backends never do.
        """
        if not isinstance(other, Device):
            raise UsageError(f"{other!r} is not a Device", operation="can_access_peer")
        self._check_capability("can_access_peer")
        if other._backend is not self._backend:
            return False
        return self == other or self._call("can_access_peer", other.index)

    # ---- random numbers

    def manual_seed(self, seed: int) -> None:
        """Seed this device's default generator.

        Raises:
            UsageError: not an integer from -2**63 to 2**64 - 1, torch's own range.
        """
        number = as_integer(seed)
        if number is None or number not in SEEDS:
            raise self._misused(
                "manual_seed",
                f"the seed must be an integer from -2**63 to 2**64 - 1, not {seed!r}",
            )
        self._call("manual_seed", number)

    def get_rng_state(self) -> torch.Tensor:
        """State of this device's default generator: a uint8 tensor on the host."""
        return self._call("get_rng_state")

    def set_rng_state(self, state: torch.Tensor) -> None:
        """Restore a state taken by `get_rng_state` on a device of this backend.

        Raises:
            UsageError: not such a state.
        """
        import torch

        if not (
            isinstance(state, torch.Tensor)
            and state.dtype is torch.uint8
            and state.device.type == "cpu"
        ):
            raise self._misused(
                "set_rng_state",
                f"the state must be a uint8 tensor on the cpu, not {type(state).__name__}"
                + (f" of {state.dtype} on {state.device}" if hasattr(state, "device") else ""),
            )
        self._call("set_rng_state", state)

    # ---- precision

    def supported_dtypes(self) -> SupportedDtypes:
        """Element types the device holds, multiplies, and takes under autocast."""
        return self._call("supported_dtypes")

    def autocast(self, dtype: torch.dtype) -> AbstractContextManager[Any]:
        """Context in which eligible operators run in `dtype`.

        Raises:
            UsageError: the device has no autocast in `dtype` (torch itself may only warn).
        """
        self._check_capability("autocast")
        known = self.supported_dtypes().autocast
        if dtype not in tuple(known):  # by equality: what is no dtype need not be hashable
            raise UsageError(
                f"{self} has no autocast in {dtype}",
                device=str(self),
                operation="autocast",
                hint=f"one of: {', '.join(sorted(map(str, known)))}",
            )
        return self._call("autocast", dtype)

    @property
    def float32_precision(self) -> str:
        """How float32 products are computed, in torch's words: "ieee" or "tf32".

        "ieee" is a promise for all of them. Setting it holds for the whole process.
        """
        return self._call("get_float32_precision")

    @float32_precision.setter
    def float32_precision(self, precision: str) -> None:
        self._check_capability("set_float32_precision")
        if not isinstance(precision, str):
            raise self._misused(
                "float32_precision", f"the precision must be a string, not {precision!r}"
            )
        try:
            self._call("set_float32_precision", precision)
        except ValueError as error:
            if isinstance(error, AccelhalError):
                raise
            raise UsageError(
                f"{self} has no float32 precision {precision!r}: {error}",
                device=str(self),
                operation="float32_precision",
                hint='"ieee" or "tf32"',
            ) from error

    # ---- errors

    def classify_error(self, error: BaseException) -> ErrorKind:
        """What an error raised by code on this device means; never raises."""
        return kind_of(error, self._runtime)

    # ---- health: these never raise

    def telemetry(self) -> Telemetry:
        """The board's sensors; None with a reason for what is not reported."""
        management, key, reason = self._managed_board()
        if management is None or key is None:
            return Telemetry(reasons={"*": reason})
        try:
            return management.telemetry(key)
        except Exception as error:
            return Telemetry(reasons={"*": described(error)})

    def health(self) -> HealthReport:
        """The board's health; UNKNOWN with a reason where it cannot be seen."""
        management, key, reason = self._managed_board()
        if management is None or key is None:
            return HealthReport(HealthStatus.UNKNOWN, reason=reason)
        try:
            return management.health(key)
        except Exception as error:
            return HealthReport(HealthStatus.UNKNOWN, reason=described(error))

    def _managed_board(self) -> tuple[Management | None, BoardKey | None, str]:
        try:
            location = self._runtime.locate(self.index)
            if location.key is None:
                return None, None, location.reason
            return open_management(self._backend.spec), location.key, ""
        except AccelhalError as error:
            return None, None, message_of(error)
        except Exception as error:
            return None, None, described(error)

    # ---- the checks that stand before every call

    def _call(self, operation: str, *args: object, **kwargs: object) -> Any:
        """Run a Runtime method on this device: capability checked, errors translated."""
        method = self._methods.get(operation)
        if method is None:
            raise self._unsupported(operation)
        try:
            return method(self.index, *args, **kwargs)
        except Exception as error:
            known = translated(
                error,
                self._runtime,
                backend=self.backend,
                device=str(self),
                operation=operation,
            )
            if known is None or known is error:
                raise
            raise known from error

    def _unsupported(self, operation: str) -> UnsupportedError:
        capability = REQUIRED_CAPABILITY[operation]
        return UnsupportedError(
            f"{self} has no {capability} ({CAPABILITIES[capability]})",
            backend=self.backend,
            device=str(self),
            operation=operation,
            capability=capability,
            hint=f"ask first: device.supports({capability!r})",
        )

    def _misused(self, operation: str, message: str) -> UsageError:
        return UsageError(message, backend=self.backend, device=str(self), operation=operation)

    def _check_capability(self, operation: str) -> None:
        if operation not in self._methods:
            raise self._unsupported(operation)

    def _check_stream(self, stream: Any) -> None:
        # Tensors and the vendors' events have a device too; only streams wait for events.
        where = getattr(stream, "device", None) if hasattr(stream, "wait_event") else None
        if where != self.torch_device:
            raise UsageError(
                f"{self} cannot enter a stream of {where or type(stream).__name__}",
                device=str(self),
                operation="stream",
                hint="make the stream with this device's Stream()",
            )


def _which_index(spec: BackendSpec, count: int) -> str:
    indices = f"use {spec.name}:0" + (f" to {spec.name}:{count - 1}" if count > 1 else "")
    masks = " or ".join(mask.variable for mask in spec.visible_devices)
    return f"{indices}; {masks} may hide some" if masks else indices


def _declared(backend: OpenBackend, capabilities: object) -> Mapping[str, Support]:
    if isinstance(capabilities, Mapping) and all(
        isinstance(support, Support) for support in capabilities.values()
    ):
        return capabilities
    raise BackendLoadError(
        f"{backend.spec.name}: capabilities() must answer a mapping of names to Support, "
        f"not {capabilities!r}",
        backend=backend.spec.name,
        operation="capabilities",
        hint="report this to the plugin's author",
    )


def _masks(spec: BackendSpec) -> dict[str, str]:
    """The variables that hide the backend's devices, as this process has them."""
    names = (mask.variable for mask in spec.visible_devices)
    return {name: os.environ[name] for name in names if name in os.environ}


def _rebind(
    backend: str,
    distribution: str,
    index: int,
    key: BoardKey | None,
    masks: Mapping[str, str],
) -> Device:
    """Unpickle: the device on the same board, whatever its index in this process."""
    try:
        opened = open_backend(DeviceName(backend))
    except BackendConflictError:  # the sender had pinned one of several
        opened = open_backend(DeviceName(backend, distribution))
    if key is None:
        if masks != _masks(opened.spec):
            raise _not_rebound(
                backend,
                f"{backend}:{index}, sent here without the name of its board, may be another one: "
                "the processes' variables that hide devices differ",
            )
        return Device(opened, index)
    locations = [opened.ask("locate", i) for i in range(opened.ask("device_count"))]
    places = [i for i, location in enumerate(locations) if location.key == key]
    if not places:  # the two variables may name one board in two ways
        board = find_board(opened.spec, Location(key)).board
        if board is not None:
            here = [find_board(opened.spec, location).board for location in locations]
            places = [i for i, other in enumerate(here) if other and other.key == board.key]
    if len(places) == 1:
        return Device(opened, places[0])
    raise _not_rebound(
        backend, f"board {key.value} ({key.source}), sent here as {backend}:{index}, is not visible"
    )


def _not_rebound(backend: str, message: str) -> DeviceNotFoundError:
    return DeviceNotFoundError(
        message,
        backend=backend,
        operation="unpickle",
        hint="give both processes a visible-devices variable that shows the board",
    )
