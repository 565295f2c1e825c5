from __future__ import annotations

import ctypes.util
import sys
from pathlib import Path

import pytest
from host_tree import HostTree

from accelhal.host import Host, library_search
from accelhal.host.library_search import LibraryFile, find_library

NAME = "libacme.so.1"
FILE = LibraryFile(
    NAME,
    "ACCELHAL_ACME_LIBRARY",
    (f"/usr/local/acme/lib/{NAME}",),
    (("ACME_HOME", f"lib64/{NAME}"), ("ACME_HOME", f"lib/{NAME}")),
)


def test_nowhere_is_none(tmp_path: Path) -> None:
    assert find_library(HostTree(tmp_path).host, NAME) is None


@pytest.mark.parametrize(
    "folder",
    ["/lib", "/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/opt/listed", f"{sys.prefix}/lib"],
)
def test_each_place_the_loader_looks(tmp_path: Path, folder: str) -> None:
    tree = HostTree(tmp_path).file(f"{folder}/{NAME}")
    tree.env(LD_LIBRARY_PATH="/opt/absent::/opt/listed;/opt/other")
    assert find_library(tree.host, NAME) == f"{folder}/{NAME}"


def test_the_library_path_goes_before_the_system(tmp_path: Path) -> None:
    tree = HostTree(tmp_path).files(f"/usr/lib/{NAME}", f"/opt/first/{NAME}", f"/pkg/lib/{NAME}")
    tree.env(LD_LIBRARY_PATH="/opt/first")
    assert find_library(tree.host, NAME) == f"/opt/first/{NAME}"
    assert find_library(tree.host, NAME, ["/pkg/lib"]) == f"/pkg/lib/{NAME}"


def test_a_preloaded_library_is_found(tmp_path: Path) -> None:
    tree = HostTree(tmp_path).env(LD_PRELOAD=f"/x/libother.so /x/{NAME}")
    assert find_library(tree.host, NAME) == f"/x/{NAME}"


def test_the_cache_counts_where_its_file_is_still_there(tmp_path: Path) -> None:
    cache = f"glibc-ld.so.cache1.1\0\0{NAME}\0/opt/gone/{NAME}\0/opt/kept/{NAME}\0lib2.so\0"
    tree = HostTree(tmp_path).file("/etc/ld.so.cache", cache)
    assert find_library(tree.host, NAME) is None
    tree.file(f"/opt/kept/{NAME}")
    assert find_library(tree.host, NAME) == f"/opt/kept/{NAME}"


def test_what_the_process_has_loaded_counts_under_its_own_name(tmp_path: Path) -> None:
    maps = "7f00-7f01 r-xp 00000000 08:01 42      /opt/vendor/libacme.so.1.2.3\n"
    tree = HostTree(tmp_path).file("/proc/self/maps", maps)
    assert find_library(tree.host, NAME) == "/opt/vendor/libacme.so.1.2.3"
    assert find_library(tree.host, "libacm.so.1") is None


@pytest.mark.skipif(ctypes.util.find_library("c") is None, reason="no C library to look for")
def test_this_host_s_c_library_is_found() -> None:
    name = ctypes.util.find_library("c")
    assert name is not None
    assert find_library(Host(), name) is not None


def test_a_folder_that_a_variable_names_goes_after_the_loader() -> None:
    expected = (NAME, f"/opt/acme/lib64/{NAME}", f"/opt/acme/lib/{NAME}", *FILE.paths)
    assert FILE.candidates({"ACME_HOME": "/opt/acme"}) == expected
    assert FILE.candidates({"ACME_HOME": "/opt/acme", FILE.variable: "/x.so"}) == ("/x.so",)


@pytest.mark.parametrize("folder", ["", "opt/acme", "."])
def test_a_variable_that_names_no_absolute_folder_is_ignored(folder: str) -> None:
    assert FILE.candidates({"ACME_HOME": folder}) == (NAME, *FILE.paths)


def test_raised_rights_follow_no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library_search, "has_raised_rights", lambda: True)
    environ = {"ACME_HOME": "/opt/acme", FILE.variable: "/x.so"}
    assert FILE.candidates(environ) == (NAME, *FILE.paths)


def test_a_file_below_a_named_folder_is_there(tmp_path: Path) -> None:
    tree = HostTree(tmp_path).file(f"/opt/acme/lib/{NAME}")
    assert not FILE.is_there(tree.host)
    assert FILE.is_there(tree.env(ACME_HOME="/opt/acme").host)
