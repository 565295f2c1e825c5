"""Running the conformance suite of a backend in child processes, each wait with its limit.

Neither torch nor pytest is imported here: both are the children's.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from accelhal.errors import AccelhalError, BackendLoadError
from accelhal.testing.child_process import python_command
from accelhal.testing.conformance import ConformanceReport, Outcome, RuleResult, rule_title
from accelhal.testing.conformance_traces import OUTPUT_FILE, ask_for_stack, last_output, stack

ORDER_FILE = "order.json"
"""What a child is to do, in the folder that it is given."""

PROCESSES = 4
"""How often a run goes on in a new process after a rule that ended or hung the last one."""

_CHILD = "accelhal.testing.conformance_child"
_END_LIMIT_S = 10.0

# Options and plugins of pytest's own variables change what a rule means; -O leaves assertions out.
_DROPPED_VARIABLES = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTHONOPTIMIZE")


@dataclass(frozen=True)
class Limits:
    """How long a run waits, in seconds.

    Attributes:
        opening_s: for the backend to open and its rules to be collected. Importing torch and a
            vendor's package from a cold network file system takes tens of seconds.
        rule_s: for one rule; above the 120 s that the suite gives each child process of a rule.
        run_s: for all of it; the built-in backends take one to three minutes on two cores.
    """

    opening_s: float = 120.0
    rule_s: float = 300.0
    run_s: float = 1800.0


Progress = Callable[[ConformanceReport, str], None]
"""Called with the report so far and the rule that is tried next."""


def run(
    backend: str,
    groups: Sequence[str] = (),
    *,
    limits: Limits | None = None,
    environ: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> ConformanceReport:
    """Try the rules of the groups (all when none is named) on a backend.

    A rule that hangs or ends the process counts as failed, and a new process goes on after it.
    What is not tried after PROCESSES of them, or when the time is over, is left out of the
    results, and `stopped` says why.

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
    limits = limits or Limits()
    end = time.monotonic() + limits.run_s
    with tempfile.TemporaryDirectory(prefix="accelhal-conformance-") as folder:
        for number in range(PROCESSES):
            own_folder = Path(folder) / str(number)
            own_folder.mkdir()
            child = _Child(report, groups, own_folder, limits, end, environ or {})
            child.try_rules(progress)
            if report.complete or report.stopped:
                break
        else:
            report.stopped = f"{PROCESSES} rules hung or ended their process"
    if report.complete:
        report.stopped = ""
    return report


