"""Another vendor's migration shim rebinds torch.cuda: no board of its is taken for NVIDIA's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from vendor_stacks.cuda.process import run_python
from vendor_stacks.cuda.settings import Settings

SHIM = """
\"\"\"What `transfer_to_npu` and `gpu_migration` do: torch.cuda answers for other boards.\"\"\"
import torch

class Stream:
    pass

def is_available():
    return True

def device_count():
    return 8

def current_device():
    return 0

def set_device(device):
    pass

def get_device_properties(device=None):
    raise AssertionError("a shim's boards were looked at")

for value in (Stream, is_available, device_count, current_device, set_device,
              get_device_properties):
    setattr(torch.cuda, value.__name__, value)
"""

PROGRAM = """
import torch, othervendor.migration, accelhal
print(torch.cuda.is_available(), torch.cuda.device_count())
print({backend.name: backend.probe.status.value for backend in accelhal.backends()}["cuda"])
try:
    accelhal.device("cuda")
except accelhal.BackendIncompatibleError as error:
    print(error)
print(accelhal.device().backend)
"""


@pytest.fixture
def shim(tmp_path: Path) -> Path:
    package = tmp_path / "othervendor"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "migration.py").write_text(SHIM)
    return tmp_path


def test_on_a_cpu_build_the_probe_reads_torch_s_files(shim: Path) -> None:
    environ = {name: value for name, value in os.environ.items() if "ACCELHAL" not in name}
    search = os.pathsep.join([str(shim), *filter(None, sys.path)])
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM],
        env={**environ, "PYTHONPATH": search},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("True 8\n"), "the shim is not in place"
    assert "available" not in ended.stdout.splitlines()[1]
    assert ended.stdout.splitlines()[-1] != "cuda"


def test_on_a_cuda_build_the_shim_is_named(shim: Path, stack: Settings) -> None:
    program = f"import sys; sys.path.insert(0, {str(shim)!r})\n{PROGRAM}"
    shown = run_python(program, stack).splitlines()
    assert shown[0] == "True 8", "the shim is not in place"
    assert "othervendor has bound torch.cuda" in " ".join(shown)
    assert shown[-1] != "cuda"
