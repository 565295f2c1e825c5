"""Every rule can fail: backends with one rule broken each, found out at that rule and nowhere else.

The suites run in child processes, for the simulated boards are the process's.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.etree import ElementTree

import pytest
from testing.conformance.broken import (
    events,
    execution,
    facts,
    indices,
    masks,
    memory_figures,
    quantities,
    repetition,
)
from testing.conformance.broken.backend import BROKEN

from accelhal.testing.suite import GROUPS, group_of

assert events
assert execution
assert facts
assert indices
assert masks
assert memory_figures
assert quantities
assert repetition

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

TESTS = Path(__file__).parents[2]
COLLECTED = Path(__file__).parent / "broken" / "collected.py"

PROCESSES = 2
LIMIT_S = 860

Found = Mapping[str, Mapping[str, str]]
"""Broken backend -> rule that failed -> what it said."""


@pytest.fixture(scope="session")
def found(tmp_path_factory: pytest.TempPathFactory) -> Found:
    folder = tmp_path_factory.mktemp("broken")
    names = list(BROKEN)
    parts = [names[start::PROCESSES] for start in range(PROCESSES)]
    with ThreadPoolExecutor(PROCESSES) as pool:
        reports = pool.map(run_suites, parts, [folder / f"{n}.xml" for n in range(PROCESSES)])
    failures: dict[str, dict[str, str]] = {name: {} for name in BROKEN}
    for report in reports:
        for case in ElementTree.parse(report).iter("testcase"):
            broken = case.attrib["classname"].rpartition(".Test")[2]
            for outcome in (*case.iter("failure"), *case.iter("error")):
                failures[broken][case.attrib["name"].removeprefix("test_")] = outcome.text or ""
    return failures


def run_suites(names: list[str], report: Path) -> Path:
    environ = {name: value for name, value in os.environ.items() if "ACCELHAL" not in name}
    ended = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", str(COLLECTED), "-q", "--tb=short"),
            *("-c", os.devnull, "--rootdir", str(TESTS), "-p", "accelhal.testing.pytest_plugin"),
            *("-p", "no:cacheprovider", "-p", "no:logging", "--capture=no"),
            *("--import-mode=importlib", f"--junitxml={report}"),
        ],
        env={
            **environ,
            "BROKEN_BACKENDS": ",".join(names),
            "PYTHONPATH": os.pathsep.join([str(TESTS), *filter(None, sys.path)]),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "OMP_NUM_THREADS": "1",  # the processes run side by side, and their matrices are small
        },
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert ended.returncode == pytest.ExitCode.TESTS_FAILED, ended.stdout[-3000:] + ended.stderr
    return report


@pytest.mark.parametrize("name", BROKEN)
def test_broken_backend_fails_at_the_intended_rule(name: str, found: Found) -> None:
    missed = BROKEN[name].fails - found[name].keys()
    assert not missed, f"{BROKEN[name].__doc__} Not found by {missed}, but by {list(found[name])}"
    for rule in BROKEN[name].fails:
        text = found[name][rule]
        assert "AssertionError: " in text or "Failed: " in text, f"{rule} crashed: {text}"


@pytest.mark.parametrize("name", BROKEN)
def test_other_groups_stay_green(name: str, found: Found) -> None:
    broken = BROKEN[name]
    intended = {_group(rule) for rule in broken.fails} | broken.also
    beside = {rule: text for rule, text in found[name].items() if _group(rule) not in intended}
    assert not beside, f"{broken.__doc__} {beside}"


def test_every_group_has_a_broken_backend() -> None:
    shown = {_group(rule) for broken in BROKEN.values() for rule in broken.fails}
    assert shown == set(GROUPS)


def _group(rule: str) -> str | None:
    return group_of("test_" + rule.partition("[")[0])
