"""The record of torch_npu's operators against torch_npu itself, over the simulated CANN."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from accelhal_ascend import operators
from vendor_stacks.cann.stack import CannStack

pytestmark = pytest.mark.slow

JUDGE_EVERYTHING = """
import json
from accelhal.device_name import DeviceName
from accelhal.operators.sources import knowledge
from accelhal_ascend.operators import SUPPORT

live = knowledge(DeviceName("npu"))  # loads torch with accelhal's guards
import torch
from accelhal.operators.coverage import RecordTable

record = RecordTable(SUPPORT.records()[0], SUPPORT)
names = [
    name
    for name in torch._C._dispatch_get_all_op_names()
    if name.startswith("aten::") and torch._C._dispatch_has_kernel(name)
]
print(json.dumps({
    "live": live.live,
    "operators": len(names),
    "different": [n for n in names if live.table.judge(n) != record.judge(n)],
}))
"""

FALL_BACK = """
import accelhal
device = accelhal.device("npu:0").torch_device
import torch
x = torch.empty(2, device=device)
torch.polygamma(1, x)
torch.special.airy_ai(x)
"""


def test_the_record_judges_as_the_loaded_package(cann_stack: CannStack) -> None:
    found = json.loads(cann_stack.python(JUDGE_EVERYTHING, ASCEND_HOME_PATH=None).stdout)
    assert found["live"]
    assert found["operators"] > 3000
    assert found["different"] == []


def test_recording_again_gives_the_record(cann_stack: CannStack, tmp_path: Path) -> None:
    file = tmp_path / "again.json"
    module = "accelhal.operators.record"
    cann_stack.python(
        f"import runpy, sys; sys.argv = ['record', 'npu', {str(file)!r}]\n"
        f"try: runpy.run_module({module!r}, run_name='__main__')\n"
        "except SystemExit as ended: assert not ended.code"
    )
    again = json.loads(file.read_text())
    folder = Path(operators.__file__).parent
    shipped = folder / f"torch_npu-{operators.SUPPORT.records()[0].version}.json"
    known = json.loads(shipped.read_text())
    assert again["kernels"]["aten"] == known["kernels"]["aten"]
    assert {key: again[key] for key in ("package", "version", "fallback")} == {
        key: known[key] for key in ("package", "version", "fallback")
    }


def test_operators_that_are_said_to_fall_back_do(cann_stack: CannStack) -> None:
    said = cann_stack.python(FALL_BACK).stderr
    for name in ("aten::polygamma.out", "aten::special_airy_ai.out"):
        assert f"'{name}' is not currently supported on the NPU backend and will fall back" in said
