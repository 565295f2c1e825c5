"""Drivers, toolkits, torch and torch_mlu that were seen to work together."""

from __future__ import annotations

import pytest
from accelhal_cambricon.compatibility import judge, rows

from accelhal.facts.compatibility import PairState, PairVerdict


def verdict(left: str, right: str, **found: str) -> PairVerdict:
    [one] = [one for one in judge(found) if (one.left, one.right) == (left, right)]
    return one


def test_all_rows_are_there() -> None:
    """Fourteen pairs, of which one has three minima, by generation of the board."""
    assert len(rows().sets["known_good"]) == 16


@pytest.mark.parametrize(
    ("torch", "torch_mlu", "state"),
    [
        ("2.1.0", "1.22.2-torch2.1.0", PairState.OK),
        ("2.1.0+cpu", "1.22.2+torch2.1.0", PairState.OK),
        ("2.4.0", "1.22.2+torch2.1.0", PairState.MISMATCH),
        ("2.7.1", "1.29.2", PairState.OK),
        ("2.8.0", "1.29.2", PairState.UNKNOWN),
        ("2.9.1", "1.99.0+torch2.9.1", PairState.OK),
    ],
)
def test_the_adapter_names_its_torch(torch: str, torch_mlu: str, state: PairState) -> None:
    assert verdict("torch_mlu", "torch", torch=torch, torch_mlu=torch_mlu).state is state


@pytest.mark.parametrize(
    ("driver", "torch_mlu", "state"),
    [
        ("6.2.0", "1.22.2+torch2.1.0", PairState.OK),
        ("6.1.9", "1.22.2+torch2.1.0", PairState.TOO_OLD),
        ("6.2.29", "1.29.2", PairState.OK),
        ("6.2.10", "1.29.2", PairState.UNKNOWN),
        ("5.10.22", "1.29.2", PairState.UNKNOWN),
        ("6.2.29", "1.33.1", PairState.OK),
    ],
)
def test_only_a_stated_minimum_makes_a_driver_too_old(
    driver: str, torch_mlu: str, state: PairState
) -> None:
    assert verdict("torch_mlu", "driver", driver=driver, torch_mlu=torch_mlu).state is state


@pytest.mark.parametrize(
    ("board", "driver", "state"),
    [
        ("MLU370-X8", "5.10.22", PairState.OK),
        ("MLU370-X8", "4.15.0", PairState.TOO_OLD),
        ("MLU270", "4.15.0", PairState.OK),
        ("MLU590", "4.20.18", PairState.TOO_OLD),
        ("MLU100", "4.15.0", PairState.UNKNOWN),
    ],
)
def test_the_exporters_minimum_depends_on_the_board(
    board: str, driver: str, state: PairState
) -> None:
    found = verdict("mlu_exporter", "driver", mlu_exporter="2.0", driver=driver, board=board)
    assert found.state is state


def test_shared_slices_need_their_driver() -> None:
    assert verdict("smlu", "driver", smlu="1", driver="5.10.22").state is PairState.TOO_OLD
