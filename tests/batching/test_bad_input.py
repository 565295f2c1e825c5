"""What no batch could hold and no batcher could work by: one worded error for the one at fault."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch

from accelhal.batching import DynamicBatcher, batch
from accelhal.errors import UsageError

from .conftest import LIMIT

Make = Callable[..., DynamicBatcher]


def test_a_tensor_that_cannot_be_stacked_fails_alone(make: Make) -> None:
    batcher = make(lambda x: x * 2)
    with pytest.warns(UserWarning, match="prototype"):
        nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    futures = [batcher.submit(x) for x in (torch.ones(3), nested, torch.ones(3))]
    assert futures[1].exception(LIMIT) is not None
    for future in (futures[0], futures[2]):
        assert future.result(LIMIT).tolist() == [2, 2, 2]
    assert batcher.stats().restarts == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"max_batch_size": 0}, "max_batch_size must be a whole number, 1 or more, not 0"),
        ({"max_batch_size": -4}, "max_batch_size must be a whole number, 1 or more, not -4"),
        ({"max_batch_size": 2.5}, "not 2.5"),
        ({"max_batch_size": True}, "not True"),
        ({"max_queue_delay": -1}, "max_queue_delay must be a number of seconds, 0 or more"),
        ({"max_queue_delay": float("nan")}, "max_queue_delay"),
        ({"max_queue_delay": "soon"}, "'soon'"),
        ({"max_queue_size": 0}, "max_queue_size"),
        ({"max_batch_tokens": -1}, "max_batch_tokens"),
        ({"priority_levels": 0}, "priority_levels"),
        ({"max_inflight_batches": 0}, "max_inflight_batches"),
        ({"default_timeout": 0}, "default_timeout must be more than 0 seconds"),
        ({"overflow": "drop"}, "'drop' is no overflow"),
        ({"on_error": "ignore"}, "'ignore' is no on_error"),
        ({"batch_padding_policy": "up"}, "'up' is no batch_padding_policy"),
        ({"allowed_batch_sizes": [4, 0]}, "a size must be a whole number, 1 or more, not 0"),
        ({"collate": "zip"}, "'zip' is no way to collate"),
        ({"collate": "pad"}, "needs a pad_value"),
        ({"collate": "stack", "pad_value": 0}, "pad_value has no meaning"),
        ({"collate": "list", "lengths": "lengths"}, "lengths has no meaning"),
        ({"collate": "pad", "pad_value": 0, "length_buckets": [4, 2]}, "ascending"),
        ({"collate": "pad", "pad_value": 0, "length_buckets": "geometric:1"}, "geometric:1"),
        ({"devices": []}, "devices is empty"),
        ({"standby": ["cpu:0"]}, "standby without devices"),
        ({"lanes": []}, "lanes beside a model"),
    ],
)
def test_options_are_checked(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        DynamicBatcher(lambda x: x, **options)


@pytest.mark.parametrize(
    ("model", "options", "said"),
    [
        (None, {}, "needs a model"),
        (3, {}, "several models without devices|cannot be called"),
        ([abs, abs], {"devices": ["cpu:0"]}, "2 models for 1 devices"),
        (torch.nn.Linear(1, 1), {"devices": ["cpu:0", "cpu:0"]}, "one Linear for 2 devices"),
        (None, {"lanes": [object()]}, "object is no lane"),
    ],
)
def test_models_and_devices_must_go_together(
    model: Any, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        DynamicBatcher(model, **options)


@pytest.mark.parametrize(
    ("value", "options", "said"),
    [
        ("text", {}, "holds a str, which cannot be collated"),
        ({"a": torch.ones(1), "b": object()}, {}, "holds a object"),
        ({}, {}, "holds no tensor"),
        (torch.ones(3), {"rows": 0}, "rows must be a whole number"),
        (torch.ones(3), {"rows": -1}, "rows must be a whole number"),
        (torch.ones(3), {"rows": 2}, r"rows=2, but a tensor of the request has shape \[3\]"),
        (torch.tensor(1.0), {"rows": 1}, "rows=1"),
        (torch.ones(3), {"priority": 2}, r"priority must be 0 \(most urgent\) to 1, not 2"),
        (torch.ones(3), {"priority": -1}, "priority"),
        (torch.ones(3), {"priority": "high"}, "priority"),
        (torch.ones(3), {"timeout": -1}, "timeout must be a number of seconds, 0 or more"),
        (torch.ones(3), {"timeout": 0}, "timeout must be more than 0"),
        (torch.ones(9, 3), {"rows": 9}, "9 rows cannot enter a queue of 8"),
    ],
)
def test_requests_are_checked_where_they_are_made(
    make: Make, value: Any, options: dict[str, Any], said: str
) -> None:
    batcher = make(lambda x: x, max_queue_size=8)
    with pytest.raises(UsageError, match=said):
        batcher.submit(value, **options)
    with pytest.raises(UsageError, match=said):
        batcher(value, **options)
    assert batcher(torch.ones(3)).shape == (3,)


@pytest.mark.parametrize("returned", [3, None, {}, "text", [1, 2], {"a": 1}])
def test_an_output_without_rows_is_told(make: Make, returned: Any) -> None:
    batcher = make(lambda x: returned)
    with pytest.raises(RuntimeError, match="the model returned"):
        batcher(torch.ones(2))


def test_a_wrong_shape_fails_alone_in_a_burst(make: Make) -> None:
    batcher = make(torch.nn.Linear(4, 2), max_batch_size=8)
    futures = [batcher.submit(torch.ones(5 if n == 3 else 4)) for n in range(12)]
    for n, future in enumerate(futures):
        if n == 3:
            assert isinstance(future.exception(LIMIT), RuntimeError)
        else:
            assert future.result(LIMIT).shape == (2,)


def test_one_bad_value_in_a_map_is_told_in_its_place(make: Make) -> None:
    batcher = make(lambda x: x + 1)
    values = [torch.zeros(1), "text", torch.ones(1)]
    answers = batcher.map(values, return_exceptions=True)
    assert isinstance(answers[1], UsageError)
    assert [answers[0].item(), answers[2].item()] == [1.0, 2.0]
    with pytest.raises(UsageError, match="holds a str"):
        batcher.map(values)


def test_a_batcher_is_not_copied(make: Make) -> None:
    with pytest.raises(UsageError, match="cannot be copied or pickled"):
        pickle.dumps(make(lambda x: x))


@pytest.mark.parametrize("option", ["max_batch", "collate", "lanes"])
def test_the_decorator_names_an_unknown_option(option: str) -> None:
    with pytest.raises(UsageError, match=f"has no option '{option}'"):
        batch(**{option: 1})(lambda items: items)


def test_the_decorator_takes_functions_alone() -> None:
    with pytest.raises(UsageError, match="32 is not a function"):
        batch(32)  # type: ignore[call-overload]
