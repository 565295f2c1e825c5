"""Tests on the board that `--accelhal-device` names; without it they are skipped."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from accelhal.testing.pytest_plugin import OPTION

_TABLE = pytest.StashKey[str]()


@pytest.fixture
def show_at_the_end(pytestconfig: pytest.Config) -> Callable[[str], None]:
    """Prints a table at the end of the run, whatever pytest captures."""

    def show(table: str) -> None:
        pytestconfig.stash[_TABLE] = table

    return show


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what needs a board where none is named."""
    if config.getoption(OPTION) is None:
        skip = pytest.mark.skip(reason=f"needs a board: {OPTION}=cuda:0")
        for item in items:
            if item.get_closest_marker("hardware"):
                item.add_marker(skip)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table."""
    table = terminalreporter.config.stash.get(_TABLE, None)
    if table is not None:
        terminalreporter.write_line("")
        terminalreporter.write(table)
