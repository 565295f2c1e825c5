"""Runs the conformance suite over the real torch_npu: `python -m vendor_stacks.cann.conformance`.

Prints the JSON of `accelhal conformance npu --json`. Run it in the folder tests/, or with it in
PYTHONPATH.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from vendor_stacks.cann.stack import TORCH_NPU, CannStack, install

_LIMIT_S = 1200
_CACHE = Path(__file__).parents[3] / ".pytest_cache" / "d" / f"torch_npu-{TORCH_NPU}"
"""Where the fixture keeps it too: pytest's `config.cache.mkdir`."""

_ENTRY_POINT = "[accelhal.backends]\nnpu = vendor_stacks.cann.suite:SPEC\n"


def run_suite(stack: CannStack, folder: Path, groups: Sequence[str] = ()) -> dict[str, Any]:
    """The suite's result on the stack, as the command's JSON document.

    Args:
        stack: where torch_npu and the simulation are.
        folder: empty; the simulation's own description of the backend goes there.
        groups: groups of the suite; all of them when empty.
    """
    _put_before_the_plugin(folder)
    environ = stack.environ
    environ["PYTHONPATH"] = f"{folder}:{environ['PYTHONPATH']}"
    chosen = [option for group in groups for option in ("--group", group)]
    process = subprocess.run(
        [sys.executable, "-m", "accelhal", "conformance", "npu", "--json", *chosen],
        env=environ,
        capture_output=True,
        text=True,
        timeout=_LIMIT_S,
        stdin=subprocess.DEVNULL,
    )
    if not process.stdout.startswith("{"):
        raise RuntimeError(f"ended with {process.returncode}: {process.stdout}{process.stderr}")
    found: dict[str, Any] = json.loads(process.stdout)
    return found


def _put_before_the_plugin(folder: Path) -> None:
    """The plugin's distribution under its own name, with the simulation's entry point.

    Of two distributions of one name the first one on the path counts.
    """
    installed = metadata.distribution("accelhal-ascend")
    beside = folder / f"accelhal_ascend-{installed.version}.dist-info"
    beside.mkdir()
    (beside / "METADATA").write_text(installed.read_text("METADATA") or "")
    (beside / "entry_points.txt").write_text(_ENTRY_POINT)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for each in (_CACHE, folder / "stack", folder / "before"):
            each.mkdir(parents=True, exist_ok=True)
        stack = install(_CACHE, folder / "stack")
        print(json.dumps(run_suite(stack, folder / "before", sys.argv[1:]), indent=2))


if __name__ == "__main__":
    main()
