"""The conformance suite over the real torch_npu: the rules that a backend's core stands on."""

from __future__ import annotations

from pathlib import Path

import pytest
from vendor_stacks.cann.conformance import run_suite
from vendor_stacks.cann.stack import CannStack

GROUPS = (
    "loading",
    "signatures",
    "capabilities",
    "identity",
    "current_device",
    "streams",
    "events",
    "memory",
    "out_of_memory",
    "random_numbers",
    "dtypes",
    "graphs",
    "health",
)
"""All but those whose every rule starts torch_npu anew in several processes: processes,
visible_devices and distributed take minutes. `python -m vendor_stacks.cann.conformance` runs them.
"""


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_real_package_passes_the_suite(cann_stack: CannStack, tmp_path: Path) -> None:
    found = run_suite(cann_stack, tmp_path, GROUPS)
    failed = {
        rule["rule"]: rule["message"] for rule in found["rules"] if rule["outcome"] == "failed"
    }
    assert failed == {}
    assert found["complete"]
    tried = {group["name"]: group["passed"] for group in found["groups"]}
    assert all(tried[group] > 0 for group in GROUPS), tried
