"""Drivers, releases of CANN, torch, torch_npu and Python that go together."""

from __future__ import annotations

import pytest
from accelhal_ascend.compatibility import judge, rows

from accelhal.facts.compatibility import PairState, PairVerdict


def verdict(left: str, right: str, **found: str) -> PairVerdict:
    [one] = [one for one in judge(found) if (one.left, one.right) == (left, right)]
    return one


def test_all_rows_are_there() -> None:
    counts = {name: len(table) for name, table in rows().sets.items()}
    assert counts == {
        "torch_npu": 62,
        "python": 14,
        "vllm_ascend": 36,
        "cann_driver": 12,
        "one_release": 1,
    }


def test_every_listed_set_is_ok() -> None:
    for row in rows().sets["torch_npu"]:
        found = {name: ranges[0] for name, ranges in row.versions.items()}
        assert {one.state for one in judge(found)} == {PairState.OK}, row


@pytest.mark.parametrize("driver", ["24.1", "24.1.rc3", "25.2.0", "23.0.7"])
def test_a_driver_older_than_listed_is_too_old(driver: str) -> None:
    """25.2.0 is listed with the later 8.5.0, and so is only unknown here."""
    found = verdict("cann", "driver", driver=driver, cann="8.3.RC2")
    assert found.partners == ("25.3.RC1",)
    expected = PairState.UNKNOWN if driver == "25.2.0" else PairState.TOO_OLD
    assert found.state is expected


@pytest.mark.parametrize(
    ("driver", "cann", "state"),
    [
        ("25.3.rc1", "8.3.RC2", PairState.OK),
        ("25.5.1", "8.5.0", PairState.OK),
        ("24.1.0", "8.5.0", PairState.TOO_OLD),
        ("26.1.0", "8.5.0", PairState.UNKNOWN),
        ("24.1.0", "8.1.RC1", PairState.UNKNOWN),  # the later 8.2.RC1 is listed with it
        ("25.7.RC1", "9.1.0", PairState.OK),
        ("25.5.1", "12.0", PairState.UNKNOWN),
    ],
)
def test_drivers_of_a_cann(driver: str, cann: str, state: PairState) -> None:
    assert verdict("cann", "driver", driver=driver, cann=cann).state is state


def test_the_second_generation_has_a_minimum_for_all_of_cann_8() -> None:
    found = {"driver": "23.0.3", "cann": "8.1.RC1"}
    assert verdict("cann", "driver", **found, soc="Ascend910B3").wanted == (">=24.1.RC1",)


@pytest.mark.parametrize("cann", ["8.5", "8.5.0"])
def test_an_adapter_of_another_line_of_cann(cann: str) -> None:
    found = verdict("torch_npu", "cann", torch="2.7.1+cpu", torch_npu="2.7.1", cann=cann)
    assert (found.state, found.change) == (PairState.TOO_OLD, "torch_npu")
    assert "8.3.RC1" in found.partners
    assert found.wanted == ("2.7.1.post2",)


def test_a_cann_older_than_the_adapters() -> None:
    found = verdict("torch_npu", "cann", torch_npu="2.9.0.post2", cann="8.3.RC1")
    assert (found.state, found.change) == (PairState.TOO_OLD, "cann")


def test_pairs_that_only_vllm_lists_are_ok() -> None:
    assert verdict("torch_npu", "cann", torch_npu="2.7.1.post1", cann="8.3.RC2").state == "ok"


def test_an_unlisted_adapter_is_unknown() -> None:
    found = verdict("torch_npu", "cann", torch_npu="2.20.0", cann="12.0")
    assert found.state is PairState.UNKNOWN


@pytest.mark.parametrize(
    ("torch", "torch_npu", "state"),
    [
        ("2.9.0+cpu", "2.9.0.post2", PairState.OK),
        ("2.9.0", "2.9.0.post99", PairState.OK),
        ("2.9.1", "2.9.0", PairState.MISMATCH),
        ("2.8.0", "2.7.1", PairState.MISMATCH),
        ("1.8.1", "1.5.0.post3", PairState.OK),
        ("unknown", "2.9.0", PairState.UNKNOWN),
    ],
)
def test_the_adapter_is_of_torchs_release(torch: str, torch_npu: str, state: PairState) -> None:
    assert verdict("torch_npu", "torch", torch=torch, torch_npu=torch_npu).state is state


@pytest.mark.parametrize(
    ("python", "state"),
    [("3.11.9", PairState.OK), ("3.9.1", PairState.TOO_OLD), ("3.15.0", PairState.UNKNOWN)],
)
def test_python(python: str, state: PairState) -> None:
    assert verdict("torch", "python", torch="2.10.0", python=python).state is state


@pytest.mark.parametrize("soc", ["910PremiumA", "Ascend910ProB", "910A", "Ascend310B4"])
def test_the_first_generation_has_no_vllm(soc: str) -> None:
    found = verdict("vllm_ascend", "soc", soc=soc, vllm_ascend="0.13.0")
    assert (found.state, found.change) == (PairState.MISMATCH, "vllm_ascend")


@pytest.mark.parametrize("soc", ["910B3", "Ascend910_9382", "310P3", "Ascend910B1"])
def test_later_chips_are_not_excluded(soc: str) -> None:
    assert judge({"soc": soc, "vllm_ascend": "0.13.0"}) == ()
