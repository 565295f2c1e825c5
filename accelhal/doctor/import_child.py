"""The program of a child process: import one package, count its devices, say how far it came.

The package may print, hang, raise anything or kill the process. So the result goes to a file of its
own, a line for each step begun and a last one for the outcome, and standard output means nothing.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO

from accelhal.errors import described


def main() -> None:
    """Arguments: result file, limit in seconds, package, device types to count."""
    result_path, limit_s, package, *device_types = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash must not leave gigabytes behind
    signal.alarm(int(float(limit_s)) + 5)  # ends this process should its parent be gone
    with Path(result_path).open("w", encoding="utf-8") as result:
        try:
            outcome = _import(package, device_types, result)
        except BaseException as error:  # vendor packages raise OSError, AssertionError, SystemExit
            outcome = {"error": described(error)}
        _write(result, outcome)
    os._exit(0)  # vendor clean-up at exit may hang, and is not what was asked


def _import(package: str, device_types: list[str], result: TextIO) -> dict[str, Any]:
    _write(result, {"step": "import torch"})
    torch = importlib.import_module("torch")
    module = torch
    if package != "torch":
        _write(result, {"step": f"import {package}"})
        module = importlib.import_module(package)
    counts: dict[str, int] = {}
    errors: dict[str, str] = {}
    for name in device_types:
        _write(result, {"step": f"torch.{name}.device_count()"})
        try:
            counts[name] = _count(torch, name, built_in=module is torch)
        except BaseException as error:  # as above; one device type must not cost the others
            errors[name] = described(error)
    return {
        "counts": counts,
        "count_errors": errors,
        "arch_lists": {name: archs for name in counts if (archs := _arch_list(torch, name))},
        "version": str(getattr(module, "__version__", "")),
    }


def _count(torch: ModuleType, name: str, *, built_in: bool) -> int:
    if built_in and not hasattr(torch, name):
        return 0
    devices = getattr(torch, name)
    return int(devices.device_count()) if devices.is_available() else 0


def _arch_list(torch: ModuleType, name: str) -> list[str]:
    """What the build has code for; empty where torch does not tell."""
    ask = getattr(getattr(torch, name, None), "get_arch_list", None)
    try:
        return [str(arch) for arch in ask()] if ask is not None else []
    except BaseException:  # as above; without it the tables judge
        return []


def _write(result: TextIO, line: dict[str, Any]) -> None:
    result.write(json.dumps(line) + "\n")
    result.flush()
