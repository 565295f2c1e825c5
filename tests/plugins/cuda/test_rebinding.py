"""Whose objects stand in torch.cuda."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch.cuda
from accelhal_cuda.rebinding import rebound_by

NAMES = (
    "is_available",
    "device_count",
    "current_device",
    "set_device",
    "get_device_properties",
    "Stream",
)


def torch_s_own() -> SimpleNamespace:
    return SimpleNamespace(**{name: getattr(torch.cuda, name) for name in NAMES})


def test_torch_s_own_module_is_not_rebound() -> None:
    assert rebound_by(torch.cuda) is None
    assert rebound_by(torch_s_own()) is None


@pytest.mark.parametrize("name", NAMES)
def test_one_foreign_object_is_enough(name: str) -> None:
    module = torch_s_own()
    foreign = type("Foreign", (), {"__module__": "othervendor.npu.utils"})
    setattr(module, name, foreign)
    assert rebound_by(module) == "othervendor"


@pytest.mark.parametrize("name", NAMES)
def test_what_has_no_origin_is_not_taken_for_torch_s(name: str) -> None:
    module = torch_s_own()
    delattr(module, name)
    assert rebound_by(module) == "unknown"
