"""Backends from outside the repository, installed by pip in an environment without torch."""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

LIST = """
import json, accelhal
print(json.dumps({b.name: [b.distribution, b.version, b.probe.status.value, b.probe.reason]
                  for b in accelhal.backends()}))
"""


def run(python: Path, code: str, **environ: str) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if not k.startswith("ACCELHAL")} | environ
    return subprocess.run(
        [str(python), "-c", code], capture_output=True, text=True, timeout=60, env=env
    )


def test_outside_plugin_is_listed_and_probed_and_its_broken_neighbour_disturbs_nothing(
    bare_python: Path,
) -> None:
    result = run(bare_python, LIST)
    assert result.returncode == 0, result.stderr
    listed = json.loads(result.stdout)
    assert listed["tiny"] == ["accelhal-tiny", "1.2.3", "available", "two tiny devices"]
    assert listed["broken"][:3] == ["accelhal-broken", "0.0.1", "library_broken"]
    assert "OSError: libbroken.so.1" in listed["broken"][3]
    assert {"cuda", "npu", "mlu", "mock", "cpu"} <= set(listed)


def test_frozen_plugin_opens_and_works(bare_python: Path) -> None:
    code = """
import accelhal
device = accelhal.device("tiny:1")
with device:
    assert accelhal.device("tiny") == device
assert accelhal.device("tiny").index == 0
device.synchronize()
device.manual_seed(3)
state = device.get_rng_state()
device.set_rng_state(state)
assert device.properties.name == "Tiny 1"
assert device.supports("graphs") is None
try:
    device.mem_get_info()
except accelhal.UnsupportedError as error:
    assert error.capability == "memory_info"
else:
    raise SystemExit("an absent capability answered")
print(device, device.health().status.value)
"""
    result = run(bare_python, code, PYTHONPATH=sysconfig.get_path("purelib"))
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == ["tiny:1", "unknown"]


def test_outside_plugin_without_torch_says_what_to_install(bare_python: Path) -> None:
    code = """
import accelhal
try:
    accelhal.device("tiny:0")
except accelhal.BackendLoadError as error:
    print(error)
"""
    result = run(bare_python, code)
    assert "torch is not installed" in result.stdout
    assert "pip install 'accelhal[torch]'" in result.stdout


def test_hidden_outside_plugin_is_refused_with_its_reason(bare_python: Path) -> None:
    code = """
import accelhal
try:
    accelhal.device("tiny:0")
except accelhal.DeviceNotFoundError as error:
    print(error)
"""
    result = run(bare_python, code, TINY_VISIBLE_DEVICES="")
    assert "TINY_VISIBLE_DEVICES is empty" in result.stdout
    assert "unset it" in result.stdout
