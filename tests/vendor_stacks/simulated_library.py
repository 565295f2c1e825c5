"""Simulated driver libraries: C of our own, built by gcc, answering from a scenario file."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent

SetScenario = Callable[[str], None]


def build(source: str, soname: str, folder: Path, *flags: str) -> Path:
    """Compile tests/vendor_stacks/`source` to `folder`/`soname`."""
    folder.mkdir(parents=True, exist_ok=True)
    library = folder / soname
    warnings = ["-Wall", "-Wextra", "-Werror"]
    shape = ["-shared", "-fPIC", "-O1", "-fvisibility=hidden", f"-Wl,-soname,{soname}"]
    command = ["gcc", *warnings, *shape, *flags, "-o", str(library), str(FOLDER / source)]
    subprocess.run(command, check=True, timeout=120)
    return library


@pytest.fixture
def scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SetScenario:
    """Write the scenario that the simulated libraries read from now on."""
    path = tmp_path / "scenario"
    monkeypatch.setenv("SIM_SCENARIO", str(path))

    def write(text: str) -> None:
        path.write_text(text)

    write("boards 1\n")
    return write
