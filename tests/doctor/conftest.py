"""A fake host for each test, and toy backends registered for its length."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from doctor.toys import FakeHost

from accelhal.registry import register
from accelhal.spi import BackendSpec


@pytest.fixture
def fake(tmp_path: Path) -> FakeHost:
    return FakeHost(tmp_path)


@pytest.fixture
def install(fresh_registry: None) -> Iterator[Callable[[BackendSpec], None]]:
    with ExitStack() as registered:

        def install(spec: BackendSpec) -> None:
            registered.enter_context(register(spec))

        yield install
