"""What is said of simulated boards, against running the models there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch
from operators import models

from accelhal.device_name import DeviceName
from accelhal.operators import check_model
from accelhal.operators.coverage import Coverage
from accelhal.operators.report import Verdict
from accelhal.operators.sources import knowledge

RUNNING = ("mlp", "convolution", "attention", "recurrent", "cubed", "complex_values")


@pytest.fixture(autouse=True)
def boards(mock_boards, fresh_registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "operators_models", models)
    mock_boards(count=2, memory="64MiB", mode="python")


def runs_there(factory: str) -> bool:
    model, x = getattr(models, factory)()
    try:
        model.to("mock:0")(x.to("mock:0"))
    except NotImplementedError:
        return False
    return True


@pytest.mark.parametrize("factory", [*RUNNING, "sparse"])
@pytest.mark.parametrize("on", ["cpu", "fake", "device"])
def test_the_verdict_is_what_happens(factory: str, on: str) -> None:
    found = check_model(f"operators_models:{factory}", "mock", on=on)
    assert found.live
    assert (found.verdict is Verdict.RUNS) == runs_there(factory)


def test_on_the_device_the_run_ends_at_the_operator_that_is_missing() -> None:
    found = check_model("operators_models:sparse", "mock:1", on="device")
    (missing,) = [use for use in found.operators if use.coverage is Coverage.MISSING]
    assert missing.name == "aten::_to_sparse"
    assert "dense tensors alone" in missing.reason
    assert found.ended_early is not None
    assert "aten::_to_sparse" in found.ended_early
    assert found.time_ms is None


def test_on_the_device_the_backward_pass_is_checked_too() -> None:
    found = check_model("operators_models:convolution", "mock", on="device", backward=True)
    assert found.verdict is Verdict.RUNS
    assert any(use.name == "aten::convolution_backward" for use in found.operators)
    assert found.time_ms is not None
    assert found.fallback_percent == 0


def test_a_library_that_has_a_kernel_for_the_boards_is_seen() -> None:
    with torch.library._scoped_library("accelhal_test", "DEF") as library:
        library.define("own(Tensor x) -> Tensor")
        library.impl("own", lambda x: x.clone(), "PrivateUse1")
        judged = knowledge(DeviceName("mock")).table.judge("accelhal_test::own")
    assert judged.coverage is Coverage.NATIVE


def test_a_record_of_the_boards_reads_back(tmp_path: Path) -> None:
    from accelhal.operators.record import record
    from accelhal.runtimes.operator_record import read_record, record_text

    made = record("mock")
    assert made.fallback
    assert "aten::empty.memory_format" in made.kernels
    (tmp_path / "mock.json").write_text(record_text(made))
    assert read_record(tmp_path / "mock.json") == made
    found = check_model("operators_models:mlp", "mock", record=tmp_path / "mock.json")
    assert not found.live
    assert found.verdict is Verdict.RUNS


def test_boards_whose_tensors_lie_on_the_processor_have_its_kernels(
    mock_boards, fresh_registry
) -> None:
    mock_boards(count=1, mode="plain")
    found = check_model("operators_models:sparse", "mock", on="device")
    assert found.live
    coverage = {use.name: use.coverage for use in found.operators}
    assert coverage["aten::_to_sparse"] is Coverage.NATIVE
    assert coverage["aten::_to_dense"] is Coverage.UNKNOWN  # sparse operands have other kernels
