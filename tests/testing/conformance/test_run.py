"""A run of the suite: what plugins add, and what becomes of one that hangs, crashes or lies about.

Every plugin has the cpu's runtime and no graphs, so that its own rules alone are judged.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from accelhal.errors import AccelhalError, BackendLoadError
from accelhal.testing.conformance import Outcome
from accelhal.testing.conformance_run import Limits, run

pytestmark = pytest.mark.slow

PLUGIN = """
import os, sys, time
from dataclasses import replace
from accelhal.runtimes.cpu_spec import SPEC as CPU

SPEC = replace(CPU, name="toy", extensions={"conformance": "accelhal_toy:Own"})

class Own:
"""

OPENING = """
import os, time
from dataclasses import replace
from accelhal.runtimes.cpu_spec import SPEC as CPU

def open_runtime():
    STEP

SPEC = replace(CPU, name="toy", open_runtime=open_runtime)
"""

POINTS = "[accelhal.backends]\ntoy = accelhal_toy:SPEC\n"

Plugin = Callable[[str], None]


@pytest.fixture
def plugin(install_plugin: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Plugin:
    def install(code: str) -> None:
        folder = install_plugin(
            "accelhal-toy", code=code, entry_points=POINTS, module="accelhal_toy"
        )
        path = [str(folder), *filter(None, sys.path)]
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path))

    return install


def test_a_plugin_brings_its_own_part(plugin: Plugin) -> None:
    plugin(
        PLUGIN
        + """
    expected_failures = {"test_one": "cannot be one", "test_zero": "an old belief"}

    def test_one(self, device):
        "The device is number one."
        assert device.index == 1, "it is number zero"

    def test_zero(self, device):
        assert device.index == 0
"""
    )
    tried: list[str] = []
    report = run("toy", ["graphs"], progress=lambda report, rule: tried.append(rule))
    outcomes = {result.rule: result for result in report.results if result.group == "own"}
    assert outcomes["one"].outcome is Outcome.EXPECTED_FAILURE
    assert outcomes["one"].message == "cannot be one"
    assert outcomes["one"].statement == "The device is number one."
    assert outcomes["zero"].outcome is Outcome.FAILED
    assert outcomes["zero"].message == "it holds, although it was expected to fail: an old belief"
    assert "own: one" in tried
    assert (report.complete, report.passed, report.judged) == (True, False, 2)


def test_the_rules_after_one_that_crashes_or_hangs_are_tried(plugin: Plugin) -> None:
    plugin(
        PLUGIN
        + """
    def test_crash(self):
        "The process lives."
        os.abort()

    def test_hang(self):
        time.sleep(600)

    def test_leave(self):
        import pytest
        pytest.exit("enough")

    def test_last(self):
        pass
"""
    )
    report = run("toy", ["graphs"], limits=Limits(rule_s=20))
    found = {result.rule: result for result in report.results if result.group == "own"}
    assert list(found) == ["crash", "hang", "leave", "last"]
    crash, frame = found["crash"].message.splitlines()
    assert crash == "the process was ended by SIGABRT"
    assert frame.endswith("in test_crash")
    assert found["crash"].statement == "The process lives."
    hang, frame = found["hang"].message.splitlines()
    assert hang == "it did not end within 20 s (--rule-timeout)"
    assert frame.endswith("in test_hang")
    assert found["leave"].message.startswith("it ended pytest")
    assert found["last"].outcome is Outcome.PASSED
    assert (report.complete, report.stopped) == (True, "")


def test_the_end_of_the_time_is_no_ones_failure_but_named(plugin: Plugin) -> None:
    plugin(
        PLUGIN
        + """
    def test_hang(self):
        time.sleep(600)

    def test_never(self):
        pass
"""
    )
    report = run("toy", ["graphs"], limits=Limits(run_s=90))
    last = report.results[-1]
    assert last.rule == "hang"
    assert last.message.startswith("it was running when the 90 s of the run were over (--timeout)")
    assert report.stopped == "the 90 s of the run were over (--timeout)"
    assert (report.complete, report.passed) == (False, False)


@pytest.mark.parametrize(
    ("step", "found", "frame"),
    [
        ("time.sleep(600)", "opening toy did not end within 60 s", "in open_runtime"),
        ("os._exit(7)", "opening toy did not succeed: the process ended with status 7", ""),
        ("os.abort()", "opening toy did not succeed: the process was ended by SIGABRT", "in open_"),
    ],
)
def test_a_backend_that_hangs_or_ends_the_process_when_opened(
    plugin: Plugin, step: str, found: str, frame: str
) -> None:
    plugin(OPENING.replace("STEP", step))
    with pytest.raises(AccelhalError) as raised:
        run("toy", ["graphs"], limits=Limits(opening_s=60 if "sleep" in step else 120))
    assert raised.value.message.startswith(found)
    assert frame in raised.value.message
    assert ("--open-timeout" in str(raised.value.hint)) == ("within" in found)


def test_a_backend_that_does_not_open_is_refused_with_its_reason(plugin: Plugin) -> None:
    plugin(OPENING.replace("STEP", "raise SystemExit('libtoy.so')"))
    with pytest.raises(BackendLoadError, match=r"toy: opening failed with SystemExit: libtoy\.so"):
        run("toy")


def test_a_broken_extension_is_said(plugin: Plugin) -> None:
    plugin(PLUGIN.replace("accelhal_toy:Own", "nothing.here:Own") + "    pass")
    found = "cannot be collected: .*extension 'conformance' raised ModuleNotFoundError: No module"
    with pytest.raises(AccelhalError, match=found):
        run("toy", ["graphs"])


def test_the_installed_plugin_is_tested_under_the_users_settings(
    plugin: Plugin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither what lies in the current folder nor pytest's variables change what is tested."""
    plugin(PLUGIN + "\n    def test_false(self):\n        assert CPU.name == 'toy', 'it is not'\n")
    (tmp_path / "accelhal_toy.py").write_text("raise OSError('not the installed one')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    monkeypatch.setenv("PYTEST_ADDOPTS", "-k nothing")
    monkeypatch.setenv("PYTHONOPTIMIZE", "1")
    report = run("toy", ["processes"])
    assert [result.rule for result in report.having(Outcome.FAILED)] == ["false"]
    assert report.having(Outcome.PASSED)
    assert report.complete
