"""What a trace of small models meets, where, and how long it takes."""

from __future__ import annotations

import pytest
import torch
from operators import models

from accelhal.errors import AccelhalError
from accelhal.operators.coverage import Coverage, RecordTable
from accelhal.operators.model_call import make_call
from accelhal.operators.recorder import MAX_PLACES, Phase
from accelhal.operators.trace import Trace, trace
from accelhal.operators.trace_on import TraceOn
from accelhal.runtimes.operator_record import OperatorRecord

EVERYTHING = torch._C._dispatch_get_all_op_names()
PROCESSOR = frozenset(torch._C._dispatch_get_registrations_for_dispatch_key("CPU"))


def table(kernels: frozenset[str] = PROCESSOR, *more: str) -> RecordTable:
    return RecordTable(
        OperatorRecord("torch_x", "1.0", "2.13.0", "a test", True, kernels | set(more)), None
    )


def traced(
    factory, on: TraceOn = TraceOn.CPU, *more: str, backward: bool = False, without: str = ""
) -> Trace:
    kernels = frozenset(name for name in PROCESSOR if name != without)
    call = make_call("m:f", factory)
    return trace("m:f", call, table(kernels, *more), on, backward=backward)


def names(found: Trace, phase: Phase = Phase.FORWARD) -> list[str]:
    return [name.removeprefix("aten::") for (met, name) in found.noted if met is phase]


def test_composites_are_taken_apart() -> None:
    found = traced(models.mlp)
    assert {"linear", "addmm", "gelu"} <= set(names(found))
    assert found.noted[Phase.FORWARD, "aten::linear"].calls == 2
    assert found.noted[Phase.FORWARD, "aten::linear"].judgement.decomposed


def test_a_composite_with_a_kernel_of_the_backend_stays_whole() -> None:
    found = traced(models.mlp, TraceOn.CPU, "aten::linear")
    assert "addmm" not in names(found)
    judged = found.noted[Phase.FORWARD, "aten::linear"].judgement
    assert judged.coverage is Coverage.NATIVE


def test_attention_does_not_become_the_processors_own() -> None:
    found = traced(models.attention)
    assert "bmm" in names(found)
    assert not [name for name in names(found) if name.endswith("_for_cpu")]


def test_a_recurrent_layer_does_not_become_the_processors_own() -> None:
    enabled = torch.backends.mkldnn.enabled
    found = traced(models.recurrent)
    assert "sigmoid" in " ".join(names(found))
    assert not [name for name in names(found) if "mkldnn" in name]
    assert torch.backends.mkldnn.enabled == enabled


def test_the_backward_pass_has_operators_of_its_own() -> None:
    forward_only = traced(models.convolution)
    assert names(forward_only, Phase.BACKWARD) == []
    found = traced(models.convolution, backward=True)
    assert "convolution_backward" in names(found, Phase.BACKWARD)
    assert names(found) == names(forward_only)


def test_a_function_of_ones_own_shows_both_its_passes() -> None:
    found = traced(models.cubed, backward=True)
    assert "pow.Tensor_Scalar" in names(found)
    assert "special_i0e" in names(found, Phase.BACKWARD)
    assert "special_i0e" not in names(found)


def test_places_are_the_models_line_and_module() -> None:
    found = traced(models.cubed, backward=True)
    (place,) = found.noted[Phase.FORWARD, "aten::pow.Tensor_Scalar"].places
    assert place.source is not None
    assert "models.py:" in place.source
    assert place.module == "Cubed"
    (place,) = found.noted[Phase.FORWARD, "aten::linear"].places
    assert place.module == "inner (Linear)"


def test_backward_operators_are_placed_where_the_forward_pass_made_them() -> None:
    found = traced(models.complex_values, backward=True)
    forward = found.noted[Phase.FORWARD, "aten::polygamma"].places
    assert found.noted[Phase.BACKWARD, "aten::polygamma"].places == forward


def test_modules_of_torch_alone_have_no_line() -> None:
    (place,) = traced(models.convolution).noted[Phase.FORWARD, "aten::conv2d"].places
    assert place.source is None
    assert place.module == "0 (Conv2d)"


def test_only_the_first_places_are_kept() -> None:
    layers = torch.nn.Sequential(*[torch.nn.Tanh() for _ in range(MAX_PLACES + 2)])
    noted = traced(lambda: (layers, torch.ones(2))).noted[Phase.FORWARD, "aten::tanh"]
    assert noted.calls == MAX_PLACES + 2
    assert [place.module for place in noted.places] == [f"{i} (Tanh)" for i in range(MAX_PLACES)]


def test_a_kernel_for_dense_operands_says_nothing_of_sparse_ones() -> None:
    found = traced(models.sparse, TraceOn.CPU, "aten::_to_dense")
    coverage = {name: noted.judgement.coverage for (_, name), noted in found.noted.items()}
    assert coverage["aten::_to_sparse"] is Coverage.NATIVE
    assert coverage["aten::_to_dense"] is Coverage.UNKNOWN


def test_element_types_and_shapes_are_noted() -> None:
    found = traced(models.complex_values)
    noted = found.noted[Phase.FORWARD, "aten::abs"]
    assert noted.dtypes == {"complex64"}
    assert noted.operands == ("complex64[4]",)


def test_shapes_alone_show_the_same_operators_and_no_times() -> None:
    for factory in (models.mlp, models.convolution, models.attention, models.cubed):
        real = traced(factory, backward=True)
        with torch._subclasses.FakeTensorMode(allow_non_fake_inputs=True):
            fake = traced(factory, TraceOn.FAKE, backward=True)
        assert list(fake.noted) == list(real.noted), factory
        assert {noted.seconds for noted in fake.noted.values()} == {None}


def test_kernels_are_timed_and_what_is_taken_apart_is_not() -> None:
    found = traced(models.mlp, backward=True)
    for (_, name), noted in found.noted.items():
        assert (noted.seconds is None) == noted.judgement.decomposed, name


def test_a_model_that_needs_values_says_so_where_there_are_none() -> None:
    with (
        torch._subclasses.FakeTensorMode(allow_non_fake_inputs=True),
        pytest.raises(AccelhalError, match="needs values") as caught,
    ):
        traced(models.reads_values, TraceOn.FAKE)
    assert "--trace fake" in (caught.value.hint or "")


def test_a_model_that_keeps_tensors_of_its_first_pass_can_go_backward() -> None:
    assert "mul.Tensor" in names(traced(models.caching, backward=True), Phase.BACKWARD)


def test_a_model_that_raises() -> None:
    with pytest.raises(AccelhalError, match=r"m:f: its forward pass .* a \[bracket\] and a reason"):
        traced(models.fails)


def test_a_model_without_gradients_has_no_backward_pass() -> None:
    with pytest.raises(AccelhalError, match="no output of the model requires gradients"):
        traced(models.sparse, backward=True)


def test_the_processes_own_random_numbers_are_kept() -> None:
    torch.manual_seed(7)
    expected = torch.rand(1)
    torch.manual_seed(7)
    traced(lambda: (torch.nn.Dropout(), torch.ones(9)))
    assert torch.equal(torch.rand(1), expected)
