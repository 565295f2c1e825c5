"""Device: what the facade checks, translates and restores, over a backend that records."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import pytest
import torch
from fake_spec import fake_spec
from hypothesis import HealthCheck, given, settings, strategies as st

import accelhal
from accelhal.errors import (
    AccelhalError,
    DeviceLostError,
    DeviceNotFoundError,
    DeviceOutOfMemoryError,
    ErrorKind,
    UnsupportedError,
    UsageError,
)
from accelhal.facade import Device
from accelhal.facts import (
    BoardInfo,
    BoardKey,
    HealthReport,
    HealthStatus,
    Location,
    Telemetry,
)
from accelhal.registry import OpenBackend
from accelhal.runtimes.cpu import CpuRuntime
from accelhal.spi import CAPABILITIES, Management, Support

pytestmark = pytest.mark.usefixtures("fresh_registry")


@dataclass(eq=False)
class FakeStream:
    device: torch.device

    def wait_event(self, event: object) -> None:
        """Nothing is pending."""


class ManyRuntime(CpuRuntime):
    """Four devices with a current device and current streams per thread, as torch modules have."""

    def __init__(self) -> None:
        super().__init__()
        self.thread = threading.local()
        self.defaults = [FakeStream(self.torch_device(i)) for i in range(4)]
        self.keys: dict[int, BoardKey | None] = dict.fromkeys(range(4))
        self.failure: Exception | None = None

    def device_count(self) -> int:
        return 4

    def torch_device(self, index: int) -> torch.device:
        return torch.device("meta", index)

    def locate(self, index: int) -> Location:
        return Location(self.keys[index], "no keys given")

    def current_device(self) -> int:
        return getattr(self.thread, "device", 0)

    def set_device(self, index: int) -> None:
        self.thread.device = index

    def create_stream(self, index: int, priority: int = 0) -> FakeStream:  # type: ignore[override]
        return FakeStream(self.torch_device(index))

    def _streams(self) -> dict[int, FakeStream]:
        if not hasattr(self.thread, "streams"):
            self.thread.streams = dict(enumerate(self.defaults))
        return self.thread.streams

    def current_stream(self, index: int) -> FakeStream:  # type: ignore[override]
        return self._streams()[index]

    def set_stream(self, index: int, stream: FakeStream) -> None:  # type: ignore[override]
        self._streams()[index] = stream
        self.set_device(index)  # as torch's modules do

    def synchronize(self, index: int) -> None:
        if self.failure:
            raise self.failure

    def classify_error(self, error: BaseException) -> ErrorKind:
        if "fell off the bus" in str(error):
            return ErrorKind.DEVICE_LOST
        return super().classify_error(error)


SPEC = fake_spec("many", ManyRuntime, count=4)


@pytest.fixture
def runtime() -> Iterator[ManyRuntime]:
    with accelhal.register(SPEC):
        yield accelhal.device("many:0")._runtime  # type: ignore[misc]


# ---- contexts


def test_nested_and_reentered_devices_restore_the_outer_one(runtime: ManyRuntime) -> None:
    one, two = accelhal.device("many:1"), accelhal.device("many:2")
    with one:
        with two, one, one:
            assert runtime.current_device() == 1
        with two:
            assert runtime.current_device() == 2
        assert runtime.current_device() == 1
    assert runtime.current_device() == 0


def test_the_former_device_returns_after_an_exception(runtime: ManyRuntime) -> None:
    with pytest.raises(KeyError), accelhal.device("many:3"):
        raise KeyError
    assert runtime.current_device() == 0


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # each example restores it
@given(
    tree=st.recursive(st.integers(0, 3), lambda inner: st.lists(inner, max_size=3), max_leaves=8)
)
def test_any_nesting_restores(runtime: ManyRuntime, tree: object) -> None:
    devices = accelhal.devices("many")

    def walk(node: object) -> None:
        before = runtime.current_device()
        if isinstance(node, int):
            with devices[node]:
                assert runtime.current_device() == node
        else:
            assert isinstance(node, list)
            with devices[len(node) % 4]:
                for child in node:
                    walk(child)
        assert runtime.current_device() == before

    walk(tree)


def test_one_device_and_one_stream_shared_by_threads(runtime: ManyRuntime) -> None:
    """Each thread starts from another device and must find it again."""
    shared = accelhal.device("many:3")
    stream = shared.Stream()
    context = shared.stream(stream)
    barrier = threading.Barrier(3, timeout=20)

    def work(home: int) -> list[object]:
        runtime.set_device(home)
        seen: list[object] = []
        with shared:
            barrier.wait()
            with context, context:
                barrier.wait()
                seen.append(runtime.current_stream(3) is stream)
            barrier.wait()
            seen.append(runtime.current_stream(3) is runtime.defaults[3])
        seen.append(runtime.current_device())
        return seen

    with ThreadPoolExecutor(3) as pool:
        results = list(pool.map(work, range(3), timeout=60))
    assert results == [[True, True, home] for home in range(3)]


def test_entering_a_stream_makes_its_device_current_and_restores_both(
    runtime: ManyRuntime,
) -> None:
    two = accelhal.device("many:2")
    outer, inner = two.Stream(), two.Stream()
    with two.stream(outer):
        with two.stream(inner) as entered:
            assert entered is inner
            assert runtime.current_device() == 2
        assert two.current_stream() is outer
    assert two.current_stream() is runtime.defaults[2]
    assert runtime.current_device() == 0


def test_no_stream_changes_nothing(runtime: ManyRuntime) -> None:
    two = accelhal.device("many:2")
    with two.stream(None) as entered:
        assert entered is None
        assert runtime.current_device() == 0


def test_a_stream_of_another_device_is_refused(runtime: ManyRuntime) -> None:
    stream = accelhal.device("many:1").Stream()
    with pytest.raises(UsageError, match="many:2 cannot enter a stream of meta:1"):
        accelhal.device("many:2").stream(stream)
    with pytest.raises(UsageError, match="cannot enter a stream of str"):
        accelhal.device("many:2").stream("default")


def test_a_stream_that_cannot_be_set_leaves_nothing_changed(
    runtime: ManyRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    two = accelhal.device("many:2")
    stream = two.Stream()
    original = runtime.set_stream

    def half(index: int, value: FakeStream) -> None:
        original(index, value)
        if value is stream:
            raise RuntimeError("the GPU fell off the bus")

    monkeypatch.setattr(runtime, "set_stream", half)
    two = Device(two._backend, 2)
    with pytest.raises(DeviceLostError), two.stream(stream):
        pass
    assert runtime.current_device() == 0
    assert runtime.current_stream(2) is runtime.defaults[2]


def test_leaving_in_another_thread_is_an_error_not_a_mix_up(runtime: ManyRuntime) -> None:
    one = accelhal.device("many:1")
    one.__enter__()
    with ThreadPoolExecutor(1) as pool:
        failure = pool.submit(one.__exit__, None, None, None).exception(timeout=20)
    assert isinstance(failure, UsageError)
    assert "was not entered in this thread" in str(failure)
    one.__exit__(None, None, None)
    assert runtime.current_device() == 0


def test_a_cpu_stream_is_a_context_too() -> None:
    cpu = accelhal.device("cpu")
    outer, inner = cpu.Stream(), cpu.Stream()
    with outer, inner, outer:
        assert cpu.current_stream() is outer
    with outer:
        with cpu.stream(inner):
            assert cpu.current_stream() is inner
        assert cpu.current_stream() is outer
    assert cpu.current_stream() is cpu.default_stream()


# ---- capabilities


def test_an_absent_capability_raises_and_names_itself(runtime: ManyRuntime) -> None:
    device = accelhal.device("many:1")
    assert device.supports("caching_allocator") is None
    for call in (device.empty_cache, device.memory_reserved, device.max_memory_reserved):
        with pytest.raises(UnsupportedError, match="many:1 has no caching_allocator") as caught:
            call()
        assert caught.value.capability == "caching_allocator"
        assert isinstance(caught.value, NotImplementedError)


def test_what_is_declared_is_said_and_what_is_unknown_is_refused() -> None:
    cpu = accelhal.device("cpu")
    assert cpu.supports("streams") is Support.EMULATED
    assert cpu.supports("autocast") is Support.NATIVE
    with pytest.raises(
        UsageError, match=r"'teleport' is not a capability\n  next: one of: streams, events"
    ):
        cpu.supports("teleport")


def test_a_runtime_method_that_is_not_declared_is_not_reached(runtime: ManyRuntime) -> None:
    class Undeclared(ManyRuntime):
        def capabilities(self, index: int) -> dict[str, Support]:
            return {}

    device = Device(OpenBackend(SPEC, Undeclared(), "test"), 1)
    calls: list[Callable[[], object]] = [
        device.Stream,
        device.Event,
        device.current_stream,
        device.default_stream,
        device.mem_get_info,
        device.memory_allocated,
        device.memory_stats,
        lambda: device.stream(None),
        lambda: device.autocast(torch.float16),
        lambda: device.float32_precision,
        lambda: device.can_access_peer(device),
        lambda: device.set_per_process_memory_fraction(0.5),
        lambda: device.pin_memory(torch.zeros(1)),
    ]
    for call in calls:
        with pytest.raises(UnsupportedError):
            call()
    for name in CAPABILITIES:
        assert device.supports(name) is None


# ---- arguments


@pytest.mark.parametrize("fraction", [-0.1, 1.1, "half", None, True, float("nan")])
def test_a_bad_memory_fraction(runtime: ManyRuntime, fraction: float) -> None:
    with pytest.raises(UsageError, match="from 0 to 1"):
        accelhal.device("many:1").set_per_process_memory_fraction(fraction)


@pytest.mark.parametrize("seed", [-(2**63) - 1, 2**64, 1.0, "7", None])
def test_a_bad_seed(seed: int) -> None:
    with pytest.raises(UsageError, match="the seed must be an integer"):
        accelhal.device("cpu").manual_seed(seed)


def test_autocast_in_a_type_the_device_has_not() -> None:
    cpu = accelhal.device("cpu")
    with pytest.raises(UsageError, match=r"no autocast in torch.int8\n  next: one of: torch."):
        cpu.autocast(torch.int8)
    with cpu.autocast(torch.bfloat16):
        product = torch.ones(2, 2) @ torch.ones(2, 2)
    assert product.dtype is torch.bfloat16


def test_pin_memory_takes_a_host_tensor() -> None:
    class Pins(ManyRuntime):
        def capabilities(self, index: int) -> dict[str, Support]:
            return {"pin_memory": Support.NATIVE}

        def pin_memory(self, index: int, tensor: torch.Tensor) -> torch.Tensor:
            return tensor

    device = Device(OpenBackend(SPEC, Pins(), "test"), 0)
    with pytest.raises(UsageError, match="a tensor on the cpu, not meta"):
        device.pin_memory(torch.ones(2, device="meta"))
    with pytest.raises(UsageError, match="not list"):
        device.pin_memory([1, 2])  # type: ignore[arg-type]
    assert device.pin_memory(torch.ones(2)).sum() == 2


def test_peers_of_other_backends_are_out_of_reach(runtime: ManyRuntime) -> None:
    class Peers(ManyRuntime):
        def capabilities(self, index: int) -> dict[str, Support]:
            return {"peer_access": Support.NATIVE}

        def can_access_peer(self, index: int, peer: int) -> bool:
            return (index, peer) == (1, 2)

    backend = OpenBackend(SPEC, Peers(), "test")
    one, two = Device(backend, 1), Device(backend, 2)
    assert one.can_access_peer(two)
    assert not two.can_access_peer(one)
    assert one.can_access_peer(one)
    assert not one.can_access_peer(accelhal.device("cpu"))
    with pytest.raises(UsageError, match="'cpu' is not a Device"):
        one.can_access_peer("cpu")  # type: ignore[arg-type]


# ---- errors


def test_a_vendor_error_becomes_typed_with_its_cause(runtime: ManyRuntime) -> None:
    runtime.failure = RuntimeError("GPU 1 fell off the bus")
    device = accelhal.device("many:1")
    with pytest.raises(DeviceLostError) as caught:
        device.synchronize()
    error = caught.value
    assert (error.backend, error.device, error.operation) == ("many", "many:1", "synchronize")
    assert error.__cause__ is runtime.failure
    assert error.hint


def test_an_error_of_unknown_kind_is_left_as_it_is(runtime: ManyRuntime) -> None:
    runtime.failure = ZeroDivisionError("bug in the backend")
    with pytest.raises(ZeroDivisionError):
        accelhal.device("many:1").synchronize()


def test_out_of_memory_is_caught_by_torchs_name_and_by_ours(runtime: ManyRuntime) -> None:
    runtime.failure = torch.OutOfMemoryError("many out of memory. Tried to allocate 2 MiB")
    device = accelhal.device("many:1")
    for error_class in (torch.OutOfMemoryError, DeviceOutOfMemoryError, AccelhalError):
        with pytest.raises(error_class):
            device.synchronize()
    with pytest.raises(DeviceOutOfMemoryError) as caught:
        device.synchronize()
    copy = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(copy, torch.OutOfMemoryError)
    assert str(copy) == str(caught.value)
    assert copy.device == "many:1"


def test_errors_travel_between_processes_whole() -> None:
    error = UnsupportedError("no", capability="graphs", device="cpu:0", hint="ask first")
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.capability, copy.device) == (
        UnsupportedError,
        "no\n  next: ask first",
        "graphs",
        "cpu:0",
    )


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (torch.OutOfMemoryError("x"), ErrorKind.OUT_OF_MEMORY),
        (RuntimeError("NPU out of memory. Tried to allocate 20 MiB"), ErrorKind.OUT_OF_MEMORY),
        (MemoryError(), ErrorKind.OUT_OF_MEMORY),
        (NotImplementedError("operator"), ErrorKind.UNSUPPORTED),
        (UsageError("x"), ErrorKind.USAGE),
        (KeyError("out of memory"), ErrorKind.UNKNOWN),
        (RuntimeError("shape mismatch"), ErrorKind.UNKNOWN),
    ],
)
def test_classification(error: BaseException, kind: ErrorKind) -> None:
    assert accelhal.device("cpu").classify_error(error) is kind


def test_a_real_allocation_failure_on_the_host_is_out_of_memory() -> None:
    cpu = accelhal.device("cpu")
    with pytest.raises(RuntimeError) as caught:
        torch.empty(2**60, dtype=torch.uint8)
    assert cpu.classify_error(caught.value) is ErrorKind.OUT_OF_MEMORY


# ---- identity


def test_devices_are_values() -> None:
    assert accelhal.device("cpu") == accelhal.device("cpu:0")
    assert len({accelhal.device("cpu"), accelhal.device("cpu:0")}) == 1
    assert accelhal.device("cpu") != "cpu:0"
    assert str(accelhal.device("cpu")) == "cpu:0"


def test_a_pickled_device_is_found_by_its_board_not_its_index(runtime: ManyRuntime) -> None:
    runtime.keys = {i: BoardKey("many", "uuid", f"board-{i}") for i in range(4)}
    sent = pickle.dumps(accelhal.device("many:1"))
    runtime.keys = {0: BoardKey("many", "uuid", "board-1"), 1: None, 2: None, 3: None}
    assert pickle.loads(sent).index == 0
    runtime.keys = dict.fromkeys(range(4))
    with pytest.raises(DeviceNotFoundError, match=r"board-1 .* is not visible"):
        pickle.loads(sent)


def test_a_device_without_a_key_is_found_by_its_index(runtime: ManyRuntime) -> None:
    assert pickle.loads(pickle.dumps(accelhal.device("many:2"))) == accelhal.device("many:2")


def test_a_device_reaches_a_spawned_process() -> None:
    code = (
        "import pickle, sys, accelhal\n"
        "device = pickle.load(sys.stdin.buffer)\n"
        "print(device, device.mem_get_info()[1] > 0)"
    )
    out = subprocess.run(
        [sys.executable, "-c", code],
        input=pickle.dumps(accelhal.device("cpu")),
        capture_output=True,
        timeout=60,
    )
    assert out.stdout.split() == [b"cpu:0", b"True"], out.stderr


# ---- health


class Sick(Management):
    """A driver library with one board, which breaks on request."""

    broken: Exception | None = None
    key = BoardKey("many", "uuid", "board-1")

    def boards(self) -> list[BoardInfo]:
        return [BoardInfo(self.key, "Many Works", "Many One", "many", "libmany", uuid="board-1")]

    def telemetry(self, board: BoardKey) -> Telemetry:
        if self.broken:
            raise self.broken
        return Telemetry(temperature=41.0)

    def health(self, board: BoardKey) -> HealthReport:
        if self.broken:
            raise self.broken
        return HealthReport(HealthStatus.DEGRADED, reason="one link down")


def test_sensors_come_from_the_board_under_the_device() -> None:
    management = Sick()
    with accelhal.register(replace(SPEC, open_management=lambda: management)):
        device = accelhal.device("many:1")
        device._runtime.keys = {1: Sick.key, 2: None}  # type: ignore[attr-defined]
        assert device.board is not None
        assert device.board.name == "Many One"
        assert device.telemetry().temperature == 41.0
        assert device.health().status is HealthStatus.DEGRADED
        management.broken = OSError("driver gone")
        assert device.telemetry().reasons == {"*": "OSError: driver gone"}
        assert device.health() == HealthReport(HealthStatus.UNKNOWN, reason="OSError: driver gone")
        # The driver may key by place what a visible-devices variable names by UUID.
        management.key = BoardKey("many", "visible-order", "0")
        assert device.board is not None
        unplaced = accelhal.device("many:2")
        assert unplaced.board is None
        assert unplaced.health() == HealthReport(HealthStatus.UNKNOWN, reason="no keys given")


def test_a_driver_library_that_does_not_open_is_a_reason_not_an_exception() -> None:
    def fail() -> Management:
        raise OSError("libmany.so.1: cannot open shared object file")

    with accelhal.register(replace(SPEC, open_management=fail)):
        device = accelhal.device("many:1")
        device._runtime.keys = {1: Sick.key}  # type: ignore[attr-defined]
        assert "libmany.so.1" in device.telemetry().reasons["*"]
        assert device.health().status is HealthStatus.UNKNOWN
        assert accelhal.boards() == [] or all(b.source == "pci" for b in accelhal.boards())


def test_the_board_is_never_an_error(runtime: ManyRuntime) -> None:
    def broken(index: int) -> Location:
        raise OSError("the driver went away")

    device = accelhal.device("many:0")
    runtime.locate = broken  # type: ignore[method-assign]
    assert device.board is None
    assert "the driver went away" in device.find_board().reason
