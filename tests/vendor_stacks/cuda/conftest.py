"""The simulated stack, built once for all tests on it."""

from __future__ import annotations

import shutil

import pytest
from vendor_stacks.cuda.conformance import make_stack
from vendor_stacks.cuda.settings import Settings


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Two boards; the host shows them, the driver and a CUDA build of torch."""
    if shutil.which("g++") is None:
        pytest.skip("g++ builds the device guard, and is not installed")
    return make_stack(tmp_path_factory.mktemp("cuda"))
