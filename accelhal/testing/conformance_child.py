"""Runs pytest over a backend's suite and writes what comes of each rule to a file descriptor.

python -m accelhal.testing.conformance_child DESCRIPTOR BACKEND [GROUP ...]
"""

from __future__ import annotations

import inspect
import json
import os
import platform
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from accelhal import __version__, facade
from accelhal.device_name import parse_device_name
from accelhal.errors import AccelhalError, BackendLoadError
from accelhal.registry import open_backend
from accelhal.testing.conformance import Outcome
from accelhal.testing.suite import group_of

_PLUGIN = "accelhal.testing.pytest_plugin"
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

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._described: dict[str, dict[str, str]] = {}
        self._ended: dict[str, tuple[Outcome, str]] = {}

    def write(self, event: str, **fields: Any) -> None:
        """Write one line."""
        os.write(self._descriptor, (json.dumps({"event": event, **fields}) + "\n").encode())

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Tell how many rules there are, and remember what each says."""
        import torch

        for item in session.items:
            if isinstance(item, pytest.Function):
                statement = (inspect.getdoc(item.function) or "").partition("\n")[0]
                group = group_of(item.originalname) or _OWN_GROUP
                rule = item.name.removeprefix("test_")
                self._described[item.nodeid] = {
                    "group": group,
                    "rule": rule,
                    "statement": statement,
                }
        versions = {
            "accelhal": __version__,
            "torch": str(torch.__version__),
            "python": platform.python_version(),
        }
        self.write("collected", total=len(self._described), versions=versions)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Tell which rule comes next: the one to blame where the process ends."""
        described = self._described[nodeid]
        self.write("started", rule=f"{described['group']}: {described['rule']}")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what came of a rule; a failure in any phase stands."""
        known = self._ended.get(report.nodeid)
        if known is None or report.failed or (known[0] is Outcome.PASSED and report.skipped):
            self._ended[report.nodeid] = _judge(report)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Tell what came of the rule."""
        outcome, message = self._ended[nodeid]
        self.write("ended", **self._described[nodeid], outcome=outcome.value, message=message)


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


def main(arguments: Sequence[str]) -> int:
    """Run the suite; the status is pytest's."""
    descriptor, backend, groups = int(arguments[0]), arguments[1], tuple(arguments[2:])
    os.set_inheritable(descriptor, False)
    reporter = Reporter(descriptor)
    try:
        if not facade.devices(backend):
            raise BackendLoadError(f"{backend} opens, but counts no device", backend=backend)
        open_backend(parse_device_name(backend))
    except AccelhalError as error:
        reporter.write("refused", message=error.message, hint=error.hint)
        return 1
    with tempfile.TemporaryDirectory(prefix="accelhal-conformance-") as folder:
        test_file = Path(folder) / "test_backend.py"
        test_file.write_text(_TEST_FILE.format(backend=backend, groups=groups))
        (Path(folder) / "pytest.ini").write_text("[pytest]\n")
        # No plugin of the environment may change what a rule means.
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        options = ["-p", _PLUGIN, "-p", "no:cacheprovider", "--tb=short", "-q", "--rootdir", folder]
        status = pytest.main([*options, str(test_file)], plugins=[reporter])
        del os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"]
        return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
