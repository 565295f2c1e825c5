"""Whether a test fails for every slip in the vendors' runtimes: a script, not a part of CI.

    python tests/vendor_stacks/mutation_check.py [cuda|npu|mlu ...] [--only WORD] [--fast]

Each fault of `mutants` is written into a copy of the tests that holds the plugin's package as well,
first on the path of every process; the tree itself is only read. The plugin's own tests run on it
in a forked child that has torch imported already. What passes them, and has no entry in
`EQUIVALENT`, meets the tests that start processes of their own, over the vendor's stack. What
passes those is a survivor: the script shows it and ends with status 1.
"""

from __future__ import annotations

import argparse
import compileall
import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from vendor_stacks.mutants import Mutant, mutants  # noqa: E402

_FAST_LIMIT_S = 60.0
_SLOW_LIMIT_S = 400.0
_LEAN = (
    *("-x", "-q", "--assert=plain", "--noconftest"),
    *("-p", "no:cacheprovider", "-p", "no:unraisableexception"),
)
"""What the fast tests do not need takes most of the time of a run: seconds for each mutant."""
_NO_PLUGINS = "PYTEST_DISABLE_PLUGIN_AUTOLOAD"
_OTHER_MODULE = 99
"""Status of a child that imported the module under test from somewhere else."""


@dataclass(frozen=True)
class Vendor:
    """What is mutated for one vendor, and what must notice.

    Attributes:
        package: folder of the plugin's package, from the root.
        modules: files with overrides and what they delegate to, from the root.
        fast: tests that run in one process.
        slow: tests that start processes over the vendor's stack.
    """

    package: str
    modules: tuple[str, ...]
    fast: tuple[str, ...]
    slow: tuple[str, ...]


VENDORS = {
    "cuda": Vendor(
        package="plugins/cuda/accelhal_cuda",
        modules=(
            "plugins/cuda/accelhal_cuda/runtime.py",
            "plugins/cuda/accelhal_cuda/location.py",
            "plugins/cuda/accelhal_cuda/rebinding.py",
            "plugins/cuda/accelhal_cuda/float32_precision.py",
        ),
        fast=(
            "tests/plugins/cuda/test_runtime.py",
            "tests/plugins/cuda/test_location.py",
            "tests/plugins/cuda/test_rebinding.py",
            "tests/plugins/cuda/test_float32_precision.py",
        ),
        slow=(
            "tests/vendor_stacks/cuda/test_traps.py",
            "tests/vendor_stacks/cuda/test_shim.py",
            "tests/vendor_stacks/cuda/test_faults.py",
        ),
    ),
    "npu": Vendor(
        package="plugins/ascend/accelhal_ascend",
        modules=(
            "plugins/ascend/accelhal_ascend/runtime.py",
            "plugins/ascend/accelhal_ascend/repairs.py",
            "accelhal/runtimes/checked_event.py",
        ),
        fast=(
            "tests/plugins/ascend/test_runtime.py",
            "tests/plugins/ascend/test_repairs.py",
            "tests/runtimes/test_checked_event.py",
        ),
        slow=("tests/vendor_stacks/cann/test_torch_npu.py",),
    ),
    "mlu": Vendor(
        package="plugins/cambricon/accelhal_cambricon",
        modules=(
            "plugins/cambricon/accelhal_cambricon/runtime.py",
            "plugins/cambricon/accelhal_cambricon/location.py",
        ),
        fast=(
            "tests/plugins/cambricon/test_runtime.py",
            "tests/plugins/cambricon/test_location.py",
        ),
        slow=(
            "tests/vendor_stacks/mlu/test_deviations.py",
            "tests/vendor_stacks/mlu/test_location.py",
        ),
    ),
}

_PRIORITIES = "max and min are symmetric"
_SETTINGS = "all are read and all are written, and none depends on another"

EQUIVALENT: dict[tuple[str, str], str] = {
    (
        "plugins/cambricon/accelhal_cambricon/runtime.py",
        "CambriconRuntime.create_stream: arguments 0 and 1 swapped in "
        "min(max(priority, _MOST_URGENT), _LEAST_URGENT)",
    ): _PRIORITIES,
    (
        "plugins/cambricon/accelhal_cambricon/runtime.py",
        "CambriconRuntime.create_stream: arguments 0 and 1 swapped in max(priority, _MOST_URGENT)",
    ): _PRIORITIES,
    (
        "plugins/cambricon/accelhal_cambricon/runtime.py",
        "CambriconRuntime.create_stream: 0 became 1",
    ): "the nearest priority of 1 is 0",
    (
        "plugins/cuda/accelhal_cuda/location.py",
        "driver_uuid: '' became 'x'",
    ): "neither is a whole UUID, which is all that is asked of it",
    (
        "plugins/cuda/accelhal_cuda/float32_precision.py",
        "_settings: arguments 0 and 1 swapped in "
        "precision_settings('cuda.matmul', 'cudnn.conv', 'cudnn.rnn')",
    ): _SETTINGS,
    (
        "plugins/cuda/accelhal_cuda/float32_precision.py",
        "_settings: arguments 1 and 2 swapped in "
        "precision_settings('cuda.matmul', 'cudnn.conv', 'cudnn.rnn')",
    ): _SETTINGS,
}
"""(module's file from the root, mutant as shown) -> why no test can or should tell it apart."""


