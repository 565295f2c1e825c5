"""Importing torch beside broken vendor packages: accelhal starts, and says what it left out."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from accelhal.host.torch_install import AUTOLOAD_VARIABLE

Installer = Callable[..., Path]


def run(code: str, *folders: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, folders))} | environ
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env=env
    )


def vendor_package(install_plugin: Installer, name: str, code: str) -> Path:
    return install_plugin(
        name, code=code, module=name, entry_points=f"[torch.backends]\n{name} = {name}:_autoload\n"
    )


BROKEN = {
    "torch_unlinked": "raise OSError('libvendor.so: cannot open shared object file')",
    "torch_driverless": "raise AssertionError('no driver')",
    "torch_leaving": "raise SystemExit(1)",
    "torch_halved": "def _autoload(): raise RuntimeError('half installed')",
}


def test_broken_vendor_packages_break_torch_but_not_accelhal(install_plugin: Installer) -> None:
    folders = [vendor_package(install_plugin, name, code) for name, code in BROKEN.items()]
    assert run("import torch", *folders).returncode != 0
    result = run(
        "import accelhal, os\n"
        f"print(accelhal.device('cpu'), os.environ.get('{AUTOLOAD_VARIABLE}'))",
        *folders,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == ["cpu:0", "None"]
    for name in BROKEN:
        assert f"{name} was left out of torch" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(("value", "loaded"), [("0", False), ("1", True)])
def test_the_users_own_switch_is_kept(
    install_plugin: Installer, tmp_path: Path, value: str, loaded: bool
) -> None:
    vendor = vendor_package(install_plugin, "torch_loud", "print('loaded')\ndef _autoload(): ...")
    # What accelhal itself does is asked here; a torch that imports at once will do.
    (tmp_path / "torch.py").write_text(
        f"import os; __version__ = '2.13.0'; seen = os.environ['{AUTOLOAD_VARIABLE}']"
    )
    code = (
        "import os, sys\n"
        "from accelhal.runtimes.torch_loading import load_torch\n"
        "load_torch()\n"
        f"print(sys.modules['torch'].seen, os.environ['{AUTOLOAD_VARIABLE}'])"
    )
    result = run(code, tmp_path, vendor, **{AUTOLOAD_VARIABLE: value})
    assert result.stdout.split() == ["0", value], result.stderr
    assert ("loaded" in result.stderr) is loaded


def test_a_good_vendor_package_is_loaded_as_torch_would(install_plugin: Installer) -> None:
    good = vendor_package(
        install_plugin, "torch_good", "import torch\ndef _autoload(): torch.good_was_here = 1"
    )
    bad = vendor_package(install_plugin, "torch_bad", BROKEN["torch_unlinked"])
    code = "import accelhal; accelhal.device('cpu'); import torch; print(torch.good_was_here)"
    result = run(code, bad, good)
    assert result.stdout.split() == ["1"], result.stderr


def test_an_earlier_failed_import_is_named(install_plugin: Installer) -> None:
    folder = vendor_package(install_plugin, "torch_bad", BROKEN["torch_unlinked"])
    code = """
import accelhal
try:
    import torch
except RuntimeError:
    pass
try:
    accelhal.device("cpu")
except accelhal.BackendLoadError as error:
    print(error)
"""
    result = run(code, folder)
    assert result.returncode == 0, result.stderr
    assert "an earlier `import torch` failed half-way" in result.stdout


def test_a_broken_torch_is_one_clear_error(tmp_path: Path) -> None:
    package = tmp_path / "torch"
    package.mkdir()
    (package / "__init__.py").write_text("raise OSError('libtorch_cpu.so: cannot open')")
    code = (
        "import accelhal\ntry: accelhal.device('cpu')\n"
        "except accelhal.BackendLoadError as error: print(error)"
    )
    result = run(code, tmp_path)
    assert "torch does not load: libtorch_cpu.so: cannot open" in result.stdout, result.stderr


def test_an_old_torch_is_refused_by_its_version(tmp_path: Path) -> None:
    package = tmp_path / "torch"
    package.mkdir()
    (package / "__init__.py").write_text("__version__ = '2.3.1+cu121'")
    code = (
        "import accelhal\ntry: accelhal.device('cpu')\n"
        "except accelhal.BackendIncompatibleError as error: print(error)"
    )
    result = run(code, tmp_path)
    assert "torch 2.3.1+cu121 is too old: accelhal needs 2.4 or newer" in result.stdout


NO_TORCH = {
    "none in its place": "import sys\nsys.modules['torch'] = None",
    "an empty module": "import sys, types\nsys.modules['torch'] = types.ModuleType('torch')",
}


@pytest.mark.parametrize("setup", NO_TORCH.values(), ids=NO_TORCH)
def test_what_stands_in_the_place_of_torch_is_no_torch(setup: str) -> None:
    code = f"{setup}\nimport accelhal\nfrom accelhal.runtimes.torch_loading import load_torch\n"
    code += "try:\n    load_torch()\nexcept accelhal.AccelhalError as error:\n    print(error)"
    result = run(code)
    assert result.returncode == 0, result.stderr
    assert "\n  next: " in result.stdout


def test_asking_for_a_device_inside_the_import_of_torch_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text(
        "import accelhal\ntry:\n    accelhal.device('cpu')\n"
        "except accelhal.AccelhalError as error:\n    print(error)\n__version__ = '2.13.0'\n"
    )
    result = run("import torch", tmp_path)
    assert "what is imported as torch has no version" in result.stdout, result.stderr
    assert "its import has not ended yet" in result.stdout


@pytest.mark.parametrize("version", ["2.13.0a0+git123", "2.4", "2.13.0.post1", "2.10rc1", "10.0"])
def test_versions_of_any_form_are_compared(tmp_path: Path, version: str) -> None:
    (tmp_path / "torch.py").write_text(f"__version__ = {version!r}\n")
    code = "from accelhal.runtimes.torch_loading import load_torch\nprint(load_torch())"
    result = run(code, tmp_path, TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    assert result.stdout.strip() == "()", result.stderr
