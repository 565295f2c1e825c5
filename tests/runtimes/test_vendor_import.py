from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
import torch

from accelhal.errors import BackendIncompatibleError
from accelhal.host.torch_install import AUTOLOAD_VARIABLE
from accelhal.runtimes.vendor_import import device_module, import_guard


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """torch_acme, as ill-mannered as vendor packages are; undone after the test."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(torch, "acme", None, raising=False)
    monkeypatch.delattr(torch, "acme")
    path = tmp_path / "torch_acme.py"
    path.write_text(
        "import os, types, torch\n"
        f"os.environ[{AUTOLOAD_VARIABLE!r}] = '0'\n"
        "print('Warning: the kit is not set up.')\n"
        "torch.acme = types.ModuleType('torch.acme')\n"
    )
    return path


@pytest.fixture(autouse=True)
def forget_torch_acme(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch_acme", raising=False)


@pytest.mark.parametrize("before", [None, "1", "0"])
def test_the_package_leaves_no_trace_in_the_process(
    package: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    before: str | None,
) -> None:
    if before is None:
        monkeypatch.delenv(AUTOLOAD_VARIABLE, raising=False)
    else:
        monkeypatch.setenv(AUTOLOAD_VARIABLE, before)
    assert device_module("acme", "torch_acme").__name__ == "torch.acme"
    assert os.environ.get(AUTOLOAD_VARIABLE) == before
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "the kit is not set up" in captured.err


def test_a_module_that_torch_has_is_not_imported_again(package: Path) -> None:
    first = device_module("acme", "torch_acme")
    package.write_text("raise SystemExit('imported twice')")
    assert device_module("acme", "torch_acme") is first


def test_a_failing_import_restores_the_environment_and_shows_its_error(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(AUTOLOAD_VARIABLE, raising=False)
    package.write_text(
        f"import os; os.environ[{AUTOLOAD_VARIABLE!r}] = '0'\nraise OSError('libacme.so')"
    )
    with pytest.raises(OSError, match=r"libacme\.so"):
        device_module("acme", "torch_acme")
    assert AUTOLOAD_VARIABLE not in os.environ


def test_a_half_imported_package_gives_its_error_again(tmp_path: Path, package: Path) -> None:
    """torch has its module by then, but nothing says how much of it works."""
    package.unlink()
    folder = tmp_path / "torch_acme"
    folder.mkdir()
    (folder / "module.py").write_text("import types, torch\ntorch.acme = types.ModuleType('acme')")
    (folder / "__init__.py").write_text("import torch_acme.module\nraise OSError('no kit')")
    for _ in range(2):
        with pytest.raises(OSError, match="no kit"):
            device_module("acme", "torch_acme")
    del sys.modules["torch_acme.module"]


def test_a_package_that_imports_but_adds_nothing_is_incompatible(package: Path) -> None:
    package.write_text("")
    with pytest.raises(BackendIncompatibleError, match="does not accept this torch") as caught:
        device_module("acme", "torch_acme")
    assert "torch_acme" in (caught.value.hint or "")


def test_a_dropped_variable_is_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(AUTOLOAD_VARIABLE, "0")
    with import_guard():
        del os.environ[AUTOLOAD_VARIABLE]
    assert os.environ[AUTOLOAD_VARIABLE] == "0"
