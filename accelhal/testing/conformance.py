"""Running the conformance suite of a backend in a child process, and collecting what it finds.

Neither torch nor pytest is imported here: both are the child's.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from accelhal.errors import AccelhalError, BackendLoadError

GROUPS: Mapping[str, str] = {
    "loading": "the spec and its probe are light, and what is broken costs only itself",
    "signatures": "methods have the interface's signatures and return its types",
    "capabilities": "what is declared works, and what works is declared",
    "identity": "which devices there are, and which board is under each",
    "visible_devices": "the variable hides and orders devices as the spec describes it",
    "current_device": "the current device belongs to a thread, and is left as it was found",
    "streams": "a stream keeps its order, and waits between streams order them",
    "events": "events are done when their work is, and measure it in milliseconds",
    "memory": "memory figures follow what the process holds, and looking changes nothing",
    "out_of_memory": "exhausted memory is one known error, and the device goes on",
    "random_numbers": "each device has a generator of its own",
    "dtypes": "element types that are listed work, and the others fail without harm",
    "graphs": "a graph does its work again, on the memory it was captured with",
    "processes": "forked, spawned and unpickled, a device stays the same",
    "health": "health is never better than what can be seen; sensors are in their units",
    "distributed": "torch.distributed knows the collective library, and it sums",
}
"""The groups of the suite, and what each is about, in the order of the table."""

TIME_LIMIT_S = 1800.0
"""Default limit of a run; the built-in backends take one to three minutes on two cores."""

_CHILD = "accelhal.testing.conformance_child"
_END_LIMIT_S = 10.0
_LOG_LINES = 12


class Outcome(str, Enum):
    """What came of a rule."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_APPLICABLE = "not_applicable"
    EXPECTED_FAILURE = "expected_failure"


@dataclass(frozen=True)
class RuleResult:
    """One rule, tried on one backend.

    Attributes:
        group: the group it belongs to.
        rule: name of its test, with parameters in brackets.
        statement: the rule in one sentence.
        outcome: what came of it.
        message: why it failed, is not applicable or was expected to fail; empty where it passed.
    """

    group: str
    rule: str
    statement: str
    outcome: Outcome
    message: str = ""


@dataclass
class ConformanceReport:
    """What a run found.

    Attributes:
        backend: name of the backend.
        versions: of accelhal, torch and Python.
        total: rules that were to be tried.
        results: those that were.
    """

    backend: str
    versions: Mapping[str, str] = field(default_factory=dict)
    total: int = 0
    results: list[RuleResult] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether every rule was tried."""
        return len(self.results) == self.total

    @property
    def passed(self) -> bool:
        """Whether every rule was tried and none failed."""
        return self.complete and not self.having(Outcome.FAILED)

    def having(self, outcome: Outcome) -> list[RuleResult]:
        """The rules of which that came."""
        return [result for result in self.results if result.outcome is outcome]

    def groups(self) -> dict[str, Counter[Outcome]]:
        """Group -> how many of its rules came to what, in the order of the run."""
        counts: dict[str, Counter[Outcome]] = {}
        for result in self.results:
            counts.setdefault(result.group, Counter())[result.outcome] += 1
        return counts

    def reasons(self, group: str) -> dict[str, int]:
        """Why rules of the group are not applicable or fail as expected -> how many."""
        quiet = (Outcome.NOT_APPLICABLE, Outcome.EXPECTED_FAILURE)
        return dict(
            Counter(r.message for r in self.results if r.group == group and r.outcome in quiet)
        )


Progress = Callable[[ConformanceReport, str], None]
"""Called with the report so far and the rule that is tried next."""


def run(
    backend: str,
    groups: Sequence[str] = (),
    *,
    limit_s: float = TIME_LIMIT_S,
    environ: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> ConformanceReport:
    """Try the rules of the groups (all when none is named) on a backend.

    A rule during which the child process ends, or the time runs out, counts as failed, and the
    rules after it as not tried.

    Raises:
        AccelhalError: pytest is not installed, or the child did not come to the first rule.
        BackendLoadError: the backend does not open.
    """
    if importlib.util.find_spec("pytest") is None:
        raise AccelhalError(
            "the conformance suite needs pytest, which is not installed",
            operation="conformance",
            hint="pip install 'accelhal[test]'",
        )
    report = ConformanceReport(backend)
    deadline = time.monotonic() + limit_s
    read, write = os.pipe()
    with tempfile.TemporaryFile("w+", errors="backslashreplace") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", _CHILD, str(write), backend, *groups],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environ or {})},
            pass_fds=(write,),
            start_new_session=True,  # the suite's own children are ended with it
        )
        os.close(write)
        running = ""
        try:
            for message in _messages(read, deadline):
                running = _take(report, message, running)
                if progress is not None:
                    progress(report, running)
            ending = _ending(process, deadline, limit_s)
        finally:
            os.close(read)
            _end(process)
        if running:
            group, _, rule = running.partition(": ")
            report.results.append(RuleResult(group, rule, "", Outcome.FAILED, ending))
        elif report.total == 0:
            log.seek(0)
            last = "".join(log.readlines()[-_LOG_LINES:]).strip()
            raise AccelhalError(
                f"the suite did not start: {ending}\n{last}", operation="conformance"
            )
    return report


def _messages(read: int, deadline: float) -> Iterator[dict[str, Any]]:
    """The child's JSON lines, until it closes the pipe or the time runs out."""
    pending = b""
    with selectors.DefaultSelector() as selector:
        selector.register(read, selectors.EVENT_READ)
        while (left := deadline - time.monotonic()) > 0 and selector.select(left):
            part = os.read(read, 65536)
            if not part:
                return
            *lines, pending = (pending + part).split(b"\n")
            yield from map(json.loads, lines)


def _take(report: ConformanceReport, message: dict[str, Any], running: str) -> str:
    """Enter one of the child's messages; returns the rule that is running."""
    kind = message.pop("event")
    if kind == "refused":
        raise BackendLoadError(
            message["message"], backend=report.backend, operation="open", hint=message["hint"]
        )
    if kind == "collected":
        report.total, report.versions = message["total"], message["versions"]
    elif kind == "started":
        return str(message["rule"])
    elif kind == "ended":
        outcome = Outcome(message.pop("outcome"))
        report.results.append(RuleResult(outcome=outcome, **message))
        return ""
    return running


def _ending(process: subprocess.Popen[bytes], deadline: float, limit_s: float) -> str:
    """How the child ended, in words."""
    try:
        # It closes its pipe just before it ends.
        status = process.wait(max(_END_LIMIT_S, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return f"the run did not end within {limit_s:g} s"
    if status < 0:
        return f"the process was ended by {signal.Signals(-status).name}"
    return f"the process ended with status {status}"


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the child and all that it started."""
    with contextlib.suppress(ProcessLookupError):  # all of them have ended
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(_END_LIMIT_S)
