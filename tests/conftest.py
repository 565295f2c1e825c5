"""What every test shares: a registry left as it was found, and fake plugins on a path."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings
from vendor_stacks.cann.stack import cann_stack as cann_stack  # a fixture of several folders

from accelhal.registry.state import RegistryState, state

ROOT = Path(__file__).parents[1]

# Workers of xdist have it, and tables would fold where a pipe's do not.
os.environ.pop("COLUMNS", None)

# A run in a shell's background ignores interrupts, and so would the commands that are tested.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The examples of a property are not timed: a loaded machine is no failure.
settings.register_profile("accelhal", deadline=None)
settings.load_profile("accelhal")


@pytest.fixture
def fresh_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """No backend opened, registered, downgraded or warned about; no choice in the environment."""
    for variable in ("ACCELHAL_DEVICE", "ACCELHAL_BACKENDS"):
        monkeypatch.delenv(variable, raising=False)
    for table, empty in vars(RegistryState()).items():
        monkeypatch.setattr(state, table, empty)


PluginFolder = Callable[..., Path]


@pytest.fixture
def install_plugin(tmp_path: Path) -> PluginFolder:
    """Write an importable distribution: a module and the metadata that pip would leave."""

    def write(
        distribution: str, *, code: str, entry_points: str, module: str, version: str = "1.0"
    ) -> Path:
        folder = tmp_path / f"site-{distribution}"
        metadata = folder / f"{distribution.replace('-', '_')}-{version}.dist-info"
        metadata.mkdir(parents=True)
        (folder / f"{module}.py").write_text(textwrap.dedent(code))
        (metadata / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"
        )
        (metadata / "entry_points.txt").write_text(textwrap.dedent(entry_points))
        return folder

    return write


@pytest.fixture(scope="session")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python of a virtual environment with accelhal, its plugins and outside ones, but no torch."""
    venv = tmp_path_factory.mktemp("bare") / "venv"
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True, timeout=120
    )
    python = venv / "bin" / "python"
    find_folder = "import sysconfig; print(sysconfig.get_path('purelib'))"
    folder = subprocess.check_output([str(python), "-c", find_folder], text=True, timeout=60)
    plugins = [str(path) for path in sorted((ROOT / "plugins").iterdir())]
    outside = [str(path) for path in sorted((ROOT / "tests" / "outside_plugins").iterdir())]
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
            # A pip and a build environment for each of seven distributions would take minutes.
            *("--target", folder.strip(), "--no-build-isolation"),
            *("-c", str(ROOT / "constraints.txt"), str(ROOT), *plugins, *outside),
        ],
        check=True,
        timeout=300,
    )
    return python
