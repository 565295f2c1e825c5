"""NVIDIA's numbered faults, and how they show in a kernel log."""

from __future__ import annotations

import pytest
from accelhal_cuda.faults import FAULTS

from accelhal.facts.faults import FaultAction, FaultSeverity
from accelhal.spi.fault_log import read_fault_events

TABLE = FAULTS.read()

JOB_XIDS = (13, 31, 43, 45, 68, 109)
"""What NVIDIA's device plugin for Kubernetes takes for the job's own."""

BOARD_XIDS = (48, 57, 58, 62, 64, 74, 79, 81, 95, 119, 120, 140)
"""What hosts are taken out of service for, at Azure and elsewhere."""


def action(xid: int) -> FaultAction:
    fault = TABLE.find("xid", xid)
    assert fault is not None
    return fault.action


def test_every_xid_to_176_is_listed() -> None:
    listed = {int(fault.code) for fault in TABLE.faults if fault.family == "xid"}
    assert listed == set(range(1, 177))


@pytest.mark.parametrize("xid", JOB_XIDS)
def test_faults_of_jobs_are_left_to_the_job(xid: int) -> None:
    assert action(xid) in (FaultAction.APP, FaultAction.NONE)


@pytest.mark.parametrize("xid", BOARD_XIDS)
def test_faults_of_boards_are_errors(xid: int) -> None:
    fault = TABLE.find("xid", xid)
    assert fault is not None
    assert fault.severity in (FaultSeverity.ERROR, FaultSeverity.FATAL)
    assert fault.action not in (FaultAction.NONE, FaultAction.APP)


@pytest.mark.parametrize(
    ("xid", "expected"), [(79, "reboot"), (48, "reset"), (74, "link"), (54, "mechanical")]
)
def test_what_to_do(xid: int, expected: str) -> None:
    assert action(xid).value == expected


def test_a_number_of_tomorrow_is_a_warning() -> None:
    fault = TABLE.find("xid", 400)
    assert fault is not None
    assert (fault.listed, fault.severity) == (False, FaultSeverity.WARNING)


@pytest.mark.parametrize(
    ("line", "code", "board"),
    [
        ("NVRM: Xid (PCI:0000:3b:00): 31, pid=77, name=train, Ch 8", "31", "0000:3b:00"),
        ("NVRM: Xid (PCI:0000:3b:00.0): 79, GPU has fallen off the bus.", "79", "0000:3b:00.0"),
        ("NVRM: Xid (PCI:00000000:af:00): 119, pid='<unknown>', name=<unknown>", "119", None),
        ("NVRM: Xid (PCI:0000:3b:00): 48", "48", "0000:3b:00"),
        ("NVRM: GPU at 0000:3b:00.0 has fallen off the bus", "79", "0000:3b:00.0"),
        ("NVRM: GPU 0000:3b:00.0: GPU has fallen off the bus.", "79", "0000:3b:00.0"),
        ("NVRM: GPU at PCI:0000:3b:00: has fallen off the bus", "79", "0000:3b:00"),
    ],
)
def test_an_xid_in_the_kernel_log(line: str, code: str, board: str | None) -> None:
    [event] = read_fault_events([f"[  10.250000] {line}"], TABLE)
    assert (event.fault.family, event.fault.code, event.time) == ("xid", code, 10.25)
    assert event.board == (board or "00000000:af:00")


def test_a_board_that_left_without_a_number_is_seen() -> None:
    lines = [
        "[7.0] NVRM: The NVIDIA GPU 0000:3b:00.0",
        "               NVRM: (PCI ID: 10de:2204) installed in this system has",
        "               NVRM: fallen off the bus and is not responding to commands.",
    ]
    [event] = read_fault_events(lines, TABLE)
    assert (event.fault.code, event.board) == ("79", None)


@pytest.mark.parametrize(
    ("line", "severity", "action"),
    [
        ("SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 30 LTSSM Fault Up", "fatal", "reset"),
        ("SXid (PCI:0000:c1:00.0): 19084, Non-fatal, Link 30 AN1 Heartbeat", "warning", "none"),
    ],
)
def test_a_switch_says_itself_how_grave_it_is(line: str, severity: str, action: str) -> None:
    [event] = read_fault_events([f"nvidia-nvswitch3: {line}"], TABLE)
    assert (event.fault.family, event.board) == ("sxid", "0000:c1:00.0")
    assert (event.fault.severity.value, event.fault.action.value) == (severity, action)


@pytest.mark.parametrize(
    "line",
    [
        "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20034, Severity 1 Engine instance 30",
        "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): garbled, Fatal",
        "NVRM: Xid (PCI:0000:3b:00): none",
        "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  580.65.06",
        "my-usb 1-1: the stick has fallen off the bus",
        "NVRM: GPU at PCI:0000:3b:00: GPU-5d1f7c57",
    ],
)
def test_other_lines_are_no_faults(line: str) -> None:
    assert read_fault_events([line], TABLE) == ()


@pytest.mark.parametrize(
    ("family", "code", "action"),
    [
        ("cuda", 35, "driver"),
        ("cuda", "no kernel image", "driver"),
        ("cuda", 802, "driver"),
        ("nvml", 15, "reboot"),
        ("nvml", "LIB_RM_VERSION_MISMATCH", "driver"),
        ("nvml", 3, "none"),
    ],
)
def test_errors_of_the_libraries(family: str, code: int | str, action: str) -> None:
    fault = TABLE.find(family, code)
    assert fault is not None
    assert fault.action.value == action
