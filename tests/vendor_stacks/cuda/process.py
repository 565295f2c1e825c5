"""Starting child processes that have the simulated stack."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

from host_tree import HostTree
from vendor_stacks.cuda.settings import VARIABLE, Settings

_STARTUP = Path(__file__).with_name("startup")
_GUARD_SOURCE = Path(__file__).with_name("guard.cpp")
_TESTS = Path(__file__).parents[2]
_LIMIT_S = 120.0


def environment(settings: Settings, **variables: str) -> dict[str, str]:
    """The environment of a child process: this one's, without its choices and masks."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ACCELHAL", "CUDA", "TORCH_DEVICE"))
    }
    path = [str(_STARTUP), str(_TESTS), *filter(None, sys.path)]
    kept["PYTHONPATH"] = os.pathsep.join(path)
    return {**kept, VARIABLE: settings.written(), **variables}


def run_python(code: str, settings: Settings, **variables: str) -> str:
    """Standard output of a program on the simulated stack; its failure is the test's.

    Args:
        code: the program.
        settings: the stack.
        **variables: of the environment.
    """
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(settings, **variables),
        capture_output=True,
        text=True,
        timeout=_LIMIT_S,
    )
    assert ended.returncode == 0, f"status {ended.returncode}\n{ended.stdout}\n{ended.stderr}"
    return ended.stdout.strip()


def build_guard(folder: Path) -> Path:
    """Compile guard.cpp against the headers of this torch."""
    torch = importlib.util.find_spec("torch")
    assert torch is not None, "the tests run with torch"
    assert torch.origin is not None, "torch is a package with a file"
    package = Path(torch.origin).parent
    library = folder / "guard.so"
    subprocess.run(
        [
            *("g++", "-std=c++20", "-shared", "-fPIC", f"-I{package}/include"),
            *(str(_GUARD_SOURCE), "-o", str(library), f"-L{package}/lib", "-lc10"),
        ],
        check=True,
        timeout=_LIMIT_S,
    )
    return library


def nvidia_host(folder: Path, boards: int = 2) -> Path:
    """A tree of files that shows so many boards, the driver and a CUDA build of torch."""
    tree = HostTree(folder)
    for index in range(boards):
        tree.pci(f"0000:{0x10 + index:02x}:00.0", "10de", "0302", driver="nvidia")
        tree.file(f"/dev/nvidia{index}")
    tree.files("/dev/nvidiactl", "/dev/nvidia-uvm", "/usr/lib/x86_64-linux-gnu/libcuda.so.1")
    tree.file(
        "/proc/driver/nvidia/version",
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun Jul 27 UTC 2025\n",
    )
    tree.package("torch", "2.13.0+cu130", cuda="13.0")
    return tree.root
