from __future__ import annotations

import pytest
import torch
from accelhal_cambricon.runtime import CambriconRuntime
from accelhal_cambricon.spec import SPEC
from device_module import DeviceModule

from accelhal.facts import MemoryStats


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> DeviceModule:
    fields = {"isa_version": 592, "multi_processor_count": 48, "major": 5, "minor": 0}
    module = DeviceModule(property_fields=fields, stats={"num_ooms": 3})
    monkeypatch.setattr(torch, "mlu", module, raising=False)
    return module


@pytest.fixture
def runtime(module: DeviceModule) -> CambriconRuntime:
    runtime = SPEC.open_runtime()
    assert isinstance(runtime, CambriconRuntime)
    return runtime


def test_properties(runtime: CambriconRuntime) -> None:
    found = runtime.properties(1)
    assert (found.arch, found.compute_units, found.uuid) == ("mtp_592", 48, None)


def test_the_board_is_not_guessed(runtime: CambriconRuntime) -> None:
    location = runtime.locate(0)
    assert location.key is None
    assert "torch.mlu reports no UUID" in location.reason


@pytest.mark.parametrize(("asked", "given"), [(0, 0), (-2, -2), (5, 0)])
def test_priorities_it_would_refuse_become_the_nearest(
    runtime: CambriconRuntime, asked: int, given: int
) -> None:
    assert runtime.create_stream(1, asked).priority == given


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
    assert {name for name, *_ in module.calls} == {"is_initialized"}
