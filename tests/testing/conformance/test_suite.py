"""The suite as a plugin author meets it: groups, names, expected failures."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
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


class Lenient:
    """A plugin's part of the suite that says of a rule that it holds."""

    def test_state_round_trips(self) -> None:
        """Nothing is looked at."""


class Adapted(BackendSuite):
    """One that starts from the suite, and adds a rule of its own."""

    def test_the_beads_are_counted(self) -> None:
        """Every bead is counted."""


def test_a_plugin_s_part_replaces_no_rule() -> None:
    location = f"{__name__}:"
    lenient = replace(CPU, extensions={"conformance": f"{location}Lenient"})
    with pytest.raises(TypeError, match="Lenient replaces test_state_round_trips"):
        compose(lenient)
    suite = compose(replace(CPU, extensions={"conformance": f"{location}Adapted"}))
    assert hasattr(suite, "test_the_beads_are_counted")


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
