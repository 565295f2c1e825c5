"""The simulated libnvidia-ml.so.1 for tests, and a management plane over it."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from pathlib import Path

import pynvml
import pytest
from accelhal_cuda.management import NvmlManagement
from vendor_stacks.simulated_library import SetScenario, build, scenario as scenario

from accelhal.facts import BoardKey

SONAME = "libnvidia-ml.so.1"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("nvml/nvml.c", SONAME, tmp_path_factory.mktemp("nvml"))


def load(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have nvidia-ml-py take this file; it keeps the first it loads."""
    monkeypatch.setattr(pynvml, "nvmlLib", ctypes.CDLL(str(path)))
    monkeypatch.setattr(pynvml, "_nvmlGetFunctionPointer_cache", {})


@pytest.fixture
def nvml(
    library: Path, scenario: SetScenario, monkeypatch: pytest.MonkeyPatch
) -> Iterator[NvmlManagement]:
    """One board, until the scenario says more."""
    load(library, monkeypatch)
    management = NvmlManagement()
    yield management
    management.close()


def key(index: int) -> BoardKey:
    return BoardKey("cuda", "uuid", f"GPU-00000000-0000-0000-0000-{index:012x}")
