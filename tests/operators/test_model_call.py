"""From a factory to one call of a model; each way of breaking the contract is one message."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
from torch import nn

from accelhal.errors import UsageError
from accelhal.operators.inputs import InputSpec
from accelhal.operators.model_call import ModelCall, check_model_name, load_factory, make_call

X = torch.ones(1, 3)


def call_of(made: Any, *inputs: InputSpec) -> ModelCall:
    return make_call("m:f", lambda: made, inputs)


@pytest.mark.parametrize(
    ("second", "args", "kwargs"),
    [
        (X, (X,), {}),
        ([X, 2], (X, 2), {}),
        ((X,), (X,), {}),
        ({"input": X}, (), {"input": X}),
        (lambda size: torch.ones(size, 3), (X,), {}),
    ],
)
def test_inputs_beside_the_model(
    second: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    call = call_of((nn.Linear(3, 2), second))
    torch.testing.assert_close((call.args, dict(call.kwargs)), (args, kwargs))


def test_arguments_by_place_and_by_name() -> None:
    call = call_of((nn.Bilinear(3, 3, 2), [X], {"input2": X}))
    assert call.run().shape == (1, 2)


def test_inputs_given_as_text_stand_before_the_factorys_own() -> None:
    call = call_of(
        (nn.Bilinear(3, 3, 2), X),
        InputSpec("float32", (5, 3)),
        InputSpec("float32", (5, 3), "input2"),
    )
    assert call.run().shape == (5, 2)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (None, "returned None where a torch.nn.Module is due"),
        ((), "returned a tuple of 0 where a torch.nn.Module is due"),
        ((X, X), "returned <Tensor> where a torch.nn.Module is due"),
        (nn.Linear(3, 2), "returned a model without inputs"),
        ((nn.Linear(3, 2), "x"), "returned <str> where inputs are due"),
        ((nn.Linear(3, 2), lambda size: None), "returned None where inputs are due"),
        ((nn.Linear(3, 2), lambda: X), r"make_batch\(1\) raised TypeError"),
        ((nn.Linear(3, 2), X, {}), "returned <Tensor> where a list of arguments is due"),
        ((nn.Linear(3, 2), [X], [X]), "returned <list> where a mapping is due"),
        ((nn.Linear(3, 2), [X], {}, 1), "returned a tuple of 4"),
    ],
)
def test_what_breaks_the_contract(made: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        call_of(made)
    assert caught.value.hint


def test_a_factory_that_raises() -> None:
    def factory() -> None:
        raise SystemExit("no weights")

    with pytest.raises(UsageError, match="m:f raised SystemExit: no weights"):
        make_call("m:f", factory)


@pytest.mark.parametrize("name", ["", "m", "m:", ":f", "m:f()", "m.py:f g"])
def test_names_that_are_no_factorys(name: str) -> None:
    with pytest.raises(UsageError, match=re.escape(repr(name))):
        check_model_name(name)


@pytest.mark.parametrize(
    ("name", "message"),
    [("no_such_module:f", "importing no_such_module raised"), ("json:nothing", "no attribute")],
)
def test_factories_that_are_not_there(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load_factory(name)


def test_a_call_moves_to_a_device_with_its_tensors() -> None:
    meta = ModelCall(nn.Linear(3, 2), ([X, 1],), {"by_name": {"x": X}}).to(torch.device("meta"))
    assert meta.args[0][0].is_meta
    assert meta.args[0][1] == 1
    assert meta.kwargs["by_name"]["x"].is_meta
    assert next(meta.module.parameters()).is_meta
