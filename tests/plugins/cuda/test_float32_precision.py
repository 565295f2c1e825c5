"""TF32 over torch's own settings, which a CPU build keeps as well."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest
import torch
from accelhal_cuda.float32_precision import get_float32_precision, set_float32_precision
from accelhal_cuda.runtime import CudaRuntime

has_settings = pytest.mark.skipif(
    not hasattr(torch.backends.cuda.matmul, "fp32_precision"),
    reason="this torch has only the older flags",
)


@pytest.fixture(autouse=True)
def torch_s_defaults() -> Iterator[None]:
    def restore() -> None:
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = True

    restore()
    yield
    restore()


def test_torch_s_default_is_no_promise_of_ieee() -> None:
    """Matrix products are exact by default, convolutions are not."""
    assert not torch.backends.cuda.matmul.allow_tf32
    assert torch.backends.cudnn.allow_tf32
    assert get_float32_precision() == "tf32"


@pytest.mark.parametrize("precision", ["ieee", "tf32"])
def test_a_choice_holds_for_every_product(precision: str) -> None:
    set_float32_precision(precision)
    assert get_float32_precision() == precision
    # The older flags still answer, and agree.
    assert torch.backends.cuda.matmul.allow_tf32 is (precision == "tf32")
    assert torch.backends.cudnn.allow_tf32 is (precision == "tf32")


@has_settings
@pytest.mark.parametrize("precision", ["ieee", "tf32"])
def test_every_operator_has_the_choice(precision: str) -> None:
    set_float32_precision(precision)
    for setting in (
        torch.backends.cuda.matmul,
        torch.backends.cudnn.conv,
        torch.backends.cudnn.rnn,
    ):
        assert setting.fp32_precision == precision


@has_settings
@pytest.mark.parametrize("operator", ["matmul", "conv", "rnn"])
def test_one_reduced_operator_breaks_the_promise(operator: str) -> None:
    set_float32_precision("ieee")
    library = torch.backends.cuda if operator == "matmul" else torch.backends.cudnn
    getattr(library, operator).fp32_precision = "tf32"
    assert get_float32_precision() == "tf32"


def test_a_choice_made_through_torch_is_read() -> None:
    set_float32_precision("ieee")
    torch.set_float32_matmul_precision("high")
    try:
        assert get_float32_precision() == "tf32"
    finally:
        torch.set_float32_matmul_precision("highest")


def test_a_choice_can_be_taken_back_and_forth() -> None:
    for precision in ("tf32", "ieee", "ieee", "tf32", "ieee"):
        set_float32_precision(precision)
        assert get_float32_precision() == precision
    assert torch.get_float32_matmul_precision() == "highest"


@pytest.mark.parametrize("precision", ["", "bf16", "TF32", "highest"])
def test_an_unknown_choice_changes_nothing(precision: str) -> None:
    set_float32_precision("ieee")
    with pytest.raises(ValueError, match="ieee and tf32"):
        CudaRuntime().set_float32_precision(0, precision)
    assert CudaRuntime().get_float32_precision(0) == "ieee"


def test_the_runtime_chooses_for_every_device() -> None:
    for precision in ("ieee", "tf32"):
        CudaRuntime().set_float32_precision(1, precision)
        assert get_float32_precision() == CudaRuntime().get_float32_precision(0) == precision


def test_a_torch_with_the_older_flags_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """torch < 2.9, whose matmul module has no fp32_precision."""
    matmul, cudnn = SimpleNamespace(allow_tf32=False), SimpleNamespace(allow_tf32=True)
    backends = SimpleNamespace(cuda=SimpleNamespace(matmul=matmul), cudnn=cudnn)
    monkeypatch.setattr(torch, "backends", backends)
    assert get_float32_precision() == "tf32"
    set_float32_precision("ieee")
    assert (matmul.allow_tf32, cudnn.allow_tf32) == (False, False)
    assert get_float32_precision() == "ieee"
    set_float32_precision("tf32")
    assert (matmul.allow_tf32, cudnn.allow_tf32) == (True, True)
    for reduced in (matmul, cudnn):
        matmul.allow_tf32 = cudnn.allow_tf32 = False
        reduced.allow_tf32 = True
        assert get_float32_precision() == "tf32"
