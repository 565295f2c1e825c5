"""Builds the simulated CANN: the C files beside this one, and empty symbols for all else."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

SOURCES = Path(__file__).parent

NAMES = (
    "libhccl.so",
    "libascendcl.so",
    "libacl_op_compiler.so",
    "libacl_tdt_channel.so",
    "libge_runner.so",
    "libgraph.so",
    "libopapi.so",
)
"""The libraries that torch_npu links (readelf -d), and the one that it searches for operators."""

_LIBRARY = "libsimulatedcann.so"
_FLAGS = (
    "-shared",
    "-fPIC",
    "-O3",
    "-Wall",
    "-Wextra",
    "-Wno-unused-parameter",
    "-fvisibility=hidden",
)
_CANN = re.compile(r"(acl|Hccl|Msprof|mspti|rt[A-Z])")
"""How CANN's C functions begin."""


def build(package: Path, folder: Path) -> None:
    """Compile the libraries that the package needs into the folder.

    Args:
        package: the unpacked torch_npu.
        folder: where the libraries go.
    """
    folder.mkdir(parents=True, exist_ok=True)
    library, rest = folder / _LIBRARY, folder / "rest.c"
    written = sorted(SOURCES.glob("*.c"))
    _compile(library, written)
    rest.write_text(_empty_functions(_needed(package) - _names(library, "--defined-only")))
    _compile(library, [*written, rest])
    for name in NAMES:
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(_LIBRARY)


def _compile(library: Path, sources: Iterable[Path]) -> None:
    command = ["gcc", *_FLAGS, f"-I{SOURCES}", "-o", str(library), *map(str, sources)]
    subprocess.run([*command, "-lpthread", "-lm"], check=True, timeout=120)


def _needed(package: Path) -> set[str]:
    """CANN's functions without which the loader refuses the package's libraries."""
    libraries = [package / "lib" / "libtorch_npu.so", *package.glob("_C*.so")]
    names = set[str]().union(*(_names(path, "--undefined-only") for path in libraries))
    return {name for name in names if _CANN.match(name)}


def _names(path: Path, option: str) -> set[str]:
    output = subprocess.check_output(["nm", "-D", option, str(path)], text=True, timeout=120)
    return {line.split()[-1].split("@")[0] for line in output.splitlines() if line.strip()}


def _empty_functions(names: Iterable[str]) -> str:
    functions = "".join(
        f"EXPORT long {name}(void) {{ sim_entered(__func__); return 0; }}\n"
        for name in sorted(names)
    )
    return f'#include "cann.h"\n{functions}'
