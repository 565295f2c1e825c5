from __future__ import annotations

from pathlib import Path

import pytest
import torch
from host_tree import HostTree
from hypothesis import given, settings, strategies as st

from accelhal.host import Host
from accelhal.host.torch_install import (
    AUTOLOAD_VARIABLE,
    TorchInstall,
    autoload_enabled,
    read_package_version,
    read_torch_install,
)


def test_this_torch_reads_as_it_says_of_itself() -> None:
    found = read_torch_install(Host())
    assert found is not None
    assert found.version == torch.__version__
    assert found.build.get("cuda") == torch.version.cuda
    assert Path(torch.__file__).parent == found.path


def test_the_build_is_told_from_the_version_file(tmp_path: Path) -> None:
    tree = HostTree(tmp_path).package("torch", "2.9.1+cu128", cuda="12.8", hip=None, xpu=None)
    found = read_torch_install(tree.host)
    assert found is not None
    assert found.build == {"cuda": "12.8"}
    assert (found.release, found.public_version) == ((2, 9), "2.9.1")


def test_no_torch_and_a_torch_without_version_are_absent(tmp_path: Path) -> None:
    tree = HostTree(tmp_path)
    assert read_torch_install(tree.host) is None
    tree.packages["torch"] = tmp_path  # a folder named torch that is no torch
    assert read_torch_install(tree.host) is None


@pytest.mark.parametrize(
    ("version", "release"),
    [
        ("2.13.0", (2, 13)),
        ("2.13.0a0+git1234", (2, 13)),
        ("2.13rc1", (2, 13)),
        ("2", (0, 0)),
        ("unknown", (0, 0)),
    ],
)
def test_releases(version: str, release: tuple[int, int]) -> None:
    assert TorchInstall(version, {}, Path()).release == release


@settings(max_examples=25)
@given(text=st.binary(max_size=60))
def test_a_damaged_version_file_reads_as_none(
    tmp_path_factory: pytest.TempPathFactory, text: bytes
) -> None:
    folder = tmp_path_factory.mktemp("package")
    (folder / "version.py").write_bytes(b"(" + text)
    assert read_package_version(folder) is None


@pytest.mark.parametrize(("value", "enabled"), [(None, True), ("1", True), ("0", False)])
def test_autoload_switch(tmp_path: Path, value: str | None, enabled: bool) -> None:
    environ = {} if value is None else {AUTOLOAD_VARIABLE: value}
    assert autoload_enabled(Host(tmp_path, environ)) is enabled
