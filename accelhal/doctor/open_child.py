"""The program of a child process: open devices one by one, and free each before the next.

As with imports, the result goes to a file of its own, for a driver may hang or end the process.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import sys
from pathlib import Path
from typing import Any, TextIO

from accelhal.errors import described


def main() -> None:
    """Arguments: result file, limit in seconds, package, device type, first index, count."""
    result_path, limit_s, package, device_type, first, count = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.alarm(int(float(limit_s)) + 5)  # ends this process should its parent be gone
    with Path(result_path).open("w", encoding="utf-8") as result:
        try:
            _open(package, device_type, range(int(first), int(count)), result)
        except BaseException as error:  # vendor packages raise OSError, AssertionError, SystemExit
            _write(result, {"error": described(error)})
    os._exit(0)  # vendor clean-up at exit may hang, and is not what was asked


def _open(package: str, device_type: str, indices: range, result: TextIO) -> None:
    torch = importlib.import_module("torch")
    if package != "torch":
        importlib.import_module(package)
    for index in indices:
        _write(result, {"step": f"{device_type}:{index}", "index": index})
        try:
            # One element makes the driver open the device; `item` waits until it answered.
            torch.zeros(1, device=f"{device_type}:{index}").item()
            getattr(torch, device_type).empty_cache()
        except BaseException as error:  # one device must not cost the others
            _write(result, {"failed": index, "error": described(error)})
        else:
            _write(result, {"opened": index})
    _write(result, {"done": True})


def _write(result: TextIO, line: dict[str, Any]) -> None:
    result.write(json.dumps(line) + "\n")
    result.flush()
