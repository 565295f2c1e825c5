"""pytest fixtures: simulated boards for a test, and their faults. No torch before they are used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from accelhal_mock.simulation import Fault


@pytest.fixture
def mock_boards() -> Iterator[Callable[..., list[str]]]:
    """A function that installs simulated boards for this test, and returns their device names.

    It takes the arguments of `accelhal_mock.install`; missing waits raise unless `hazards` says
    otherwise. What was installed before the test is back after it.

        def test_two_boards(mock_boards):
            first, second = mock_boards(count=2, memory="64MiB")
    """
    from accelhal_mock import installation

    with installation.preserved():

        def install(**settings: Any) -> list[str]:
            settings.setdefault("hazards", "raise")
            machine = installation.install(**settings).machine
            return [str(board) for board in machine.boards]

        yield install


@pytest.fixture
def mock_fault(mock_boards: Callable[..., list[str]]) -> Iterator[Callable[..., Fault]]:
    """`accelhal_mock.inject`, for boards of `mock_boards`; two are installed where none are.

    def test_survives_loss(mock_boards, mock_fault):
        mock_boards(count=2)
        mock_fault("lost", device=1, after=10)
    """
    from accelhal_mock import installation

    def inject(kind: str, device: int = 0, **settings: object) -> Fault:
        if installation.installed() is None:
            mock_boards()
        return installation.inject(kind, device, **settings)

    yield inject
    if installation.installed() is not None:
        installation.clear()
