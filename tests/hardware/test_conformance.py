"""The whole conformance suite on a real board, in one command and one table.

pytest --accelhal-device=cuda:0 tests/hardware
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from accelhal.device_name import parse_device_name
from accelhal.testing.pytest_plugin import OPTION

LIMIT_S = 290
"""The suite takes all devices of the backend; a run on a board is to end within five minutes."""


@pytest.mark.hardware
@pytest.mark.timeout(LIMIT_S + 30)
def test_every_rule_that_applies_passes(
    pytestconfig: pytest.Config, show_at_the_end: Callable[[str], None]
) -> None:
    # Opened in the suite's process alone: a board may be in exclusive mode.
    backend = parse_device_name(pytestconfig.getoption(OPTION)).backend
    ended = subprocess.run(
        [
            *(sys.executable, "-m", "accelhal", "conformance", backend),
            *("--verbose", "--timeout", str(LIMIT_S)),
        ],
        env={"COLUMNS": "120", **os.environ},
        capture_output=True,
        text=True,
        timeout=LIMIT_S + 20,
    )
    show_at_the_end(ended.stdout)
    assert ended.returncode == 0, f"status {ended.returncode}: see the table\n{ended.stderr}"
