"""Runs pytest over a backend's suite and writes what comes of each rule to a file descriptor.

Arguments: a folder with the order, the descriptor, and the seconds after which to end in any case.
"""

from __future__ import annotations

import faulthandler
import inspect
import json
import math
import os
import platform
import signal
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from accelhal import __version__, facade
from accelhal.device_name import parse_device_name
from accelhal.errors import AccelhalError, BackendLoadError
from accelhal.registry import open_backend
from accelhal.testing.conformance import Outcome, rule_title
from accelhal.testing.conformance_run import ORDER_FILE
from accelhal.testing.conformance_traces import STACK_FILE

# The suite is imported by pytest only: its assertions are rewritten then.
_PLUGIN = "accelhal.testing.pytest_plugin"
_GRACE_S = 60
_OWN_GROUP = "own"
"""Group of the rules that a plugin's own part of the suite adds."""

_TEST_FILE = """\
from accelhal.device_name import parse_device_name
from accelhal.registry import open_backend
from accelhal.testing.suite import compose

TestBackend = compose(open_backend(parse_device_name({backend!r})).spec, {groups!r})
TestBackend.backend = {backend!r}
"""


class Reporter:
    """A pytest plugin that writes one JSON line for each thing that happens."""

    def __init__(self, descriptor: int, backend: str, tried: Collection[str]) -> None:
        self._descriptor = descriptor
        self._backend = backend
        self._tried = tried
        self._described: dict[str, dict[str, str]] = {}
        self._ended: dict[str, tuple[Outcome, str]] = {}

    def write(self, event: str, **fields: Any) -> None:
        """Write one line."""
        os.write(self._descriptor, (json.dumps({"event": event, **fields}) + "\n").encode())

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Tell that the rules cannot be collected: the plugin's part of the suite is broken."""
        if report.failed:
            lines = (line.removeprefix("E").strip() for line in str(report.longrepr).splitlines())
            last = [line for line in lines if line and not line.startswith("next: ")][-1]
            self.write(
                "refused",
                message=f"the rules for {self._backend} cannot be collected: {last}",
                hint='report this to the plugin\'s author: its extension "conformance" is broken',
            )

    def pytest_collection_modifyitems(
        self, session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Tell how many rules there are, and leave out those that were tried before."""
        import torch

        from accelhal.testing.suite import group_of

        for item in items:
            assert isinstance(item, pytest.Function), "the test file holds one class"
            self._described[item.nodeid] = {
                "group": group_of(item.originalname) or _OWN_GROUP,
                "rule": item.name.removeprefix("test_"),
                "statement": (inspect.getdoc(item.function) or "").partition("\n")[0],
            }
        items[:] = [item for item in items if self._title(item.nodeid) not in self._tried]
        versions = {
            "accelhal": __version__,
            "torch": str(torch.__version__),
            "python": platform.python_version(),
        }
        self.write("collected", total=len(self._described), versions=versions)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Tell which rule comes next: the one to blame where the process ends."""
        self.write("started", **self._described[nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what came of a rule; a failure in any phase stands."""
        known = self._ended.get(report.nodeid)
        if known is None or report.failed or (known[0] is Outcome.PASSED and report.skipped):
            self._ended[report.nodeid] = _judge(report)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Tell what came of the rule."""
        outcome, message = self._ended[nodeid]
        self.write("ended", **self._described[nodeid], outcome=outcome.value, message=message)

    def _title(self, nodeid: str) -> str:
        described = self._described[nodeid]
        return rule_title(described["group"], described["rule"])


def _judge(report: pytest.TestReport) -> tuple[Outcome, str]:
    if report.passed:
        return Outcome.PASSED, ""
    if report.skipped:
        expected = getattr(report, "wasxfail", None)
        if expected is not None:
            return Outcome.EXPECTED_FAILURE, expected.removeprefix("reason: ")
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        return Outcome.NOT_APPLICABLE, reason.removeprefix("Skipped: ")
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else str(report.longrepr)
    if text.startswith("[XPASS(strict)]"):
        reason = text.removeprefix("[XPASS(strict)]").strip()
        return Outcome.FAILED, f"it holds, although it was expected to fail: {reason}"
    return Outcome.FAILED, text.removeprefix("AssertionError: ").removeprefix("Failed: ")


def main() -> int:
    """Run the suite; the status is pytest's."""
    folder, descriptor, limit_s = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    os.set_inheritable(descriptor, False)
    signal.alarm(math.ceil(limit_s) + _GRACE_S)  # ends this process should its parent be gone
    # Not closed: it is written to when the process crashes.
    trace = (folder / STACK_FILE).open("w")
    faulthandler.enable(trace, all_threads=False)
    faulthandler.register(signal.SIGUSR1, trace, all_threads=False)
    order = json.loads((folder / ORDER_FILE).read_text())
    backend = order["backend"]
    reporter = Reporter(descriptor, backend, frozenset(order["tried"]))
    try:
        if not facade.devices(backend):
            raise BackendLoadError(f"{backend} opens, but counts no device", backend=backend)
        open_backend(parse_device_name(backend))
    except AccelhalError as error:
        reporter.write("refused", message=error.message, hint=error.hint)
        return 1
    reporter.write("opened")
    test_file = folder / "test_backend.py"
    test_file.write_text(_TEST_FILE.format(backend=backend, groups=tuple(order["groups"])))
    (folder / "pytest.ini").write_text("[pytest]\n")
    options = ["-p", _PLUGIN, "-p", "no:cacheprovider", "-p", "no:faulthandler", "--tb=short", "-q"]
    status = pytest.main([*options, "--rootdir", str(folder), str(test_file)], plugins=[reporter])
    reporter.write("finished")
    return int(status)
