from __future__ import annotations

import sys

import pytest
import torch
from accelhal_cambricon.probe import VISIBLE_DEVICES
from accelhal_cambricon.runtime import CambriconRuntime
from accelhal_cambricon.spec import SPEC
from device_module import DeviceModule, Event

from accelhal.errors import ErrorKind, UsageError
from accelhal.facts import BoardKey, MemoryStats

UUID = "33033011-2157-0000-0000-000000000007"


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> DeviceModule:
    fields = {"isa_version": 592, "multi_processor_count": 48, "major": 5, "minor": 0}
    module = DeviceModule(property_fields=fields, stats={"num_ooms": 3})
    monkeypatch.setattr(torch, "mlu", module, raising=False)
    for mask in VISIBLE_DEVICES:
        monkeypatch.delenv(mask.variable, raising=False)
    return module


@pytest.fixture
def runtime(module: DeviceModule) -> CambriconRuntime:
    runtime = SPEC.open_runtime()
    assert isinstance(runtime, CambriconRuntime)
    return runtime


def test_without_the_package_opening_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(torch, "mlu", raising=False)
    monkeypatch.setitem(sys.modules, "torch_mlu", None)  # as where it is not installed
    with pytest.raises(ModuleNotFoundError, match="torch_mlu"):
        SPEC.open_runtime()


def test_properties(runtime: CambriconRuntime, module: DeviceModule) -> None:
    found = runtime.properties(1)
    assert (found.name, found.vendor, found.compute_units) == ("board 1", "Cambricon", 48)
    assert (found.arch, found.uuid) == ("mtp_592", None)
    del module.property_fields["isa_version"]
    assert runtime.properties(1).arch is None


def test_without_a_variable_the_index_is_the_driver_s(runtime: CambriconRuntime) -> None:
    assert runtime.locate(1).key == BoardKey("mlu", "visible-order", "1")


def test_counting_does_not_ask_the_driver(runtime: CambriconRuntime, module: DeviceModule) -> None:
    module.available = False
    assert runtime.device_count() == 2
    assert [name for name, *_ in module.calls] == ["device_count"]


def test_the_board_is_told_by_the_variable_as_it_was_at_opening(
    module: DeviceModule, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CN_VISIBLE_DEVICES", f"{UUID[:-1]}3,{UUID}")
    runtime = SPEC.open_runtime()
    monkeypatch.setenv("CN_VISIBLE_DEVICES", "0")
    assert runtime.locate(1).key == BoardKey("mlu", "uuid", UUID)
    assert runtime.properties(1).uuid == UUID


def test_a_board_that_is_not_known_has_no_uuid(
    module: DeviceModule, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    runtime = SPEC.open_runtime()
    assert (runtime.locate(0).key, runtime.properties(0).uuid) == (None, None)


@pytest.mark.parametrize(("major", "listed"), [(3, False), (5, True)])
def test_bfloat16_by_emulation_is_not_listed(
    runtime: CambriconRuntime, module: DeviceModule, major: int, listed: bool
) -> None:
    module.property_fields["major"] = major
    module.bf16 = frozenset({0, 1})  # 1.33 says so of every chip
    found = runtime.supported_dtypes(1)
    for kind in (found.storage, found.compute, found.autocast):
        assert (torch.bfloat16 in kind) is listed
        assert torch.float16 in kind


def test_events_are_torch_mlus_and_measure_what_they_timed(runtime: CambriconRuntime) -> None:
    start, end = runtime.create_event(0, True, True), runtime.create_event(0, True)
    assert isinstance(start, Event)
    assert start.flags == (True, True)
    assert runtime.create_event(0).flags == (False, False)
    start.record()
    end.record("a stream")
    assert (end.stream, start.elapsed_time(end)) == ("a stream", 0.0)


@pytest.mark.parametrize(("timed", "recorded"), [(False, True), (True, False)])
def test_times_that_were_not_taken_raise(
    runtime: CambriconRuntime, timed: bool, recorded: bool
) -> None:
    start, end = runtime.create_event(0, True), runtime.create_event(0, timed)
    start.record()
    if recorded:
        end.record()
    for first, second in ((start, end), (end, start)):
        with pytest.raises(UsageError):
            first.elapsed_time(second)


@pytest.mark.parametrize(("asked", "given"), [(0, 0), (-2, -2), (5, 0), (-7, -3)])
def test_priorities_it_would_refuse_become_the_nearest(
    runtime: CambriconRuntime, asked: int, given: int
) -> None:
    stream = runtime.create_stream(1, asked)
    assert (stream.device, stream.priority) == (1, given)
    assert runtime.create_stream(1).priority == 0


def test_memory_figures_of_a_device_in_use(runtime: CambriconRuntime) -> None:
    assert runtime.memory_allocated(1) == 11
    assert runtime.max_memory_allocated(1) == 21
    assert runtime.memory_reserved(1) == 31
    assert runtime.max_memory_reserved(1) == 41
    assert runtime.memory_stats(1).ooms == 3


def test_getters_start_no_device(runtime: CambriconRuntime, module: DeviceModule) -> None:
    module.initialized = False
    assert runtime.memory_allocated(0) == 0
    assert runtime.max_memory_allocated(0) == 0
    assert runtime.memory_reserved(0) == 0
    assert runtime.max_memory_reserved(0) == 0
    assert runtime.memory_stats(0) == MemoryStats(0, 0, 0, 0, 0, 0, 0, 0)
    runtime.empty_cache(0)
    assert {name for name, *_ in module.calls} == {"is_initialized"}


def test_graphs_are_torch_mlu_s(runtime: CambriconRuntime, module: DeviceModule) -> None:
    module.MLUGraph = type("MLUGraph", (), {})
    assert isinstance(runtime.create_graph(0), module.MLUGraph)


def test_errors_are_read_as_neuware_s(runtime: CambriconRuntime) -> None:
    assert runtime.classify_error(RuntimeError("cnrtErrorNoMem")) is ErrorKind.OUT_OF_MEMORY
