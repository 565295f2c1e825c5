"""Half-broken Ascend installations: each costs itself, in words, and the process goes on."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from vendor_stacks.cann.build import NAMES
from vendor_stacks.cann.stack import CannStack

pytestmark = pytest.mark.slow

USE = """
import os, warnings
warnings.simplefilter("ignore")
environment = dict(os.environ)
import accelhal
try:
    print("npu opens:", accelhal.device("npu"))
except accelhal.AccelhalError as error:
    print(type(error).__name__, error)
print("and", accelhal.device())
import torch
print(torch.ones(2).sum())
print("kept" if dict(os.environ) == environment else "changed")
"""
"""Opens the backend, then goes on with what works."""

GOES_ON = "\nand cpu:0\ntensor(2.)\nkept\n"


def used(stack: CannStack, **environ: str | None) -> str:
    """What a child says that opens npu and goes on."""
    output = stack.python(USE, **environ).stdout
    assert output.endswith(GOES_ON), output
    return output


def test_without_cann_a_plain_import_of_torch_fails(cann_stack: CannStack) -> None:
    """What the next tests are about: torch loads torch_npu by itself."""
    process = cann_stack.python("import torch", check=False, LD_LIBRARY_PATH=None)
    assert process.returncode == 1
    assert "Failed to load the backend extension: torch_npu" in process.stderr
    assert "libhccl.so" in process.stderr


def test_without_cann_accelhal_names_the_library(cann_stack: CannStack) -> None:
    output = used(cann_stack, LD_LIBRARY_PATH=None)
    assert output.startswith("BackendLoadError")
    assert "libhccl.so" in output
    assert "CANN" in output


def test_cann_older_than_torch_npu(cann_stack: CannStack, tmp_path: Path) -> None:
    """The library is there, as the probe saw; that it lacks a function only loading tells."""
    for name in NAMES:
        (tmp_path / name).symlink_to(cann_stack.libraries / name)
    (tmp_path / "libascendcl.so").unlink()
    (tmp_path / "libascendcl.so").write_text("a file that is no library")
    output = used(cann_stack, LD_LIBRARY_PATH=str(tmp_path))
    assert output.startswith("BackendLoadError")
    assert "libascendcl.so" in output


def test_cann_without_its_operators(cann_stack: CannStack) -> None:
    output = used(cann_stack, ASCEND_OPP_PATH=None)
    assert output.startswith("BackendLoadError")
    assert "ASCEND_OPP_PATH is not" in output


def test_torch_npu_beside_a_torch_for_another_accelerator(cann_stack: CannStack) -> None:
    """Its own refusal, where the probe was not asked or did not see it."""
    code = "import torch\ntorch._C._get_accelerator = lambda: torch.device('cuda')\n" + USE
    output = cann_stack.python(code, TORCH_DEVICE_BACKEND_AUTOLOAD="0").stdout
    assert output.startswith("BackendLoadError")
    assert "Two accelerators cannot be used at the same time" in output
    assert output.endswith(GOES_ON)


@pytest.mark.parametrize(
    ("environ", "status"),
    [
        ({"SIM_CANN_DEVICES": "0"}, 1),
        ({"SIM_CANN_FAIL": "aclrtGetDeviceCount=507899"}, -signal.SIGABRT),
    ],
    ids=["no device", "no driver"],
)
def test_no_device_is_an_error_and_not_the_end_of_the_process(
    cann_stack: CannStack, environ: dict[str, str], status: int
) -> None:
    """torch.Stream() fails or even aborts then: no such call is made before a device is counted."""
    code = f"{USE}\nimport sys\nsys.stdout.flush()\ntorch.Stream()"
    process = cann_stack.python(code, check=False, **environ)
    assert process.stdout.startswith("DeviceNotFoundError"), process.stdout + process.stderr
    assert GOES_ON in process.stdout
    assert process.returncode == status
