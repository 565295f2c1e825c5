"""Where torch_npu looks like torch.cuda and is not: each trap, and what accelhal makes of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from vendor_stacks.cann.stack import CannStack

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def seen(cann_stack: CannStack) -> dict[str, Any]:
    """What one child process saw. ASCEND_HOME_PATH is not set: torch_npu says so on stdout."""
    code = "from vendor_stacks.cann.observations import main; main()"
    output = cann_stack.python(code, ASCEND_HOME_PATH=None).stdout
    found: dict[str, Any] = json.loads(output)  # nothing but the child's own line stands there
    return found


def test_opening_leaves_the_environment_as_it_was(seen: dict[str, Any]) -> None:
    assert seen["environment_kept"]


def test_memory_figures_do_not_start_the_device(seen: dict[str, Any]) -> None:
    found = seen["unused_device"]
    assert found["torch_npu"] == {}
    assert (found["figures"], found["allocated"], found["initialized"]) == ([0, 0, 0], 0, False)


def test_properties_that_are_there_but_none(seen: dict[str, Any]) -> None:
    found = seen["properties"]
    assert found["torch_npu_major"] is None
    assert (found["arch"], found["compute_units"], found["warnings"]) == ("Ascend910B3", 20, [])


def test_the_parameter_is_not_called_device(seen: dict[str, Any]) -> None:
    assert seen["properties"]["torch_npu_keyword"][0] == "TypeError"


def test_devices_have_uuids_and_are_located_by_the_driver_s_number(seen: dict[str, Any]) -> None:
    found = seen["properties"]
    assert found["keys"] == [["logic-id", "0"], ["logic-id", "1"]]
    assert len(set(found["uuids"])) == 2


def test_no_call_leaves_the_index_to_torch_s_helper(seen: dict[str, Any]) -> None:
    """It asks CUDA before anyone else.

    torch_npu itself leaves it so where it wraps a stream that is there, and in NPUGraph.__init__.
    """
    found = seen["indices"]
    assert found["watched"] >= 3
    assert set(found["missing"]) <= {"current_stream", "default_stream", "__init__"}


def test_a_stream_whose_priority_cannot_be_read(seen: dict[str, Any]) -> None:
    found = seen["streams"]
    assert found["torch_npu_priority"][0] == "RuntimeError"
    assert found["shown"]


def test_untimed_events_raise(seen: dict[str, Any]) -> None:
    found = seen["events"]
    assert found["torch_npu"] == 0.0
    assert found["error"][0] == "UsageError"


def test_the_error_mode_of_a_capture_is_passed_by_name(seen: dict[str, Any]) -> None:
    found = seen["captures"]
    assert (found["torch_npu_mode"], found["torch_npu_auto_dispatch"]) == ("global", True)
    assert (found["mode"], found["auto_dispatch"]) == (["relaxed"], False)


def test_counters_have_the_names_that_torch_npu_uses(seen: dict[str, Any]) -> None:
    found = seen["memory"]
    assert found["allocations"] == 1
    assert found["allocated"] >= found["held"]


def test_exhausted_memory(seen: dict[str, Any]) -> None:
    found = seen["memory"]
    assert found["text"].startswith("NPU out of memory. Tried to allocate")
    assert found["kind"] == "out_of_memory"


def test_autocast_that_would_only_warn(seen: dict[str, Any]) -> None:
    found = seen["autocast"]
    assert found["torch_npu"]
    assert found["error"][0] == "UsageError"


def test_a_device_that_does_not_exist(seen: dict[str, Any]) -> None:
    found = seen["wrong_index"]
    assert "107001" in found["torch_npu"][1]
    assert found["error"][0] == "DeviceNotFoundError"


def test_torch_has_one_place_for_out_of_tree_devices(seen: dict[str, Any]) -> None:
    kind, text = seen["other_vendor"]["error"]
    assert kind == "BackendIncompatibleError"
    assert "npu holds it" in text


def test_a_lost_board_is_a_typed_error(seen: dict[str, Any]) -> None:
    kind, text = seen["lost_device"]["error"]
    assert kind == "DeviceLostError"
    assert "507899" in text


def test_a_child_of_a_plain_fork_is_told(seen: dict[str, Any]) -> None:
    """torch_npu alone does not notice it, and waits for ever."""
    found = seen["forked_child"]
    assert found["status"] == 0, "the child waited until it was ended"
    assert found["kind"] == "bad_fork"


@pytest.fixture(scope="module")
def older(cann_stack: CannStack) -> list[str]:
    """CANN without UUIDs, the second of two boards, and a call queued before the first use."""
    code = """
import accelhal, torch
device = accelhal.device("npu:0")
def fail():
    raise ValueError("no such generator")
torch.npu._lazy_call(fail)
try:
    device.synchronize()
except Exception as error:
    print(type(error).__name__, error.args)
torch.npu._queued_calls.clear()
print(torch.npu.get_device_properties(0).uuid)
print(device.properties.uuid, device.location.key)
"""
    environ = {"SIM_CANN_UUID": "0", "ASCEND_RT_VISIBLE_DEVICES": "1"}
    return cann_stack.python(code, **environ).stdout.splitlines()


def test_a_queued_call_fails_with_its_own_error(older: list[str]) -> None:
    """torch_npu names the error's class wrongly, and a NameError arrives."""
    assert "no such generator" in older[-3]
    assert "NameError" not in older[-3]


def test_a_uuid_of_zeros_is_none(older: list[str]) -> None:
    assert older[-2] == "00000000-0000-0000-0000-000000000000"
    assert older[-1] == "None BoardKey(backend='npu', source='logic-id', value='1')"


def test_the_shim_for_cuda_does_not_hide_the_board(cann_stack: CannStack) -> None:
    """TORCH_TRANSFER_TO_NPU rebinds torch.cuda: whoever asks it first sees a CUDA board."""
    code = """
import accelhal
device = accelhal.device()
import torch
print(device, device.vendor, torch.cuda.is_available(), torch.cuda.device_count())
try:
    print("cuda opens as", accelhal.device("cuda:0").properties.name)
except accelhal.AccelhalError as error:
    print(type(error).__name__)
"""
    lines = cann_stack.python(code, TORCH_TRANSFER_TO_NPU="1").stdout.splitlines()
    assert lines[-2:] == ["npu:0 Huawei True 2", "BackendIncompatibleError"]


def test_a_missing_wait_can_be_seen(seen: dict[str, Any]) -> None:
    """Of the simulation: without it no rule about the order of streams would mean anything."""
    found = seen["stream_order"]
    assert found["without"] == [0.0] * 4
    assert found["with a wait"] == [1.0] * 4
