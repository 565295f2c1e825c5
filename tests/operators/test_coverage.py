"""How operators are judged: by torch's dispatcher here, by records elsewhere."""

from __future__ import annotations

import pytest
import torch
from accelhal_ascend.operators import SUPPORT as ASCEND
from accelhal_cuda.operators import SUPPORT as CUDA

from accelhal.operators.composites import out_form
from accelhal.operators.coverage import (
    Coverage,
    DispatcherTable,
    RecordTable,
    TracedOnProcessor,
    UnknownTable,
)
from accelhal.runtimes.operator_record import OperatorRecord, OperatorSupport


def record(*kernels: str, fallback: bool = False, conditional: tuple[str, ...] = ()) -> RecordTable:
    made = OperatorRecord(
        "torch_x", "1.0", "2.13.0", "a test", fallback, frozenset(kernels), frozenset(conditional)
    )
    return RecordTable(made, None)


@pytest.mark.parametrize(
    ("name", "out"),
    [
        ("aten::gelu", "aten::gelu.out"),
        ("aten::gelu_", "aten::gelu.out"),
        ("aten::add.Tensor", "aten::add.out"),
        ("aten::add_.Tensor", "aten::add.out"),
        ("aten::max.dim", "aten::max.dim_max"),
        ("aten::pow.Tensor_Scalar", "aten::pow.Tensor_Scalar_out"),
        ("aten::linear", None),
        ("aten::add.out", None),
    ],
)
def test_the_out_form_that_an_operator_calls(name: str, out: str | None) -> None:
    assert out_form(name) == out


def test_every_operator_made_by_its_out_form_has_one() -> None:
    names = torch._C._dispatch_get_registrations_for_dispatch_key(
        "CompositeExplicitAutogradNonFunctional"
    )
    assert len(names) > 300
    without = [name for name in names if out_form(name) is None]
    assert sorted(without) == ["aten::as_strided_", "aten::new_empty_strided"]
    assert {record().judge(name).coverage for name in without} == {Coverage.COMPOSITE}


def test_a_recorded_kernel_is_native() -> None:
    assert record("aten::mm").judge("aten::mm").coverage is Coverage.NATIVE


def test_without_its_own_kernel_the_out_form_decides() -> None:
    assert record("aten::gelu.out").judge("aten::gelu").coverage is Coverage.COMPOSITE
    lacking = record().judge("aten::gelu")
    assert lacking.coverage is Coverage.MISSING
    assert "aten::gelu.out" in lacking.reason


@pytest.mark.parametrize(
    ("fallback", "coverage"), [(True, Coverage.FALLS_BACK), (False, Coverage.MISSING)]
)
def test_what_has_no_kernel_anywhere(fallback: bool, coverage: Coverage) -> None:
    assert record(fallback=fallback).judge("aten::linalg_eig").coverage is coverage


def test_composites_are_torchs_own() -> None:
    judged = record().judge("aten::linear")
    assert (judged.coverage, judged.decomposed) == (Coverage.COMPOSITE, True)
    judged = record("aten::linear").judge("aten::linear")
    assert (judged.coverage, judged.decomposed) == (Coverage.NATIVE, False)
    judged = record().judge("aten::convolution")
    assert (judged.coverage, judged.decomposed) == (Coverage.COMPOSITE, False)


def test_a_kernel_that_computes_on_the_host_at_times_is_remarked_on() -> None:
    judged = record("aten::logit", conditional=("aten::logit",)).judge("aten::logit")
    assert judged.coverage is Coverage.NATIVE
    assert "in some cases" in judged.reason


def test_a_record_does_not_speak_of_other_libraries() -> None:
    with torch.library._scoped_library("accelhal_test", "DEF") as library:
        library.define("own(Tensor x) -> Tensor")
        library.impl("own", lambda x: x.clone(), "CPU")
        judged = record(fallback=True).judge("accelhal_test::own")
    assert judged.coverage is Coverage.UNKNOWN
    assert judged.reason


def test_without_knowledge_only_composites_are_told() -> None:
    table = UnknownTable()
    assert table.judge("aten::linear").coverage is Coverage.COMPOSITE
    assert table.judge("aten::mm").coverage is Coverage.UNKNOWN
    assert table.judge("aten::gelu").coverage is Coverage.UNKNOWN


def test_what_torch_takes_on_the_processor_only_is_not_held_against_a_device() -> None:
    name = "aten::_scaled_dot_product_flash_attention_for_cpu"
    assert record().judge(name).coverage is Coverage.MISSING
    assert TracedOnProcessor(record()).judge(name).coverage is Coverage.UNKNOWN
    assert TracedOnProcessor(record()).judge("aten::linalg_eig").coverage is Coverage.MISSING


def test_the_dispatcher_is_asked_for_what_is_loaded() -> None:
    table = DispatcherTable("CPU", None, "here")
    assert table.judge("aten::mm").coverage is Coverage.NATIVE
    assert table.judge("aten::linear").coverage is Coverage.COMPOSITE
    assert table.judge("aten::_cudnn_rnn").coverage is Coverage.MISSING
    refusing = DispatcherTable("CPU", OperatorSupport(refused=frozenset({"aten::mm"})), "here")
    assert refusing.judge("aten::mm").coverage is Coverage.MISSING


@pytest.mark.parametrize("support", [ASCEND, CUDA], ids=["npu", "cuda"])
def test_the_records_of_the_plugins_know_the_common_operators(support: OperatorSupport) -> None:
    for made in support.records():
        table = RecordTable(made, support)
        judged = {
            name: table.judge(f"aten::{name}").coverage
            for name in (
                "mm",
                "addmm",
                "relu",
                "native_layer_norm",
                "_softmax",
                "embedding",
                "copy_",
            )
        }
        lacking = (Coverage.MISSING, Coverage.FALLS_BACK)
        assert [name for name, coverage in judged.items() if coverage in lacking] == []
        assert made.conditional <= made.kernels


def test_operators_that_torch_npu_computes_on_the_host() -> None:
    """Each was seen to warn so, on torch_npu 2.13.0 itself."""
    table = RecordTable(ASCEND.records()[0], ASCEND)
    for name in ("linalg_eig", "polygamma.out", "special_airy_ai.out"):
        assert table.judge(f"aten::{name}").coverage is Coverage.FALLS_BACK