@contextmanager
def copied_tests(vendor: Vendor) -> Iterator[Path]:
    """A folder with the tests, and accelhal and the plugin's package among them."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        folder = Path(name)
        ignored = shutil.ignore_patterns("__pycache__", "*.so")
        shutil.copy(ROOT / "pyproject.toml", folder)
        shutil.copytree(ROOT / "tests", folder / "tests", ignore=ignored)
        for package in ("accelhal", vendor.package):
            copied = folder / "tests" / Path(package).name
            shutil.copytree(ROOT / package, copied, ignore=ignored)
            compileall.compile_dir(copied, quiet=2)
        cached = ROOT / ".pytest_cache" / "d"  # vendors' packages, which take minutes to install
        if cached.exists():
            (folder / ".pytest_cache").mkdir()
            (folder / ".pytest_cache" / "d").symlink_to(cached)
        yield folder


def place_of(module: str, vendor: Vendor, folder: Path) -> Path:
    """Where a module of the tree lies in the copy."""
    outer = "accelhal" if module.startswith("accelhal/") else vendor.package
    return folder / "tests" / Path(outer).name / Path(module).relative_to(outer)


def passes_fast(folder: Path, path: Path, tests: Sequence[str]) -> bool:
    """Whether all tests pass in a forked child; one that hangs does not pass.

    Raises:
        RuntimeError: the child did not run the copy.
    """
    child = os.fork()
    if child == 0:
        _run_tests(folder, path, tests)
    ends = time.monotonic() + _FAST_LIMIT_S
    while time.monotonic() < ends:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            if code == _OTHER_MODULE:
                raise RuntimeError(f"{path.name} was not imported from the copy")
            return code == 0
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def _run_tests(folder: Path, path: Path, tests: Sequence[str]) -> None:
    """End this process with pytest's status."""
    status = 1
    try:
        os.chdir(folder)
        sys.path.insert(0, str(folder / "tests"))
        for name in [name for name in sys.modules if name.startswith("vendor_stacks")]:
            del sys.modules[name]
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        import pytest

        status = int(pytest.main([*_LEAN, *tests]))
        if status == 0:
            files = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
            status = 0 if str(path) in files else _OTHER_MODULE
    finally:
        os._exit(status)


def passes_slow(folder: Path, tests: Sequence[str]) -> bool:
    """Whether the tests pass that start processes; skipped ones would pass, so they count not."""
    environ = {name: value for name, value in os.environ.items() if name != _NO_PLUGINS}
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-x", "-q", *tests],
        cwd=folder,
        env={**environ, "PYTHONPATH": str(folder / "tests"), "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return process.wait(timeout=_SLOW_LIMIT_S) == 0
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return False


@dataclass(frozen=True)
class Tally:
    """What became of a module's mutants, by what noticed them."""

    fast: int
    slow: int
    equivalent: int
    survivors: tuple[Mutant, ...]

    @property
    def total(self) -> int:
        return self.fast + self.slow + self.equivalent + len(self.survivors)


def check_module(module: str, vendor: Vendor, folder: Path, only: str, fast: bool) -> Tally:
    """Run the tests on every mutant of a module.

    Args:
        module: its file, from the root.
        vendor: whose tests run.
        folder: from `copied_tests`.
        only: mutants whose words hold this.
        fast: leave the tests out that start processes.

    Raises:
        RuntimeError: tests fail without a fault, or pass with a module that cannot be imported.
    """
    path = place_of(module, vendor, folder)
    source = path.read_text()
    chosen = [mutant for mutant in mutants(source) if only in str(mutant)]

    def survivors(among: Sequence[Mutant], kind: str) -> tuple[Mutant, ...]:
        def passes() -> bool:
            if kind == "fast":
                return passes_fast(folder, path, vendor.fast)
            return passes_slow(folder, vendor.slow)

        if not among:
            return ()
        if not passes():
            raise RuntimeError(f"the {kind} tests fail on {module} as it is")
        try:
            path.write_text("raise RuntimeError\n")
            if passes():
                raise RuntimeError(f"the {kind} tests do not import the copy of {module}")
            found = []
            for mutant in among:
                path.write_text(mutant.source)
                if passes():
                    found.append(mutant)
            return tuple(found)
        finally:
            path.write_text(source)

    passed = survivors(chosen, "fast")
    unexplained = tuple(m for m in passed if (module, str(m)) not in EQUIVALENT)
    left = unexplained if fast else survivors(unexplained, "slow")
    return Tally(
        fast=len(chosen) - len(passed),
        slow=len(unexplained) - len(left),
        equivalent=len(passed) - len(unexplained),
        survivors=left,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("vendors", nargs="*", choices=[*VENDORS, []], metavar="cuda|npu|mlu")
    parser.add_argument("--only", default="", help="mutants whose description holds this")
    parser.add_argument("--fast", action="store_true", help="no tests that start processes")
    chosen = parser.parse_args()
    sys.dont_write_bytecode = True  # two mutants of one second and size would look the same
    os.environ[_NO_PLUGINS] = "1"
    import hypothesis
    import torch

    gc.freeze()  # the children inherit these modules, and need not look through them
    print(f"torch {torch.__version__}, hypothesis {hypothesis.__version__}")
    print(f"{'module':52} {'mutants':>7} {'fast':>5} {'slow':>5} {'equivalent':>10} {'left':>5}")
    left = 0
    for name in chosen.vendors or VENDORS:
        vendor = VENDORS[name]
        with copied_tests(vendor) as folder:
            for module in vendor.modules:
                found = check_module(module, vendor, folder, chosen.only, chosen.fast)
                left += len(found.survivors)
                print(
                    f"{module:52} {found.total:7} {found.fast:5} {found.slow:5} "
                    f"{found.equivalent:10} {len(found.survivors):5}",
                    flush=True,
                )
                for mutant in found.survivors:
                    print(f"  survives: {mutant}", flush=True)
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
