"""Packages that crash, hang, exit or chatter, each imported in a process of its own."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from accelhal.doctor.import_runner import import_in_children
from accelhal.doctor.imports import ImportJob, ImportOutcome, ImportReport

TORCH = """
from types import SimpleNamespace
__version__ = "2.13.0"
toy = SimpleNamespace(is_available=lambda: True, device_count=lambda: 3)
"""

Package = Callable[[str, str], None]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Package:
    """Write modules that children find first; torch among them, so that no test loads the real."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(name: str, source: str) -> None:
        (tmp_path / f"{name}.py").write_text(source)

    write("torch", TORCH)
    return write


def imported(name: str = "torch_toy", limit_s: float = 60.0) -> ImportReport:
    (report,) = import_in_children([ImportJob(name, ("toy",))], limit_s=limit_s)
    return report


def test_a_sound_package_is_loaded_and_counted(package: Package) -> None:
    package("torch_toy", "__version__ = '1.5'")
    report = imported()
    assert report.outcome is ImportOutcome.LOADED
    assert (report.counts, report.version) == ({"toy": 3}, "1.5")


@pytest.mark.parametrize(
    ("source", "outcome", "detail"),
    [
        ("raise OSError('libtoy.so: not found')", ImportOutcome.RAISED, "OSError: libtoy.so"),
        ("assert False, 'no toys'", ImportOutcome.RAISED, "AssertionError: no toys"),
        ("raise SystemExit(3)", ImportOutcome.RAISED, "SystemExit: 3"),
        (
            "class Mute(Exception):\n    def __str__(self): raise ValueError\nraise Mute",
            ImportOutcome.RAISED,
            "Mute: (no message",
        ),
        ("import toy_driver", ImportOutcome.RAISED, "ModuleNotFoundError"),
        ("def broken(:", ImportOutcome.RAISED, "SyntaxError"),
        ("import os; os._exit(7)", ImportOutcome.EXITED, "exit status 7"),
        ("import ctypes; ctypes.string_at(0)", ImportOutcome.KILLED, "SIGSEGV"),
        ("import os; os.abort()", ImportOutcome.KILLED, "SIGABRT"),
    ],
)
def test_each_kind_of_death_is_told_apart(
    package: Package, source: str, outcome: ImportOutcome, detail: str
) -> None:
    package("torch_toy", source)
    report = imported()
    assert report.outcome is outcome
    assert detail in report.detail
    assert report.step == "import torch_toy"


def test_a_hanging_package_is_ended_at_the_limit(package: Package) -> None:
    package("torch_toy", "import time; time.sleep(600)")
    report = imported(limit_s=2.0)
    assert report.outcome is ImportOutcome.HUNG
    assert "2 s" in report.detail


def test_a_hanging_package_takes_its_own_children_along(package: Package, tmp_path: Path) -> None:
    pid_file = tmp_path / "grandchild"
    package(
        "torch_toy",
        "import subprocess, sys, time, pathlib\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"pathlib.Path({str(pid_file)!r}).write_text(str(child.pid))\n"
        "time.sleep(600)\n",
    )
    imported(limit_s=3.0)
    assert not _runs(int(pid_file.read_text()))


def test_chatter_neither_blocks_nor_confuses(package: Package) -> None:
    package(
        "torch_toy",
        "import os, json\n"
        "print(json.dumps({'error': 'a lie', 'counts': {'toy': 99}}))\n"
        "os.write(1, b'\\xff' * 4_000_000)\n"
        "print('the last word', flush=True)\n",
    )
    report = imported()
    assert report.counts == {"toy": 3}
    assert report.output.endswith("the last word")
    assert len(report.output) < 5000


def test_a_package_that_closes_its_output(package: Package) -> None:
    package("torch_toy", "import os; os.close(1); os.close(2)")
    assert imported().outcome is ImportOutcome.LOADED


def test_a_device_type_that_cannot_be_counted_costs_only_itself(package: Package) -> None:
    package("torch_toy", "")
    (report,) = import_in_children([ImportJob("torch_toy", ("gone", "toy"))], limit_s=60)
    assert report.counts == {"toy": 3}
    assert "AttributeError" in report.count_errors["gone"]


def test_a_torch_without_the_device_type_has_none_of_them(package: Package) -> None:
    package("torch_toy", "")
    (report,) = import_in_children([ImportJob("torch", ("gone", "toy"))], limit_s=60)
    assert report.counts == {"gone": 0, "toy": 3}


def test_reports_come_in_the_order_of_the_jobs(package: Package) -> None:
    names = [f"toy_{number}" for number in range(5)]
    for name in names:
        package(name, "raise OSError" if name == "toy_2" else "")
    started: list[str] = []
    reports = import_in_children(
        [ImportJob(name) for name in names], limit_s=60, on_start=started.append
    )
    assert [report.job.package for report in reports] == names == started
    assert [r.outcome for r in reports].count(ImportOutcome.RAISED) == 1


def test_torch_loads_nothing_by_itself_in_the_children(package: Package) -> None:
    package("torch_toy", "import os; raise OSError(os.environ['TORCH_DEVICE_BACKEND_AUTOLOAD'])")
    assert imported().detail == "OSError: 0"


def test_an_interrupt_ends_the_children(package: Package, tmp_path: Path) -> None:
    pid_file = tmp_path / "child"
    package(
        "torch_toy",
        "import os, pathlib, time\n"
        f"pathlib.Path({str(pid_file)!r}).write_text(str(os.getpid()))\n"
        "time.sleep(600)\n",
    )

    def interrupt() -> None:
        while not (pid_file.exists() and pid_file.read_text()):
            stop.wait(0.05)
            if stop.is_set():
                return
        signal.raise_signal(signal.SIGINT)

    stop = threading.Event()
    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            imported()
    finally:
        stop.set()
        thread.join(10)
    assert not _runs(int(pid_file.read_text()))


def _runs(pid: int) -> bool:
    """Whether the process is still alive a while later: killed ones take a moment."""
    limit = time.monotonic() + 10
    while time.monotonic() < limit:
        try:
            status = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            return False
        if status.rpartition(")")[2].split()[0] == "Z":
            return False
        time.sleep(0.05)
    return True
