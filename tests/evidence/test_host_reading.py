"""The record of a host made of files: modules, nodes, libraries, services and packages."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from host_tree import HostTree

from accelhal.evidence.host_reading import read_host_record
from accelhal.facts.host_record import HostRecord
from accelhal.host.device_nodes import DeviceNodes
from accelhal.spi.doctor import VendorHost

VENDOR = VendorHost(
    modules=("toy_drv", "toy_net"),
    libraries=("libtoy.so.1", "libtoyml.so.1", "libnowhere.so.1"),
    library_folders=("$TOY_HOME/lib",),
    files=("$TOY_HOME/version.txt",),
    services=("toyd.service", "toynet.service", "other.service"),
    packages=("toy_torch", "toy-wheel"),
)
NODES = (DeviceNodes("/dev/toy[0-9]*", per_board=True),)


@pytest.fixture
def tree(tmp_path: Path) -> HostTree:
    return HostTree(tmp_path)


def record(tree: HostTree) -> HostRecord:
    return read_host_record(tree.host, [VENDOR], NODES)


def test_modules_that_are_loaded_and_built(tree: HostTree) -> None:
    tree.file("/proc/sys/kernel/osrelease", "6.8.0\n")
    tree.file("/proc/modules", "toy_drv 1000 0 - Live 0x0\n").file(
        "/sys/module/toy_drv/version", "1.2\n"
    )
    tree.file(
        "/lib/modules/6.8.0/modules.dep", "updates/dkms/toy-drv.ko.zst: kernel/a.ko\nx/a.ko:\n"
    )
    found = record(tree)
    assert found.modules == {"toy_drv": "1.2"}
    assert found.built_modules == {"toy_drv": True, "toy_net": False}


def test_nodes_and_those_that_the_kernel_refuses(
    tree: HostTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.files("/dev/toy0", "/dev/toy1", "/dev/toy2", "/dev/other0")
    (tree.root / "dev/toy2").chmod(0)
    real = os.access
    closed = ("toy1", "toy2")
    monkeypatch.setattr(
        os, "access", lambda path, mode: not str(path).endswith(closed) and real(path, mode)
    )
    found = record(tree)
    assert found.nodes == {"/dev/toy0": True, "/dev/toy1": False, "/dev/toy2": False}
    assert found.refused_nodes == ("/dev/toy1",), "the mode of the other explains it"


def test_libraries_by_the_name_that_links_lead_to(tree: HostTree) -> None:
    tree.file("/usr/lib/libtoy.so.1.2.3").env(TOY_HOME="/opt/toy").file(
        "/opt/toy/lib/libtoyml.so.1"
    )
    (tree.root / "usr/lib/libtoy.so.1").symlink_to("libtoy.so.1.2.3")
    found = record(tree)
    assert found.libraries == {
        "libtoy.so.1": "/usr/lib/libtoy.so.1.2.3",
        "libtoyml.so.1": "",
        "libnowhere.so.1": "",
    }
    assert found.unlisted_libraries == {"libtoyml.so.1": "/opt/toy/lib/libtoyml.so.1"}


def test_a_library_that_links_to_itself_is_named_once(tree: HostTree) -> None:
    (tree.root / "usr/lib").mkdir(parents=True)
    (tree.root / "usr/lib/libtoy.so.1").symlink_to("libtoy.so.1")
    assert (record(tree).libraries or {})["libtoy.so.1"] == ""


def test_services(tree: HostTree) -> None:
    tree.files("/usr/lib/systemd/system/toynet.service", "/usr/lib/systemd/system/toyd.service")
    tree.file("/sys/fs/cgroup/system.slice/toyd.service/cgroup.procs", "7\n")
    assert record(tree).services is None, "systemd is not the init"
    (tree.root / "run/systemd/system").mkdir(parents=True)
    assert record(tree).services == {
        "toyd.service": "active",
        "toynet.service": "inactive",
        "other.service": "absent",
    }


def test_packages_by_their_own_word_and_by_metadata(tree: HostTree) -> None:
    tree.package("torch", "2.9.0+cu128", cuda="12.8").package("toy_torch", "2.9.0.post1")
    tree.versions.update({"toy-wheel": "3", "toy_torch": "2.9"})
    found = record(tree)
    assert found.packages == {"torch": "2.9.0+cu128", "toy_torch": "2.9.0.post1", "toy-wheel": "3"}
    assert found.torch_builds == {"cuda": "12.8"}


def test_files_below_a_folder_that_a_variable_names(tree: HostTree) -> None:
    tree.file("/opt/toy/version.txt", "toy 4")
    assert record(tree).files == {}
    tree.env(TOY_HOME="/opt/toy")
    assert record(tree).files == {"/opt/toy/version.txt": "toy 4"}
