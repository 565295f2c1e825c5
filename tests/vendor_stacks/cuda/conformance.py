"""The conformance suite on the simulated stack: `python -m vendor_stacks.cuda.conformance`.

It prints the document of `accelhal conformance cuda --json`. Run it in the folder tests.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from vendor_stacks.cuda.process import build_guard, environment, nvidia_host
from vendor_stacks.cuda.settings import Settings

_LIMIT_S = 900.0


def make_stack(folder: Path) -> Settings:
    """Two boards on a host that shows them."""
    return Settings(host=str(nvidia_host(folder)), guard=str(build_guard(folder)))


def run_suite(stack: Settings) -> dict[str, Any]:
    """The suite's document; its own failure, not a rule's, raises."""
    ended = subprocess.run(
        [sys.executable, "-m", "accelhal", "conformance", "cuda", "--json"],
        env=environment(stack),
        capture_output=True,
        text=True,
        timeout=_LIMIT_S,
    )
    assert ended.stdout, ended.stderr
    document: dict[str, Any] = json.loads(ended.stdout)
    return document


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        print(json.dumps(run_suite(make_stack(Path(name))), indent=2))
