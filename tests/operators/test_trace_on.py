"""Where a model is traced is checked before torch is loaded or the model is made."""

from __future__ import annotations

import pytest

from accelhal.errors import UsageError
from accelhal.operators import check_model
from accelhal.operators.trace_on import TraceOn, parse_trace_on


def test_a_place_is_read_by_its_name() -> None:
    assert [parse_trace_on(place.value) for place in TraceOn] == list(TraceOn)


def test_a_place_that_does_not_exist() -> None:
    with pytest.raises(UsageError, match="cannot be traced on 'gpu'") as caught:
        check_model("no_such_module:model", "cpu", on="gpu")
    assert caught.value.hint == "one of: cpu, fake, device"
