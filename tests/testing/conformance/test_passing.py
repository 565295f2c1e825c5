"""The backends that need no hardware pass every rule that applies to them."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from accelhal.testing.conformance import GROUPS


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("backend", "boards", "silent"),
    [
        ("cpu", "", {"visible_devices", "current_device", "graphs"}),
        ("mock", "mode=python,hazards=raise", {"visible_devices"}),
        ("mock", "mode=plain,hazards=raise", {"visible_devices", "graphs"}),
    ],
    ids=["cpu", "mock-python", "mock-plain"],
)
def test_backend_passes_the_suite(backend: str, boards: str, silent: set[str]) -> None:
    environ = {name: value for name, value in os.environ.items() if "ACCELHAL" not in name}
    ended = subprocess.run(
        [sys.executable, "-m", "accelhal", "conformance", backend, "--json"],
        env={**environ, "ACCELHAL_MOCK": boards},
        capture_output=True,
        text=True,
        timeout=580,
    )
    document = json.loads(ended.stdout)
    failed = [rule for rule in document["rules"] if rule["outcome"] == "failed"]
    assert not failed
    assert (ended.returncode, document["complete"], document["passed"]) == (0, True, True)
    assert [group["name"] for group in document["groups"]] == list(GROUPS)
    assert not any(group["expected_failure"] for group in document["groups"])
    assert {group["name"] for group in document["groups"] if not group["passed"]} == silent
