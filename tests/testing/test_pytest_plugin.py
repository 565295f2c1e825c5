"""The pytest plugin as another project's suite meets it, run by pytest in a child process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SUITE = """
import pytest

def test_on_the_device(accelhal_device):
    assert accelhal_device.index == 0
    print("ran on", accelhal_device)

@pytest.mark.accelhal(require={"streams"})
def test_has_it(accelhal_device): ...

@pytest.mark.accelhal(require={"caching_allocator", "streams"})
def test_lacks_it(accelhal_device): ...

@pytest.mark.accelhal(devices=2)
def test_needs_two(accelhal_devices):
    assert len(accelhal_devices) >= 2
"""


def run(folder: Path, code: str, *arguments: str) -> str:
    (folder / "test_theirs.py").write_text(code)
    environ = {k: v for k, v in os.environ.items() if not k.startswith("ACCELHAL")}
    result = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-rsEf", "-p", "no:cacheprovider"),
            # It takes longer to import than these suites to run, and may take torch along.
            *("-p", "no:hypothesispytest", *arguments),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        env=environ,
    )
    return result.stdout + result.stderr


def test_a_suite_runs_on_the_named_device_and_skips_with_reasons(tmp_path: Path) -> None:
    out = run(tmp_path, SUITE, "--accelhal-device=cpu:0", "-s")
    assert "ran on cpu:0" in out
    assert "2 passed, 2 skipped" in out
    assert "cpu:0 has no caching_allocator" in out
    assert "needs 2 devices of cpu, which has 1" in out


def test_without_the_option_it_is_the_best_device(tmp_path: Path) -> None:
    assert "2 passed, 2 skipped" in run(tmp_path, SUITE)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("npu:zero", "'npu:zero' is not a device name"),
        ("abacus", "no backend is named 'abacus'"),
        ("cpu:7", "cpu:7 does not exist"),
    ],
)
def test_a_bad_device_is_one_message(tmp_path: Path, name: str, words: str) -> None:
    out = run(tmp_path, SUITE, f"--accelhal-device={name}")
    assert words in out
    assert "Traceback" not in out
    assert "passed" not in out


def test_a_misspelt_marker_is_refused(tmp_path: Path) -> None:
    code = SUITE.replace("devices=2", "device_count=2").replace('{"streams"}', '{"streems"}')
    out = run(tmp_path, code)
    assert "takes require= and devices= only, not device_count" in out
    assert "'streems' is not a capability" in out


def test_a_suite_that_needs_no_device_loads_no_torch(tmp_path: Path) -> None:
    code = "import sys\ndef test_light(): assert 'torch' not in sys.modules\n"
    assert "1 passed" in run(tmp_path, code)
