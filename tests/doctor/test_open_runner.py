"""Devices that fail, hang or end the process while they are opened in children."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from accelhal.doctor.imports import OpenJob, OpenReport
from accelhal.doctor.open_runner import open_in_children

TORCH = """
import os, signal, time
from types import SimpleNamespace
toy = SimpleNamespace(empty_cache=lambda: None)
def zeros(count, device):
    index = int(device.partition(":")[2])
    behave(index)
    return SimpleNamespace(item=lambda: 0)
"""

Torch = Callable[[str], None]


@pytest.fixture
def torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Torch:
    """Write a torch that children find before the real one."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(behaviour: str) -> None:
        source = f"{TORCH}\ndef behave(index):\n    {behaviour}\n"
        (tmp_path / "torch.py").write_text(source)

    return write


def opened(count: int, limit_s: float = 60.0) -> OpenReport:
    (report,) = open_in_children([OpenJob("torch", "toy", count)], limit_s=limit_s)
    return report


def test_sound_devices_open(torch: Torch) -> None:
    torch("pass")
    report = opened(3)
    assert (report.opened, report.failed, report.untried) == ((0, 1, 2), {}, 0)


def test_a_device_that_raises_costs_no_other(torch: Torch) -> None:
    torch("if index == 1: raise RuntimeError('507033')")
    report = opened(3)
    assert report.opened == (0, 2)
    assert report.failed == {1: "RuntimeError: 507033"}


def test_a_device_that_kills_the_process_costs_no_other(torch: Torch) -> None:
    torch("if index == 1: os.kill(os.getpid(), signal.SIGSEGV)")
    report = opened(3)
    assert report.opened == (0, 2)
    assert report.failed == {1: "the process ended with SIGSEGV"}


def test_devices_that_hang_end_the_look(torch: Torch) -> None:
    torch("time.sleep(600)")
    report = opened(4, limit_s=1.5)
    assert (report.opened, report.untried) == ((), 2)
    assert report.failed == {0: "no answer within 1.5 s", 1: "no answer within 1.5 s"}


def test_a_package_that_does_not_import(torch: Torch) -> None:
    torch("pass")
    (report,) = open_in_children([OpenJob("no_such_package", "toy", 2)], limit_s=60.0)
    assert "ModuleNotFoundError" in report.failed[0]


def test_a_type_without_devices_starts_no_child() -> None:
    assert open_in_children([OpenJob("torch", "toy", 0)], limit_s=60.0) == ()
