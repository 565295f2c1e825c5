"""The fixtures for other projects' tests, run in a project of their own."""

from __future__ import annotations

pytest_plugins = ["pytester"]

SUITE = """
import accelhal_mock
import pytest
import sys


def test_no_torch_before_use():
    assert "torch" not in sys.modules


@pytest.mark.parametrize("count", [1, 4, 2])
def test_the_count_changes_from_test_to_test(mock_boards, count):
    names = mock_boards(count=count, memory="64MiB", mode="plain")
    assert names == [f"mock:{i}" for i in range(count)]
    machine = accelhal_mock.machine()
    assert machine.board(0).memory.capacity == 64 << 20
    assert machine.hazards.mode == "raise"
    machine.board(0).memory.others[1] = 1


def test_nothing_is_left_behind():
    assert accelhal_mock.installed() is None


def test_a_fault(mock_boards, mock_fault):
    mock_boards(mode="plain")
    mock_fault("lost", device=1)
    with pytest.raises(RuntimeError, match="lost"):
        accelhal_mock.machine().board(1).synchronize()


def test_the_fault_is_gone(mock_boards):
    mock_boards(mode="plain")
    accelhal_mock.machine().board(1).synchronize()


def test_a_wrong_fault_is_refused(mock_boards, mock_fault):
    mock_boards(mode="plain")
    with pytest.raises(ValueError, match="no fault 'lots'"):
        mock_fault("lots")


def test_hazards_can_be_chosen(mock_boards):
    mock_boards(mode="plain", hazards="off")
    assert accelhal_mock.machine().hazards.mode == "off"
"""


def test_the_fixtures_work_in_a_project_of_their_own(pytester):
    pytester.makepyfile(SUITE)
    result = pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=9)


def test_a_fixture_puts_back_what_a_session_installed(pytester):
    pytester.makeconftest(
        """
        import accelhal_mock
        accelhal_mock.install(count=3, mode="plain")
        """
    )
    pytester.makepyfile(
        """
        import accelhal_mock

        def test_own(mock_boards):
            assert len(mock_boards(count=1, mode="plain")) == 1

        def test_session():
            assert len(accelhal_mock.machine().boards) == 3
        """
    )
    result = pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=2)
