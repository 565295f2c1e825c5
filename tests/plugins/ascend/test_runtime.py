from __future__ import annotations

import sys

import pytest
import torch
from accelhal_ascend.runtime import AscendRuntime
from accelhal_ascend.spec import SPEC
from device_module import DeviceModule, Event

from accelhal.errors import ErrorKind, UsageError
from accelhal.facts import BoardKey


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> DeviceModule:
    module = DeviceModule(
        property_fields={"cube_core_num": 24, "vector_core_num": 48, "major": None, "minor": None}
    )
    monkeypatch.setattr(torch, "npu", module, raising=False)
    return module


@pytest.fixture
def runtime(module: DeviceModule) -> AscendRuntime:
    runtime = SPEC.open_runtime()
    assert isinstance(runtime, AscendRuntime)
    return runtime


def test_without_the_package_opening_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(torch, "npu", raising=False)
    monkeypatch.setitem(sys.modules, "torch_npu", None)  # as where it is not installed
    with pytest.raises(ModuleNotFoundError, match="torch_npu"):
        SPEC.open_runtime()


def test_opening_repairs_the_module(module: DeviceModule) -> None:
    module._DeferredNpuCallError = KeyError
    SPEC.open_runtime()
    assert module.DeferredNpuCallError is KeyError


def test_properties_that_are_there_but_none_do_not_disturb(runtime: AscendRuntime) -> None:
    found = runtime.properties(1)
    assert (found.vendor, found.arch, found.compute_units) == ("Huawei", "board 1", 24)


def test_older_releases_report_fewer_properties(
    runtime: AscendRuntime, module: DeviceModule
) -> None:
    module.property_fields = {}
    assert runtime.properties(0).compute_units is None
    module.property_fields = {"multi_processor_count": 20}
    assert runtime.properties(0).compute_units == 20


@pytest.mark.parametrize(
    ("reported", "uuid"),
    [
        ("a0a1a2a3-0000-0000-0000-000000000001", "a0a1a2a3-0000-0000-0000-000000000001"),
        ("00000000-0000-0000-0000-000000000000", None),
    ],
)
def test_a_uuid_of_zeros_is_none(
    runtime: AscendRuntime, module: DeviceModule, reported: str, uuid: str | None
) -> None:
    module.property_fields = {"uuid": reported}
    assert runtime.properties(0).uuid == uuid


@pytest.mark.parametrize(
    ("mask", "numbers"), [(None, ["0", "1"]), ("2,5", ["2", "5"]), ("7", ["7", None])]
)
def test_the_driver_s_number_names_the_board(
    monkeypatch: pytest.MonkeyPatch,
    module: DeviceModule,
    mask: str | None,
    numbers: list[str | None],
) -> None:
    monkeypatch.delenv("ASCEND_RT_VISIBLE_DEVICES", raising=False)
    if mask is not None:
        monkeypatch.setenv("ASCEND_RT_VISIBLE_DEVICES", mask)
    runtime = SPEC.open_runtime()
    for index, number in enumerate(numbers):
        found = runtime.locate(index)
        assert found.key == (None if number is None else BoardKey("npu", "logic-id", number))
        assert (found.key is None) == ("shows no device" in found.reason)


def test_events_are_torch_npu_s_own_class(runtime: AscendRuntime) -> None:
    event = runtime.create_event(0, False, True)
    assert isinstance(event, Event)
    assert event.flags == (False, True)
    assert runtime.create_event(0).flags == (False, False)


def test_recorded_timed_events_measure(runtime: AscendRuntime) -> None:
    start, end = runtime.create_event(0, True), runtime.create_event(0, True)
    start.record()
    end.record("a stream")
    assert end.stream == "a stream"
    assert start.elapsed_time(end) == 0.0


@pytest.mark.parametrize(("first", "second"), [(False, True), (True, False), (False, False)])
def test_untimed_events_raise_where_torch_npu_answers_zero(
    runtime: AscendRuntime, first: bool, second: bool
) -> None:
    start, end = runtime.create_event(0, first), runtime.create_event(0, second)
    start.record()
    end.record()
    with pytest.raises(UsageError, match="enable_timing=True"):
        start.elapsed_time(end)


@pytest.mark.parametrize("recorded", [0, 1])
def test_unrecorded_events_raise(runtime: AscendRuntime, recorded: int) -> None:
    events = [runtime.create_event(0, True), runtime.create_event(0, True)]
    events[recorded].record()
    with pytest.raises(UsageError, match="recorded"):
        events[0].elapsed_time(events[1])


def test_a_plain_event_at_the_end_is_left_to_torch_npu(runtime: AscendRuntime) -> None:
    start = runtime.create_event(0, True)
    start.record()
    assert start.elapsed_time(Event(True)) == 0.0


def test_priorities_are_passed_on(runtime: AscendRuntime) -> None:
    assert runtime.create_stream(1, -1).priority == -1


def test_graphs_are_torch_npu_s(runtime: AscendRuntime, module: DeviceModule) -> None:
    module.NPUGraph = type("NPUGraph", (), {})
    assert isinstance(runtime.create_graph(0), module.NPUGraph)


def test_graphs_end_before_the_board_s_streams_do(runtime: AscendRuntime) -> None:
    """Of 2048 streams; the earliest end that was met is 1800 graphs."""
    assert runtime.graph_limit(0) == 1800


def test_errors_are_read_as_cann_s(runtime: AscendRuntime) -> None:
    lost = RuntimeError("NPU function error: aclrtSynchronizeStream, error code is 507899")
    assert runtime.classify_error(lost) is ErrorKind.DEVICE_LOST
