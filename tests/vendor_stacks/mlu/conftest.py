"""A Neuware for the children of these tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from vendor_stacks.mlu.standin import make_neuware


@pytest.fixture(scope="session")
def neuware(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_neuware(tmp_path_factory.mktemp("mlu") / "neuware")
