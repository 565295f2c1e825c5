"""TorchModuleRuntime over a stand-in device module: each call reaches the right index."""

from __future__ import annotations

import pytest
import torch
from device_module import DeviceModule, Event

from accelhal.errors import BackendIncompatibleError, ErrorKind
from accelhal.facts import BoardKey, MemoryStats
from accelhal.runtimes.torch_module import TorchModuleRuntime
from accelhal.spi import Support

STATS = {
    "allocated_bytes.all.current": 1,
    "allocated_bytes.all.peak": 2,
    "reserved_bytes.all.current": 3,
    "reserved_bytes.all.peak": 4,
    "inactive_split_bytes.all.current": 5,
    "allocation.all.current": 6,
    "num_alloc_retries": 7,
    "num_ooms": 8,
}


@pytest.fixture
def module() -> DeviceModule:
    return DeviceModule(count=2, stats=dict(STATS))


@pytest.fixture
def runtime(module: DeviceModule) -> TorchModuleRuntime:
    """The device type is one that every torch knows; its module is the stand-in."""
    runtime = TorchModuleRuntime("cuda", "Acme")
    runtime.module = module
    return runtime


def test_a_type_that_torch_does_not_have_is_refused() -> None:
    with pytest.raises(BackendIncompatibleError, match=r"no torch\.nothing"):
        TorchModuleRuntime("nothing", "Acme")


@pytest.mark.parametrize(
    ("available", "count", "expected"), [(True, 2, 2), (True, 0, 0), (False, 2, 0)]
)
def test_devices_count_only_where_both_answers_agree(
    runtime: TorchModuleRuntime, module: DeviceModule, available: bool, count: int, expected: int
) -> None:
    module.available, module.count = available, count
    assert runtime.device_count() == expected
    # Without devices some vendors abort the process in any other call.
    assert {name for name, *_ in module.calls} <= {"is_available", "device_count"}


def test_properties(runtime: TorchModuleRuntime, module: DeviceModule) -> None:
    module.property_fields = {"multi_processor_count": 7, "uuid": "u-1", "is_integrated": 0}
    found = runtime.properties(1)
    assert (found.name, found.vendor, found.total_memory) == ("board 1", "Acme", 1001)
    assert (found.compute_units, found.uuid, found.integrated) == (7, "u-1", False)
    assert runtime.locate(1).key == BoardKey("cuda", "uuid", "u-1")


def test_what_torch_does_not_report_is_none(runtime: TorchModuleRuntime) -> None:
    found = runtime.properties(0)
    assert (found.uuid, found.compute_units, found.integrated) == (None, None, None)
    location = runtime.locate(0)
    assert location.key is None
    assert "no UUID" in location.reason


def test_capabilities_follow_the_module_s_names(
    runtime: TorchModuleRuntime, module: DeviceModule
) -> None:
    found = runtime.capabilities(0)
    assert set(found.values()) == {Support.NATIVE}
    assert {"streams", "events", "memory_stats", "peer_access", "autocast"} <= found.keys()
    assert "float32_precision" not in found

    class Bare:
        Event = Event

    runtime.module = Bare()
    assert set(runtime.capabilities(0)) == {"events", "autocast", "pin_memory"}


def test_bfloat16_is_asked_of_the_device_itself(
    runtime: TorchModuleRuntime, module: DeviceModule
) -> None:
    module.bf16 = frozenset({1})
    assert torch.bfloat16 not in runtime.supported_dtypes(0).compute
    found = runtime.supported_dtypes(1)
    assert torch.bfloat16 in found.compute & found.storage & found.autocast
    assert module.current == 0


def test_autocast_types_are_the_module_s_own_where_it_lists_them(
    runtime: TorchModuleRuntime, module: DeviceModule
) -> None:
    module.get_amp_supported_dtype = lambda: [torch.float16, torch.bfloat16, torch.float32]
    module.bf16 = frozenset()
    assert runtime.supported_dtypes(0).autocast == {torch.float16, torch.float32}


def test_the_current_device(runtime: TorchModuleRuntime) -> None:
    runtime.set_device(1)
    assert runtime.current_device() == 1
    assert runtime.torch_device(1) == torch.device("cuda", 1)


