"""Return codes become reasons or typed errors, whichever release of the library is there."""

from __future__ import annotations

import ctypes
import os
import subprocess
from pathlib import Path

import pytest

from accelhal.drivers.library import Code, DriverLibrary, Outcome, roomy
from accelhal.drivers.readings import NotReportedError
from accelhal.errors import (
    AccelhalError,
    BackendLoadError,
    DeviceError,
    DeviceLostError,
    DeviceNotFoundError,
    DeviceTimeoutError,
    DeviceUnhealthyError,
)
from accelhal.host import Host, library_search
from accelhal.host.library_search import LibraryFile

FILE = LibraryFile("libtoydriver.so.1", "TOY_LIBRARY")
CODES = {
    1: Code("TOY_UNSUPPORTED", Outcome.NO_VALUE),
    2: Code("TOY_PERMISSION", Outcome.NO_PERMISSION),
    3: Code("TOY_ABSENT", Outcome.ABSENT),
    4: Code("TOY_SICK", Outcome.UNHEALTHY),
    5: Code("TOY_LOST", Outcome.LOST),
    27: Code("TOY_NOT_READY", Outcome.RETRY),
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("driver") / "libtoydriver.so.1"
    source = Path(__file__).with_name("toy_driver.c")
    command = ["gcc", "-shared", "-fPIC", "-Wall", "-Werror", "-o", str(path), str(source)]
    subprocess.run(command, check=True, timeout=60)
    return path


@pytest.fixture
def toy(built: Path, monkeypatch: pytest.MonkeyPatch) -> DriverLibrary:
    monkeypatch.setenv("TOY_LIBRARY", str(built))
    return DriverLibrary("toy", FILE, CODES)


def test_success_is_silent(toy: DriverLibrary) -> None:
    toy.call("toy_code", 0)


@pytest.mark.parametrize(
    ("code", "raised", "text"),
    [
        (1, NotReportedError, r"toy_code answered 1 \(TOY_UNSUPPORTED\)"),
        (2, NotReportedError, r"TOY_PERMISSION\): it needs more rights"),
        (3, DeviceNotFoundError, "TOY_ABSENT"),
        (4, DeviceUnhealthyError, "TOY_SICK"),
        (5, DeviceLostError, "TOY_LOST"),
        (27, DeviceTimeoutError, "TOY_NOT_READY"),
        (-8005, DeviceError, "toy: toy_code answered -8005"),
    ],
)
def test_each_code_says_what_it_means(
    toy: DriverLibrary, code: int, raised: type[Exception], text: str
) -> None:
    with pytest.raises(raised, match=text) as found:
        toy.call("toy_code", code)
    assert type(found.value) is raised
    if isinstance(found.value, AccelhalError):
        assert (found.value.backend, found.value.operation) == ("toy", "toy_code")


def test_a_busy_driver_is_asked_again_and_others_are_not(toy: DriverLibrary) -> None:
    value = ctypes.c_int()
    toy.call("toy_busy", 3, ctypes.byref(value))
    assert value.value == 3
    before = toy.value("toy_calls")
    with pytest.raises(NotReportedError):
        toy.call("toy_code", 1)
    assert toy.value("toy_calls") == before + 1


def test_a_function_of_another_release(toy: DriverLibrary) -> None:
    assert toy.has("toy_code")
    assert not toy.has("toy_code_v2")
    with pytest.raises(NotReportedError, match="has no toy_code_v2"):
        toy.call("toy_code_v2", 0)


def test_a_longer_structure_overwrites_nothing(toy: DriverLibrary) -> None:
    found = roomy(ctypes.c_uint32, 2)
    toy.call("toy_long", found)
    assert list(found) == [0x11111111] * 2


def test_a_library_in_its_installers_folder_is_found(built: Path) -> None:
    file = LibraryFile("libnowhere.so.1", "TOY_LIBRARY", (str(built),))
    assert DriverLibrary("toy", file, CODES).path == str(built)


def test_a_missing_library_names_the_loaders_reason_and_the_variable() -> None:
    file = LibraryFile("libnowhere.so.1", "TOY_LIBRARY", ("/nowhere/libnowhere.so",))
    with pytest.raises(BackendLoadError) as found:
        DriverLibrary("toy", file, CODES)
    for part in ("libnowhere.so.1: cannot open", "/nowhere/libnowhere.so", "TOY_LIBRARY"):
        assert part in str(found.value)


def test_a_named_file_is_the_only_one_tried(
    built: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TOY_LIBRARY", str(tmp_path / "other.so"))
    with pytest.raises(BackendLoadError, match=r"other\.so"):
        DriverLibrary("toy", LibraryFile("libtoydriver.so.1", "TOY_LIBRARY", (str(built),)), CODES)


def test_raised_rights_ignore_the_variable(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not library_search.has_raised_rights()
    monkeypatch.setenv("TOY_LIBRARY", str(built))
    monkeypatch.setattr(library_search, "has_raised_rights", lambda: True)
    with pytest.raises(BackendLoadError, match=r"libtoydriver\.so\.1"):
        DriverLibrary("toy", FILE, CODES)
    assert os.environ["TOY_LIBRARY"] == str(built)


def test_whether_it_is_there_is_told_without_loading(built: Path, tmp_path: Path) -> None:
    environ = {"TOY_LIBRARY": str(built)}
    assert LibraryFile("libnowhere.so.1", "TOY_LIBRARY").is_there(Host(environ=environ))
    assert not LibraryFile("libnowhere.so.1", "TOY_LIBRARY").is_there(Host(environ={}))
    assert LibraryFile("libnowhere.so.1", paths=(str(built),)).is_there(Host(environ={}))
    searched = {"LD_LIBRARY_PATH": str(built.parent)}
    assert LibraryFile("libtoydriver.so.1").is_there(Host(environ=searched))
    assert not LibraryFile("libtoydriver.so.1").is_there(Host(root=tmp_path, environ=searched))
