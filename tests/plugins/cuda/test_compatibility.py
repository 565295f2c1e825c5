"""Drivers, toolkits, wheels of torch and boards of NVIDIA that go together."""

from __future__ import annotations

import pytest
from accelhal_cuda.compatibility import full_feature_driver, judge, minimum_driver, rows, toolkit_of

from accelhal.facts.compatibility import PairState, PairVerdict


def verdict(right: str, **found: str) -> PairVerdict:
    [one] = [one for one in judge(found) if one.right == right]
    return one


def test_all_rows_are_there() -> None:
    tables = rows()
    counts = {name: len(table) for name, table in tables.sets.items()}
    assert counts == {
        "toolkit_driver": 60,
        "minor_versions": 3,
        "pypi_wheels": 14,
        "one_release": 1,
    }
    assert len(tables.builds) == 35


@pytest.mark.parametrize(
    ("toolkit", "minimum", "full"),
    [
        ("11.8", "450.80.02", "520.61.05"),
        ("12.4", "525.60.13", "550.54.14"),
        ("12.4.1", "525.60.13", "550.54.15"),
        ("12.8", "525.60.13", "570.26"),
        ("13.0", "580.65.06", "580.65.06"),
        ("13.2", "580.65.06", "595.45.04"),
        ("10.2", "440.33", "440.33"),
        ("12.99", "525.60.13", None),
        ("99.0", None, None),
    ],
)
def test_drivers_of_a_toolkit(toolkit: str, minimum: str | None, full: str | None) -> None:
    assert (minimum_driver(toolkit), full_feature_driver(toolkit)) == (minimum, full)


@pytest.mark.parametrize(
    ("torch", "toolkit"),
    [
        ("2.9.1+cu128", "12.8"),
        ("2.3.0+cu118", "11.8"),
        ("1.12.1+cu102", "10.2"),
        ("1.4.0+cu92", "9.2"),
        ("2.11.0", "13.0"),
        ("2.13.0", "13.0"),  # not listed; the releases beside it agree
        ("2.6.0", "12.4"),
        ("2.13.0+cpu", None),
        ("2.13.0+rocm6.4", None),
        ("9.0.0", None),
        ("", None),
    ],
)
def test_the_toolkit_of_a_wheel(torch: str, toolkit: str | None) -> None:
    assert toolkit_of(torch) == toolkit


@pytest.mark.parametrize("driver", ["570.86.10", "535.104.05", "579.99"])
@pytest.mark.parametrize("torch", ["2.11.0", "2.12.1+cu130", "2.13.0+cu132"])
def test_a_wheel_of_cuda_13_needs_a_driver_from_580_on(driver: str, torch: str) -> None:
    """The kind of the test host that quietly ran everything on its CPU."""
    found = verdict("driver", driver=driver, torch=torch)
    assert (found.state, found.change) == (PairState.TOO_OLD, "driver")
    assert ">=580.65.06" in found.wanted


@pytest.mark.parametrize(
    ("driver", "torch"),
    [("535.104.05", "2.9.1+cu128"), ("580.65.06", "2.11.0"), ("610.43.02", "2.6.0+cu124")],
)
def test_a_driver_runs_its_major_release_and_all_older_ones(driver: str, torch: str) -> None:
    assert verdict("driver", driver=driver, torch=torch).state is PairState.OK


def test_a_toolkit_that_nobody_lists_is_unknown() -> None:
    assert verdict("driver", driver="580.65.06", toolkit="14.0").state is PairState.UNKNOWN


def test_before_11_a_toolkit_needed_its_own_driver() -> None:
    assert verdict("driver", driver="418.39", toolkit="10.2").state is PairState.TOO_OLD


@pytest.mark.parametrize("board", ["6.1", "sm_61", "6.0", "5.2"])
def test_an_old_board_under_a_wheel_that_left_it_out(board: str) -> None:
    """2.8 itself is not listed; 2.7 and 2.9 agree about its wheels."""
    found = verdict("arch", torch="2.8.0+cu128", arch=board)
    assert (found.state, found.change) == (PairState.MISMATCH, "torch")
    assert found.wanted == ("cu126",)
    assert found.inferred


def test_where_the_releases_beside_it_differ_nothing_is_said() -> None:
    assert verdict("arch", torch="2.8.0+cu128", arch="7.0").state is PairState.UNKNOWN


def test_what_the_build_itself_says_beats_the_table() -> None:
    found = verdict("arch", torch="2.8.0+cu128", arch="6.1", arch_list="sm_61 sm_75")
    assert (found.state, found.rule) == (PairState.OK, "compiled")


def test_a_new_board_under_an_old_wheel_is_told_the_next_release() -> None:
    found = verdict("arch", torch="2.6.0+cu124", arch="12.0")
    assert (found.state, found.rule) == (PairState.MISMATCH, "no_code")
    assert found.wanted == ("2.7+cu128",)


def test_of_a_wheel_without_cuda_nothing_is_said() -> None:
    assert judge({"torch": "2.13.0+cpu", "arch": "8.6", "driver": "580.65.06"}) == ()


def test_a_newer_minor_architecture_is_no_fault() -> None:
    assert verdict("arch", torch="2.9.1+cu128", arch="8.9").state is PairState.OK


@pytest.mark.parametrize(
    ("driver", "state"), [("575.51.03", PairState.OK), ("570.86.10", PairState.TOO_OLD)]
)
def test_code_that_the_driver_compiles_needs_a_driver_of_its_toolkit(
    driver: str, state: PairState
) -> None:
    found = verdict("arch", torch="2.9.1+cu129", arch="13.0", driver=driver)
    assert (found.state, found.rule) == (state, "portable")


@pytest.mark.parametrize(
    ("found", "instead"),
    [({"driver": "590.44.01", "arch": "7.0"}, "<590"), ({"toolkit": "13.1", "arch": "6.1"}, "<13")],
)
def test_volta_and_older_are_left_behind(found: dict[str, str], instead: str) -> None:
    [one] = [one for one in judge(found) if one.rule == "excluded"]
    assert (one.state, one.wanted) == (PairState.MISMATCH, (instead,))
    assert "excluded" not in {one.rule for one in judge({**found, "arch": "7.5"})}


def test_the_fabric_manager_is_of_the_drivers_release() -> None:
    assert verdict("fabric_manager", driver="580.95.05", fabric_manager="580.95.05").state == "ok"
    found = verdict("fabric_manager", driver="580.95.05", fabric_manager="580.82.07")
    assert (found.state, found.wanted) == (PairState.MISMATCH, ("580.95.05",))