class _Child:
    """One process over the rules that are left, in a session of its own."""

    def __init__(
        self,
        report: ConformanceReport,
        groups: Sequence[str],
        folder: Path,
        limits: Limits,
        end: float,
        environ: Mapping[str, str],
    ) -> None:
        self._report = report
        self._folder = folder
        self._limits = limits
        self._end = end
        self._step = f"opening {report.backend}"
        self._rule: dict[str, str] | None = None
        self._ready = self._finished = False
        order = {
            "backend": report.backend,
            "groups": list(groups),
            "tried": [result.title for result in report.results],
        }
        (folder / ORDER_FILE).write_text(json.dumps(order))
        self._read, write = os.pipe()
        try:
            with (folder / OUTPUT_FILE).open("wb") as output:
                self._process = subprocess.Popen(
                    [*python_command(_CHILD), str(folder), str(write), str(limits.run_s)],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=_environment(environ),
                    pass_fds=(write,),
                    start_new_session=True,  # the suite's own children are ended with it
                )
        finally:
            os.close(write)
        self._wait(limits.opening_s)

    def try_rules(self, progress: Progress | None) -> None:
        """Enter what the child tells, and what becomes of the rule that it does not get over."""
        try:
            for message in self._messages():
                self._take(message)
                if progress is not None:
                    rule = self._rule
                    progress(self._report, rule_title(rule["group"], rule["rule"]) if rule else "")
            if self._finished:
                with contextlib.suppress(subprocess.TimeoutExpired):  # vendors clean up at exit
                    self._process.wait(_END_LIMIT_S)
                if self._rule is not None:  # it called pytest.exit()
                    self._fail_rule(f"it ended pytest{last_output(self._folder)}")
                elif not self._report.complete and not self._report.stopped:
                    self._report.stopped = f"pytest ended early{last_output(self._folder)}"
            else:
                self._enter_ending()
        finally:
            os.close(self._read)
            self._kill()

    def _wait(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._deadline = min(self._end, time.monotonic() + limit_s)

    def _messages(self) -> Iterator[dict[str, Any]]:
        """The child's JSON lines, until it finishes, closes the pipe, or the wait is over."""
        pending = b""
        with selectors.DefaultSelector() as selector:
            selector.register(self._read, selectors.EVENT_READ)
            while (left := self._deadline - time.monotonic()) > 0 and selector.select(left):
                part = os.read(self._read, 65536)
                if not part:
                    return
                *lines, pending = (pending + part).split(b"\n")
                yield from map(json.loads, lines)
                if self._finished:
                    return

    def _take(self, message: dict[str, Any]) -> None:
        """Enter one of the child's messages."""
        kind = message.pop("event")
        if kind == "refused":
            self._refuse(message["message"], message["hint"], BackendLoadError)
            self._finished = True
        elif kind == "opened":
            self._step = f"collecting the rules for {self._report.backend}"
        elif kind == "collected":
            self._ready = True
            self._report.total, self._report.versions = message["total"], message["versions"]
            self._wait(self._limits.rule_s)
        elif kind == "started":
            self._rule = message
            self._wait(self._limits.rule_s)
        elif kind == "ended":
            outcome = Outcome(message.pop("outcome"))
            self._report.results.append(RuleResult(outcome=outcome, **message))
            self._rule = None
            self._wait(self._limits.rule_s)
        elif kind == "finished":
            self._finished = True

    def _refuse(
        self, text: str, hint: str | None, kind: type[AccelhalError] = AccelhalError
    ) -> None:
        """The rules cannot begin: no report at first, an incomplete one in a later process."""
        if not self._report.results:
            raise kind(
                text, backend=self._report.backend, operation="conformance", hint=hint
            ) from None
        self._report.stopped = text

    def _enter_ending(self) -> None:
        """What a child that did not finish leaves: a failed rule, or an error."""
        over = time.monotonic() >= self._deadline
        out_of_time = time.monotonic() >= self._end
        limit_s, option = self._limit_s, "--rule-timeout" if self._ready else "--open-timeout"
        if out_of_time:
            limit_s, option = self._limits.run_s, "--timeout"
            self._report.stopped = f"the {limit_s:g} s of the run were over ({option})"
        how = f"did not end within {limit_s:g} s ({option})" if over else ""
        if over:
            ask_for_stack(self._process.pid, self._folder)
        else:
            how = self._status()
        where = stack(self._folder)
        if self._rule is not None:
            found = f"it {how}" if over else how
            if out_of_time:
                found = f"it was running when {self._report.stopped}"
            self._fail_rule(found + where)
        elif self._ready:
            self._report.stopped = self._report.stopped or f"between two rules, {how}"
        elif over:
            self._refuse(
                f"{self._step} {how.partition(' (')[0]}{where}",
                "its plugin, vendor's package or driver hangs: `accelhal doctor --deep` looks "
                f"into it; where it is only slow, raise {option}",
            )
        else:
            self._refuse(
                f"{self._step} did not succeed: {how}{where or last_output(self._folder)}",
                "`accelhal doctor --deep` looks into it, or report this to the plugin's author",
            )

    def _fail_rule(self, found: str) -> None:
        assert self._rule is not None, "a rule is running"
        failed = RuleResult(**self._rule, outcome=Outcome.FAILED, message=found)
        self._report.results.append(failed)

    def _status(self) -> str:
        """How the child ended, in words."""
        try:
            status = self._process.wait(_END_LIMIT_S)  # it closes its pipe just before it ends
        except subprocess.TimeoutExpired:
            return "the process closed the pipe to accelhal"
        if status < 0:
            return f"the process was ended by {_signal_name(-status)}"
        return f"the process ended with status {status}"

    def _kill(self) -> None:
        """End the child and all that it started."""
        with contextlib.suppress(ProcessLookupError):  # all of them have ended
            os.killpg(self._process.pid, signal.SIGKILL)
        # One that is stuck in a driver's call does not even end then.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_LIMIT_S)


def _environment(added: Mapping[str, str]) -> dict[str, str]:
    kept = {n: value for n, value in os.environ.items() if n not in _DROPPED_VARIABLES}
    # The second is for interpreters that multiprocessing starts; Python 3.10 does not know it.
    fixed = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONSAFEPATH": "1"}
    return {**kept, **fixed, **added}


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal has a number only
        return f"signal {number}"
