"""The simulated libdcmi.so for tests: two releases of it, and the families of boards it plays."""

from __future__ import annotations

from pathlib import Path

import pytest
from accelhal_ascend.driver_library import LIBRARY
from accelhal_ascend.management import DcmiManagement
from host_tree import HostTree
from vendor_stacks.simulated_library import SetScenario, build, scenario as scenario

from accelhal.facts import BoardKey

OLD = "-DOLD_DRIVER"

A3 = "set * chips 2\nset * board_id 0xb0\nset * chip_name Ascend910\nset * npu_name 9382\n"
"""Atlas A3: two chips a card, named like the 910B's."""

INFERENCE = (
    "set * chip_name 310P3\nset * npu_name\nset * hbm_total -1\nset * hbm_clock -1\n"
    "set * ddr_total 21527\nset * ddr_available 19000\nset * ecc_memory 0\nset * power -1\n"
    "set * mcu_power 720\nset * utilization_5 12\nset * ports -1\nset * pcs -1\n"
)
"""310P: DDR, and power from the card's MCU."""

A5 = "set * v2 1\nset * chip_name 950\n"
"""Ascend 950: the second generation's calls."""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("dcmi/dcmi.c", LIBRARY.soname, tmp_path_factory.mktemp("dcmi"))


@pytest.fixture(scope="module")
def old_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("dcmi/dcmi.c", LIBRARY.soname, tmp_path_factory.mktemp("old_dcmi"), OLD)


@pytest.fixture
def tree(tmp_path: Path) -> HostTree:
    return HostTree(tmp_path)


@pytest.fixture
def dcmi(
    library: Path, scenario: SetScenario, tree: HostTree, monkeypatch: pytest.MonkeyPatch
) -> DcmiManagement:
    """A 910B over the newer library, on the host of `tree`."""
    monkeypatch.setenv(LIBRARY.variable, str(library))
    return DcmiManagement(tree.host)


def opened(path: Path, monkeypatch: pytest.MonkeyPatch) -> DcmiManagement:
    """A management plane over this library, after the scenario was set."""
    monkeypatch.setenv(LIBRARY.variable, str(path))
    return DcmiManagement()


def key(index: int | str) -> BoardKey:
    return BoardKey("npu", "logic-id", str(index))
