"""Where torch.mlu looks like torch.cuda and is not: met by the stand-in, and not by accelhal."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from vendor_stacks.mlu.standin import FORMS, call, environment

FORM = pytest.mark.parametrize("form", FORMS)
OLD_CHIP = "mlu370-x8"
"""It has no bfloat16 arithmetic."""


@cache
def found(scenario: str, form: str, neuware: Path) -> dict[str, Any]:
    chosen = {"MLU_STANDIN_FORM": form, "MLU_STANDIN_PRODUCT": OLD_CHIP}
    result: dict[str, Any] = call(scenario, environment(neuware, **chosen))
    return result


# ---- the stand-in deviates as recorded


@FORM
def test_getters_create_a_context(form: str, neuware: Path) -> None:
    raw = found("untaught", form, neuware)
    assert (raw["fresh"], raw["after_count"], raw["after_getter"]) == (False, False, True)
    assert "reset_before_use" not in raw


@FORM
def test_the_standin_is_not_an_idealised_torch_cuda(form: str, neuware: Path) -> None:
    raw = found("untaught", form, neuware)
    old = form == "1.25"
    assert (raw["properties_without_argument"] is not None) is old
    assert raw["properties_of_no_device"] == ["AssertionError", "Invalid device id"]
    assert raw["uuid"] is None
    assert (raw["low_priority"] is not None) is old
    assert raw["priority_range"] == [0, -3]
    assert raw["query"] is True
    assert raw["unplaced"][0] == "RuntimeError"
    assert raw["unplaced"][1].startswith("Both notifiers must be placed")
    assert raw["untimed"] == 0.0
    assert raw["bf16"] is not old
    assert raw["out_of_memory"][0] == "OutOfMemoryError"
    assert raw["out_of_memory"][1].startswith("MLU out of memory. Tried to allocate")
    assert raw["total_without_index"] is not None
    assert raw["default_stream_capture"] is not None
    assert raw["capture_error_mode"] == "relaxed"
    assert (raw["device_in_stream"], raw["device_after_stream"]) == (1, 0)
    assert raw["device_after_set_stream"] == 1


@FORM
def test_a_deferred_call_that_fails_is_swallowed(form: str, neuware: Path) -> None:
    assert found("untaught", form, neuware)["seed"] == 77


# ---- and accelhal does not show it


@FORM
def test_looking_at_a_device_starts_none(form: str, neuware: Path) -> None:
    asked = found("before_use", form, neuware)
    assert asked["figures"] == [0] * 12
    assert (asked["located"], asked["initialized"]) == (True, False)


@FORM
def test_opening_leaves_the_process_fit_to_fork(form: str, neuware: Path) -> None:
    assert found("before_use", form, neuware)["forked"] == {"total": 4.0}


def test_a_fork_that_the_driver_spoils_is_called_so(neuware: Path) -> None:
    environ = environment(neuware, MLU_STANDIN_CNDEV="0")
    assert call("before_use", environ)["forked"]["kind"] == "bad_fork"


@FORM
def test_priorities_outside_the_range_become_the_nearest(form: str, neuware: Path) -> None:
    assert found("taught", form, neuware)["priorities"] == [0, 0, -2, -3]


@FORM
def test_bfloat16_is_listed_only_where_the_chip_computes_in_it(form: str, neuware: Path) -> None:
    assert found("taught", form, neuware)["bf16"] == [False, False]


@FORM
def test_dtypes_that_autocast_would_only_warn_about_are_refused(form: str, neuware: Path) -> None:
    taught = found("taught", form, neuware)
    assert taught["autocast_fp8"][0] == taught["autocast_float64"][0] == "UsageError"


@FORM
def test_times_that_were_not_taken_raise(form: str, neuware: Path) -> None:
    taught = found("taught", form, neuware)
    assert taught["untimed"][0] == taught["unrecorded"][0] == "UsageError"
    assert taught["unplaced_kind"] == "usage"


@FORM
def test_properties_and_figures_come_through(form: str, neuware: Path) -> None:
    taught = found("taught", form, neuware)
    assert taught["properties"] == ["MLU370-X8", "mtp_372", None]
    assert taught["allocator"] == [True] * 4
    assert taught["out_of_memory_kind"] == "out_of_memory"


@FORM
def test_a_device_that_is_not_there_is_refused_before_torch_asserts(
    form: str, neuware: Path
) -> None:
    assert found("taught", form, neuware)["second_exists"][0] == "DeviceNotFoundError"


@FORM
def test_leaving_a_stream_restores_the_device(form: str, neuware: Path) -> None:
    taught = found("taught", form, neuware)
    assert (taught["device_in_stream"], taught["device_after_stream"]) == (1, 0)


@FORM
def test_each_device_captures_its_own_work(form: str, neuware: Path) -> None:
    captured = found("taught", form, neuware)
    assert captured["replayed"] == [[10.0] * 4] * 2
    assert captured["device_after"] == 0


@FORM
def test_the_capture_error_mode_is_always_passed_on(form: str, neuware: Path) -> None:
    modes = found("taught", form, neuware)["modes"]
    assert modes["default"] is not None
    assert modes["global"] is not None
    assert modes["thread_local"] is modes["relaxed"] is None


@FORM
def test_another_out_of_tree_device_is_refused(form: str, neuware: Path) -> None:
    beside = found("taught", form, neuware)["private"]
    assert "mlu holds torch's one place" in beside["python_mode"][1]
    assert beside["chosen_mode"] == "plain"
