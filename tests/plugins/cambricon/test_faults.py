"""Cambricon's numbered faults, and how they show in a kernel log."""

from __future__ import annotations

from collections import Counter

import pytest
from accelhal_cambricon.cndev_health import INCIDENT_NAMES
from accelhal_cambricon.faults import FAULTS

from accelhal.spi.fault_log import read_fault_events

TABLE = FAULTS.read()


def test_all_rows_are_there() -> None:
    counts = Counter(fault.family for fault in TABLE.faults)
    assert counts == {"xid": 11, "incident": 27, "cndev": 3}


def test_incidents_bear_the_names_that_health_reports_use() -> None:
    codes = {fault.code for fault in TABLE.faults if fault.family == "incident"}
    assert codes <= set(INCIDENT_NAMES)


@pytest.mark.parametrize(
    ("family", "code", "action"),
    [
        ("xid", 3, "reset"),
        ("xid", "illegal_access", "app"),
        ("xid", 8, "rma"),
        ("incident", "ROW_REMAP_FAILURE", "rma"),
        ("incident", "PENDING_ROW_REMAP", "reset"),
        ("incident", "ROW_REMAP_PENDING", "reset"),
        ("incident", "mlulink_down", "link"),
        ("cndev", 2, "driver"),
    ],
)
def test_what_to_do(family: str, code: int | str, action: str) -> None:
    fault = TABLE.find(family, code)
    assert fault is not None
    assert fault.action.value == action


@pytest.mark.parametrize(
    ("line", "code", "board"),
    [
        ("CNRM: Xid [MLU370-Card1]: 3, memory failed", "3", "MLU370-Card1"),
        ("CNRM: Xid [N/A]: 4, no channel", "4", None),
        ("CNRM: Xid [Card0]: 77, new", "77", "Card0"),
    ],
)
def test_an_xid_in_the_kernel_log(line: str, code: str, board: str | None) -> None:
    [event] = read_fault_events([f"[  4.500000] cambricon: {line}"], TABLE)
    assert (event.fault.code, event.board, event.time) == (code, board, 4.5)