def test_streams(runtime: TorchModuleRuntime) -> None:
    stream = runtime.create_stream(1, -1)
    assert (stream.device, stream.priority) == (1, -1)
    runtime.set_stream(1, stream)
    assert runtime.current_stream(1) is stream
    assert runtime.default_stream(1) is not stream
    assert runtime.current_stream(0) is not stream


def test_events(runtime: TorchModuleRuntime) -> None:
    event = runtime.create_event(1, enable_timing=True)
    assert event.flags == (True, False)
    assert runtime.create_event(1, blocking=True).flags == (False, True)


def test_memory_figures_are_of_the_index(runtime: TorchModuleRuntime, module: DeviceModule) -> None:
    assert runtime.mem_get_info(1) == (401, 1001)
    figures = [
        runtime.memory_allocated(1),
        runtime.max_memory_allocated(1),
        runtime.memory_reserved(1),
        runtime.max_memory_reserved(1),
    ]
    assert figures == [11, 21, 31, 41]
    runtime.set_per_process_memory_fraction(1, 0.5)
    assert module.fraction == {1: 0.5}
    runtime.synchronize(1)
    runtime.reset_peak_memory_stats(1)
    assert module.calls[-3:] == [
        ("synchronize", 1),
        ("is_initialized",),
        ("reset_peak_memory_stats", 1),
    ]


def test_memory_stats(runtime: TorchModuleRuntime, module: DeviceModule) -> None:
    assert runtime.memory_stats(0) == MemoryStats(1, 2, 3, 4, 5, 6, 7, 8)
    del module.stats["num_ooms"]
    assert runtime.memory_stats(0).ooms is None  # not reported is not zero
    module.stats.clear()
    assert runtime.memory_stats(0) == MemoryStats(0, 0, 0, 0, 0, 0, 0, 0)  # not in use yet


def test_peaks_are_not_reset_before_the_device_is_in_use(
    runtime: TorchModuleRuntime, module: DeviceModule
) -> None:
    module.initialized = False
    runtime.reset_peak_memory_stats(0)
    assert ("reset_peak_memory_stats", 0) not in module.calls


def test_the_cache_and_the_seed_are_of_the_device(
    runtime: TorchModuleRuntime, module: DeviceModule
) -> None:
    runtime.empty_cache(1)
    runtime.manual_seed(1, 7)
    assert module.rng == {1: 7}
    assert runtime.get_rng_state(1) == 7
    runtime.set_rng_state(0, 9)
    assert module.rng == {0: 9, 1: 7}
    assert module.current == 0
    assert ("empty_cache",) in module.calls


def test_peer_access_asks_in_the_given_order(runtime: TorchModuleRuntime) -> None:
    assert runtime.can_access_peer(0, 1)
    assert not runtime.can_access_peer(1, 0)


def test_pinning_happens_on_the_device(runtime: TorchModuleRuntime, module: DeviceModule) -> None:
    class Tensor:
        def pin_memory(self) -> tuple[str, int]:
            return "pinned", module.current

    assert runtime.pin_memory(1, Tensor()) == ("pinned", 1)


@pytest.mark.filterwarnings("ignore:CUDA is not available")
def test_autocast_is_torch_s_own(runtime: TorchModuleRuntime) -> None:
    context = runtime.autocast(0, torch.float16)
    assert isinstance(context, torch.autocast)
    assert (context.device, context.fast_dtype) == ("cuda", torch.float16)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (torch.OutOfMemoryError("CUDA out of memory."), ErrorKind.OUT_OF_MEMORY),
        (RuntimeError("NPU out of memory. Tried to allocate 2 GiB"), ErrorKind.OUT_OF_MEMORY),
        (ValueError("Both events must be created with enable_timing"), ErrorKind.USAGE),
        (RuntimeError("Both events must be recorded before"), ErrorKind.USAGE),
        (RuntimeError("Both notifiers must be placed before"), ErrorKind.USAGE),
        (ValueError("something else"), ErrorKind.UNKNOWN),
        (KeyError("out of memory"), ErrorKind.UNKNOWN),
    ],
)
def test_errors_are_classified(
    runtime: TorchModuleRuntime, error: Exception, kind: ErrorKind
) -> None:
    assert runtime.classify_error(error) is kind
