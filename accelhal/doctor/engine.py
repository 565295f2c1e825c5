"""Running checks: in causal order, each failure its own, symptoms put down to their cause."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from accelhal.doctor.facts import Facts
from accelhal.errors import message_of
from accelhal.facts import Finding, FindingState


class Cost(str, Enum):
    """What a check takes, and so when it runs."""

    FILES = "files"  # reads files and the environment; always runs
    CHILD = "child"  # starts child processes; runs under --deep


@dataclass(frozen=True)
class Check:
    """One question asked of the host.

    Attributes:
        id: "group.word", stable for ever: it stands in scripts.
        group: the heading it is shown under.
        title: what it looks at, in one line.
        reads: where it looks.
        run: the question itself. A finding's `device` names the backend it is about; None means
            the whole host.
        cost: what it takes.
        depends_on: checks of lower layers, whose failure explains a failure of this one.
    """

    id: str
    group: str
    title: str
    reads: tuple[str, ...]
    run: Callable[[Facts], Iterable[Finding]]
    cost: Cost = Cost.FILES
    depends_on: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    """What a run of the doctor found.

    Attributes:
        checks: the checks that ran, in order.
        findings: theirs, in order.
        duration_ms: wall time of the run.
    """

    checks: tuple[Check, ...]
    findings: tuple[Finding, ...]
    duration_ms: float

    def count(self, state: FindingState) -> int:
        """Findings in that state."""
        return sum(finding.state is state for finding in self.findings)

    @property
    def finished(self) -> bool:
        """Whether any check came to its end."""
        crashed = {f.check for f in self.findings if f.state is FindingState.ERROR}
        return any(check.id not in crashed for check in self.checks)


def run_checks(
    checks: Sequence[Check],
    facts: Facts,
    *,
    deep: bool = False,
    on_start: Callable[[Check], None] = lambda check: None,
) -> Report:
    """Run the checks in the order given; one that raises is reported and stops nothing.

    Args:
        checks: lower layers first.
        facts: the host.
        deep: run checks that start child processes too; without it they are skipped.
        on_start: told of each check before it runs.
    """
    began = time.perf_counter()
    causes = _Causes()
    findings: list[Finding] = []
    for check in checks:
        on_start(check)
        found = _run(check, facts, deep)
        findings += [causes.explained(check, finding) for finding in found]
    return Report(tuple(checks), tuple(findings), (time.perf_counter() - began) * 1e3)


def _run(check: Check, facts: Facts, deep: bool) -> list[Finding]:
    if check.cost is Cost.CHILD and not deep:
        command = f"accelhal doctor --deep {check.id}"
        return [Finding(check.id, "engine.needs_deep", FindingState.SKIP, commands=(command,))]
    try:
        return list(check.run(facts))
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return [
            Finding(
                check.id,
                "engine.crashed",
                FindingState.ERROR,
                {"error": type(error).__name__, "message": message_of(error)},
                evidence={"raised at": f"{where.filename}:{where.lineno} in {where.name}"},
                commands=("accelhal env",),
            )
        ]


_GRAVITY = {FindingState.WARN: 1, FindingState.FAIL: 2}


@dataclass
class _Causes:
    """What went wrong so far: (check, device) -> (gravity, the lowest check that explains it)."""

    known: dict[tuple[str, str | None], tuple[int, str]] = field(default_factory=dict)

    def explained(self, check: Check, finding: Finding) -> Finding:
        """The finding, or a skip in its place where a lower layer failed as badly or worse."""
        gravity = _GRAVITY.get(finding.state, 0)
        if not gravity:
            return finding
        cause = self._cause(check, finding.device, gravity)
        key = (check.id, finding.device)
        before = self.known.get(key, (0, ""))
        self.known[key] = max(before, (gravity, cause or check.id), key=lambda known: known[0])
        if cause is None:
            return finding
        return replace(
            finding,
            code="engine.because",
            state=FindingState.SKIP,
            params={"because": cause, "symptom": finding.code, **finding.params},
            commands=(),
        )

    def _cause(self, check: Check, device: str | None, gravity: int) -> str | None:
        for lower in check.depends_on:
            for subject in {device, None}:
                known = self.known.get((lower, subject))
                if known is not None and known[0] >= gravity:
                    return known[1]
        return None
