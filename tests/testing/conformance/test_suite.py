"""The suite as a plugin author meets it: groups, names, expected failures, what plugins add."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from accelhal.runtimes.cpu_spec import SPEC as CPU
from accelhal.testing import conformance
from accelhal.testing.suite import GROUPS, BackendSuite, compose, group_of

RULES = [
    (name, rule)
    for group in GROUPS.values()
    for name, rule in vars(group).items()
    if name.startswith("test_")
]


def test_groups_are_those_that_are_described() -> None:
    assert list(GROUPS) == list(conformance.GROUPS)
    assert [group.__module__.rpartition(".")[2] for group in GROUPS.values()] == list(GROUPS)


def test_no_rule_hides_another_one() -> None:
    twice = [name for name, count in Counter(name for name, _ in RULES).items() if count > 1]
    assert not twice
    assert all(hasattr(BackendSuite, name) for name, _ in RULES)


def test_every_rule_is_said_in_one_sentence() -> None:
    for name, rule in RULES:
        statement = inspect.getdoc(rule) or ""
        assert statement.endswith("."), name
        assert "\n" not in statement, name


def test_chosen_groups_alone_are_composed() -> None:
    suite = compose(CPU, ("events", "dtypes"))
    assert suite.backend == "cpu"
    assert {group_of(name) for name in dir(suite) if name.startswith("test_")} == {
        "events",
        "dtypes",
    }


def test_expected_failures_must_be_rules_and_have_reasons() -> None:
    with pytest.raises(TypeError, match="there is no rule 'test_nothing'"):
        type("Misspelt", (BackendSuite,), {"expected_failures": {"test_nothing": "why"}})
    with pytest.raises(TypeError, match="has no reason"):
        type("Silent", (BackendSuite,), {"expected_failures": {"test_probe_is_sound": ""}})


SUITE = """
from accelhal.testing.suite import BackendSuite

class TestMine(BackendSuite):
    backend = "cpu"
    expected_failures = {
        "test_round_numbers": "nobody is perfect",
        "test_elapsed_time_of_work_is_positive": "an old belief",
    }

    def test_round_numbers(self, device):
        assert device.index == 17, "not seventeen"
"""


def test_expected_failures_are_strict(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(SUITE)
    rules = "round_numbers or elapsed_time_of_work_is_positive"
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rxf", "-p", "no:cacheprovider", "-k", rules],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if "ACCELHAL" not in name},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "1 failed" in ended.stdout
    assert "1 xfailed" in ended.stdout
    assert "nobody is perfect" in ended.stdout
    assert "[XPASS(strict)] an old belief" in ended.stdout


PLUGIN = """
from dataclasses import replace
from accelhal.runtimes.cpu_spec import SPEC as CPU

class Own:
    expected_failures = {
        "test_one": "cannot be one",
        "test_elapsed_time_of_work_is_positive": "an old belief",
    }

    def test_one(self, device):
        "The device is number one."
        assert device.index == 1, "it is number zero"

    def test_crash(self):
        "The process lives."
        import os
        os.abort()

    def test_never(self):
        "This rule is never tried."

SPEC = replace(CPU, name="toy", extensions={"conformance": "accelhal_toy:Own"})
"""

POINTS = "[accelhal.backends]\ntoy = accelhal_toy:SPEC\n"


@pytest.fixture
def toy(install_plugin, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = install_plugin("accelhal-toy", code=PLUGIN, entry_points=POINTS, module="accelhal_toy")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), *filter(None, sys.path)]))


def test_a_plugin_brings_its_own_part_and_a_crash_is_a_failure(toy: None) -> None:
    progress: list[str] = []
    report = conformance.run(
        "toy", ["events"], limit_s=240, progress=lambda report, rule: progress.append(rule)
    )
    outcomes = {result.rule: result for result in report.results}
    assert outcomes["one"].outcome is conformance.Outcome.EXPECTED_FAILURE
    assert outcomes["one"].message == "cannot be one"
    assert outcomes["one"].statement == "The device is number one."
    believed = outcomes["elapsed_time_of_work_is_positive"]
    assert believed.outcome is conformance.Outcome.FAILED
    assert believed.message == "it holds, although it was expected to fail: an old belief"
    crashed = outcomes["crash"]
    assert crashed.outcome is conformance.Outcome.FAILED
    assert crashed.message == "the process was ended by SIGABRT"
    assert (report.complete, report.passed) == (False, False)
    assert "never" not in outcomes
    assert "own: crash" in progress


def test_a_rule_that_does_not_end_is_named(toy: None, tmp_path: Path) -> None:
    (tmp_path / "site-accelhal-toy" / "accelhal_toy.py").write_text(
        PLUGIN.replace("os.abort()", "import time; time.sleep(600)")
    )
    report = conformance.run("toy", ["distributed"], limit_s=60)
    last = report.results[-1]
    assert (last.rule, last.message) == ("crash", "the run did not end within 60 s")
