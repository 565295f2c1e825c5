"""The real torch_npu over the simulated CANN, for child processes; `cann_stack` is the fixture."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import pytest
from vendor_stacks.cann.build import build
from vendor_stacks.simulated_library import build as build_driver_library

TORCH_NPU = "2.13.0"
"""The release under test; it needs the torch of the same major.minor."""

_INSTALL_LIMIT_S = 240
_CHILD_LIMIT_S = 120
_HIDDEN = re.compile(r"(ASCEND_|SIM_CANN_|TORCH_NPU_|HCCL_|TORCH_DEVICE_BACKEND|ACCELHAL_)")
"""Variables of this environment that would steer a child."""


@dataclass(frozen=True)
class CannStack:
    """An installation beside this environment, and how a child process uses it.

    Attributes:
        packages: folder that holds the unmodified torch_npu, to search for modules.
        libraries: folder that holds the simulated CANN, to search for libraries.
        home: a CANN toolkit's folder, as ASCEND_HOME_PATH names it.
        boards: scenario of the simulated driver library, which shows as many boards as CANN does.
    """

    packages: Path
    libraries: Path
    home: Path
    boards: Path

    @property
    def environ(self) -> dict[str, str]:
        """Environment of a child process that finds the stack."""
        kept = {name: value for name, value in os.environ.items() if not _HIDDEN.match(name)}
        tests = Path(__file__).parents[2]
        path = [str(self.packages), str(tests), *filter(None, [os.environ.get("PYTHONPATH")])]
        return {
            **kept,
            "PYTHONPATH": os.pathsep.join(path),
            "LD_LIBRARY_PATH": str(self.libraries),
            "ASCEND_HOME_PATH": str(self.home),
            "ASCEND_OPP_PATH": str(self.home / "opp"),
            "SIM_SCENARIO": str(self.boards),
            "OMP_NUM_THREADS": "1",
        }

    def python(
        self, code: str, *, check: bool = True, **environ: str | None
    ) -> subprocess.CompletedProcess[str]:
        """Run code in a fresh Python over the stack.

        Args:
            code: Python source.
            check: fail the test where the process does not end with status 0.
            **environ: variables to set (cann.h lists the simulation's); None unsets one.
        """
        merged: Mapping[str, str | None] = {**self.environ, **environ}
        process = subprocess.run(
            [sys.executable, "-c", code],
            env={name: value for name, value in merged.items() if value is not None},
            capture_output=True,
            text=True,
            errors="backslashreplace",
            timeout=_CHILD_LIMIT_S,
            stdin=subprocess.DEVNULL,
        )
        if check and process.returncode:
            pytest.fail(f"ended with {process.returncode}: {process.stdout}{process.stderr}")
        return process


@pytest.fixture(scope="session")
def cann_stack(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> CannStack:
    """torch_npu over the simulated CANN; skips where it cannot be had, except under CI."""
    cache = request.config.cache.mkdir(f"torch_npu-{TORCH_NPU}")
    try:
        return install(cache, tmp_path_factory.mktemp("cann"))
    except LookupError as reason:
        if os.environ.get("CI"):
            pytest.fail(str(reason))
        pytest.skip(str(reason))


def install(cache: Path, folder: Path) -> CannStack:
    """Install torch_npu and build the simulation.

    Args:
        cache: where torch_npu stays for the next time.
        folder: where the libraries go, built anew each time.

    Raises:
        LookupError: one of its needs is missing here.
    """
    _check_requirements()
    packages = _packages(cache)
    home = folder / "ascend-toolkit"
    for name in ("runtime", "compiler", "opp"):
        (home / name).mkdir(parents=True)
    libraries, boards = folder / "lib", folder / "boards"
    build(packages / "torch_npu", libraries)
    build_driver_library("dcmi/dcmi.c", "libdcmi.so", libraries)
    boards.write_text("boards 2\n")
    return CannStack(packages, libraries, home, boards)


def _check_requirements() -> None:
    version = metadata.version("torch")
    needed = ".".join(TORCH_NPU.split(".")[:2])
    if not version.startswith(f"{needed}.") or "+cu" in version:
        raise LookupError(f"torch_npu {TORCH_NPU} needs a CPU build of torch {needed}: {version}")
    missing = [tool for tool in ("gcc", "nm") if shutil.which(tool) is None]
    if missing:
        raise LookupError(f"the simulated CANN is built with {' and '.join(missing)}: not found")


def _packages(cache: Path) -> Path:
    """A folder with torch_npu, and what it imports that is not here; kept between sessions."""
    folder = cache / f"python{sys.version_info.major}.{sys.version_info.minor}"
    if folder.exists():
        return folder
    wanted = [f"torch_npu=={TORCH_NPU}"]
    if importlib.util.find_spec("yaml") is None:
        wanted.append("pyyaml")
    with tempfile.TemporaryDirectory(dir=cache) as unfinished:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile"]
        process = subprocess.run(
            [*command, "--no-deps", "--target", unfinished, *wanted],
            capture_output=True,
            text=True,
            timeout=_INSTALL_LIMIT_S,
        )
        if process.returncode:
            raise LookupError(f"torch_npu {TORCH_NPU} cannot be had: {process.stderr.strip()}")
        if not folder.exists():  # another session may have been first
            Path(unfinished).rename(folder)
    return folder
