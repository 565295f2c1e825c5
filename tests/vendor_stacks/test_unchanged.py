"""One program, without a vendor's word in it, runs on every backend and computes the same."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from test_layers import VENDOR_WORDS
from vendor_stacks.cann.stack import CannStack
from vendor_stacks.cuda.conformance import make_stack
from vendor_stacks.cuda.process import environment as cuda_environment
from vendor_stacks.mlu.standin import environment as mlu_environment, make_neuware

PROGRAM = Path(__file__).with_name("unchanged.py")
BACKENDS = ("cpu", "mock", "mlu", "cuda", "npu")

NOT_SIMULATED = {
    "cuda": {"train"},  # a CPU build of torch has no autograd for CUDA
    "npu": {"train"},  # of CANN's operators only a few are simulated
}
"""What may answer "not here"; all else must work."""


def environment(backend: str, request: pytest.FixtureRequest, folder: Path) -> Mapping[str, str]:
    if backend == "npu":
        stack: CannStack = request.getfixturevalue("cann_stack")
        # A missing operator then raises where it is called, and the program can go on.
        return {**stack.environ, "TASK_QUEUE_ENABLE": "0"}
    if backend == "mlu":
        return mlu_environment(make_neuware(folder / "neuware"))
    if backend == "cuda":
        return cuda_environment(make_stack(folder))
    return os.environ


def run(environ: Mapping[str, str], backend: str) -> dict[str, Any]:
    ended = subprocess.run(
        [sys.executable, str(PROGRAM)],
        env={**environ, "ACCELHAL_DEVICE": f"{backend}:0"},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    found: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return found


@pytest.fixture(scope="module")
def on_cpu() -> dict[str, Any]:
    return run(os.environ, "cpu")


def test_the_program_names_no_vendor() -> None:
    assert not VENDOR_WORDS.search(PROGRAM.read_text())
    assert not re.search(r"\bmock\b|\bif .*\.backend\b", PROGRAM.read_text())


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
def test_it_runs_and_computes_the_same(
    backend: str, request: pytest.FixtureRequest, tmp_path: Path, on_cpu: dict[str, Any]
) -> None:
    found = run(environment(backend, request, tmp_path), backend)
    missing = {name for name, value in found.items() if str(value).startswith("not here")}
    assert missing <= NOT_SIMULATED.get(backend, set()), found
    expected = {"device": f"{backend}:0", "overflow": "OUT_OF_MEMORY", "named": True}
    assert {name: found[name] for name in expected} == expected
    for name in ("infer", "train"):
        if name not in missing:
            assert torch_close(found[name], on_cpu[name])
    for name in {"random", "overlap", "graphs"} & found.keys() - missing:
        assert found[name] is True
    if backend != "cpu":
        assert found["held"] >= 1 << 20
        assert {"overlap", "graphs"} <= found.keys()


def torch_close(one: Any, other: Any) -> bool:
    import torch

    return torch.allclose(torch.tensor(one), torch.tensor(other), atol=1e-5)
