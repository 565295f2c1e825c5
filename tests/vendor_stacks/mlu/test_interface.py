"""The stand-in has torch_mlu's names and parameters, as they were recorded, and no others."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from vendor_stacks.mlu.standin import FOLDER, FORMS, call, environment

RECORDED: dict[str, Any] = json.loads((FOLDER / "interface.json").read_text())

LEFT_OUT = {
    *("amp.GradScaler", "amp.amp_definitely_not_available", "amp.autocast"),
    *("amp.custom_bwd", "amp.custom_fwd"),
    *("ExternalStream", "MLUPluggableAllocator", "MemPool", "use_mem_pool"),
    *("caching_allocator_alloc", "caching_allocator_delete", "caching_allocator_enable"),
    *("change_current_allocator", "enable_linear_memory", "is_linear_memory_enabled"),
    *("cncl_stream", "cnrt", "memory_summary", "module_memory_usage"),
    *("host_memory_stats", "host_memory_stats_as_nested_dict"),
    *("reset_accumulated_host_memory_stats", "reset_peak_host_memory_stats"),
    *("get_precision_mode", "set_precision_mode"),
    *("clock_rate", "power_draw", "temperature"),
}
"""Recorded names that nothing in accelhal or its suite calls."""

INTERNAL = {"simulated", "timed", "event_class", "checked_priority", "spoil", "instantiate"}
"""What its classes need for themselves, or have from the simulation (`instantiate`, in 1.25)."""


@cache
def shown(form: str, neuware: Path) -> dict[str, Any]:
    classes = {name: list(methods) for name, methods in RECORDED[form]["classes"].items()}
    return call("interface", environment(neuware, MLU_STANDIN_FORM=form), classes=classes)


@pytest.mark.parametrize("form", FORMS)
def test_every_name_is_recorded_and_no_other_is_missing(form: str, neuware: Path) -> None:
    recorded = {
        name for kind in ("functions", "values", "classes") for name in RECORDED[form][kind]
    }
    names = set(shown(form, neuware)["names"])
    assert names - recorded == set()
    assert recorded - names - LEFT_OUT == set()


@pytest.mark.parametrize("form", FORMS)
def test_functions_have_the_recorded_parameters(form: str, neuware: Path) -> None:
    functions = shown(form, neuware)["functions"]
    recorded = RECORDED[form]["functions"]
    assert functions == {name: recorded[name] for name in functions}
    assert len(functions) > 40


@pytest.mark.parametrize("form", FORMS)
def test_methods_have_the_recorded_parameters(form: str, neuware: Path) -> None:
    methods = shown(form, neuware)["methods"]
    for name, found in methods.items():
        recorded = RECORDED[form]["classes"][name]
        assert found == {method: recorded[method] for method in found}, name
        assert set(recorded) == set(found), f"{name} lacks methods"
    assert {"Event", "MLUGraph", "Stream", "StreamContext", "device", "graph"} <= set(methods)


@pytest.mark.parametrize("form", FORMS)
def test_classes_have_no_attribute_that_is_not_recorded(form: str, neuware: Path) -> None:
    bound = RECORDED["1.25"]["bindings"]  # of 1.33 the C++ side was not recorded
    attributes = shown(form, neuware)["attributes"]
    for name in ("Event", "Stream", "MLUGraph"):
        recorded = {*RECORDED[form]["classes"][name], *bound[name]}
        own = set(attributes[name]) - INTERNAL
        assert own <= recorded, name


def test_properties_are_those_of_the_c_class(neuware: Path) -> None:
    for form in FORMS:
        assert shown(form, neuware)["properties"] == sorted(RECORDED["1.25"]["properties"])


@pytest.mark.parametrize(("form", "expected"), [("1.25", False), ("1.33", True)])
def test_classes_descend_as_recorded(form: str, expected: bool, neuware: Path) -> None:
    found = shown(form, neuware)
    assert found["event_is_torch_event"] is expected
    assert found["stream_is_torch_stream"] is True
