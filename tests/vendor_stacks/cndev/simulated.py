"""The simulated libcndev.so for tests: two releases of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from accelhal_cambricon.cndev_library import LIBRARY
from accelhal_cambricon.management import CndevManagement
from vendor_stacks.simulated_library import SetScenario, build, scenario as scenario

from accelhal.facts import BoardKey

OLD = "-DOLD_DRIVER"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("cndev/cndev.c", LIBRARY.soname, tmp_path_factory.mktemp("cndev"))


@pytest.fixture(scope="module")
def old_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("cndev/cndev.c", LIBRARY.soname, tmp_path_factory.mktemp("old_cndev"), OLD)


@pytest.fixture
def cndev(library: Path, scenario: SetScenario, monkeypatch: pytest.MonkeyPatch) -> CndevManagement:
    """One board over the newer library, until the scenario says more."""
    return opened(library, monkeypatch)


@pytest.fixture
def old_cndev(
    old_library: Path, scenario: SetScenario, monkeypatch: pytest.MonkeyPatch
) -> CndevManagement:
    """The same over the library from before 2.0.11."""
    return opened(old_library, monkeypatch)


def opened(path: Path, monkeypatch: pytest.MonkeyPatch) -> CndevManagement:
    """A management plane over this library, after the scenario was set."""
    monkeypatch.setenv(LIBRARY.variable, str(path))
    return CndevManagement()


def key(place: int | str) -> BoardKey:
    return BoardKey("mlu", "visible-order", str(place))


def uuid(board: int, end: str = "aa") -> str:
    """What the simulated board answers; a MIM slice has its place for `end`."""
    return f"33033011-2157-0000-0000-00000000{end}{board:02}"
