"""The record of torch's CUDA kernels against the declarations it was made from."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
import torch
from accelhal_cuda.operators import SUPPORT

SCRIPT = Path(__file__).parents[3] / "plugins" / "cuda" / "record_operators.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    pytest.importorskip("yaml")
    spec = importlib.util.spec_from_file_location("record_operators", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_declarations_are_what_this_build_of_torch_registers(script: ModuleType) -> None:
    """Seen on the CPU's, which every build has; quantized ones are registered by hand."""
    registered = {
        name
        for name in torch._C._dispatch_get_registrations_for_dispatch_key("CPU")
        if name.startswith("aten::") and not name.startswith("aten::quantized_")
    }
    changed_by_others = {"aten::_pin_memory", "aten::is_pinned"}  # the simulated boards'
    assert script.kernels("CPU") ^ registered <= changed_by_others


def test_the_record_is_what_the_script_makes(script: ModuleType) -> None:
    (record,) = (made for made in SUPPORT.records() if made.version == "2.13.0")
    if torch.__version__.partition("+")[0] != record.version:
        pytest.skip(f"recorded with torch {record.version}")
    assert script.kernels("CUDA") == record.kernels
