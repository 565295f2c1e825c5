"""Child processes in which torch_mlu is the stand-in of this folder."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
FORMS = ("1.25", "1.33")
LIMIT_S = 120

_TESTS = FOLDER.parents[1]
_MARK = "standin-result:"
_OURS = ("ACCELHAL", "MLU_", "CN_VISIBLE", "CUDA_VISIBLE", "TORCH_DEVICE", "TORCH_MLU", "NEUWARE")
"""Beginnings of the variables that a child gets from its test alone."""


def make_neuware(folder: Path) -> Path:
    """A Neuware whose libcnrt.so the loader can load: it is another library's file."""
    torch = importlib.util.find_spec("torch")
    assert torch is not None
    assert torch.origin is not None
    library = folder / "lib64" / "libcnrt.so"
    library.parent.mkdir(parents=True)
    library.symlink_to(Path(torch.origin).parent / "lib" / "libc10.so")
    return folder


def environment(neuware: Path | None = None, *first: Path, **variables: str) -> dict[str, str]:
    """Variables for a child that finds the stand-in, and libcnrt.so where `neuware` is given.

    Args:
        neuware: made by `make_neuware`; its libraries are put where the loader looks.
        *first: folders to search for modules before the stand-in's.
        **variables: to set; MLU_STANDIN_FORM and the like.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    kept.pop("LD_LIBRARY_PATH", None)
    path = [*first, FOLDER, _TESTS]
    found = {**kept, "PYTHONPATH": os.pathsep.join(map(str, path)), **variables}
    if neuware is not None:
        found["LD_LIBRARY_PATH"] = str(neuware / "lib64")
    return found


def python(code: str, environ: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh Python."""
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        env=dict(environ),
    )


def call(scenario: str, environ: Mapping[str, str], **arguments: Any) -> Any:
    """What a function of `scenarios` returns in a fresh Python, as plain JSON values."""
    code = (
        "import json\n"
        "from vendor_stacks.mlu import scenarios\n"
        f"result = scenarios.{scenario}(**json.loads({json.dumps(arguments)!r}))\n"
        f"print('\\n{_MARK}' + json.dumps(result), flush=True)\n"
    )
    ended = python(code, environ)
    lines = [line for line in ended.stdout.splitlines() if line.startswith(_MARK)]
    assert ended.returncode == 0, ended.stderr[-3000:]
    assert lines, ended.stdout[-3000:]
    return json.loads(lines[-1].removeprefix(_MARK))
