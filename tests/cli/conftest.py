"""Distributions to run commands against."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from cli.commands import FakeSite


@pytest.fixture
def site(tmp_path: Path, install_plugin: Callable[..., Path]) -> FakeSite:
    return FakeSite(tmp_path / "site", install_plugin)
