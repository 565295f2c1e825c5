"""Running checks: in causal order, each failure its own, symptoms put down to their cause."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from accelhal.doctor.commands import filled
from accelhal.doctor.facts import Facts
from accelhal.doctor.messages import findings_of_messages
from accelhal.doctor.texts import TEXTS
from accelhal.doctor.unseen import unseen
from accelhal.errors import message_of
from accelhal.facts import Finding, FindingState
from accelhal.spi.doctor import Check, Cost, NotShownError, Text

DEFAULT_SCENE = frozenset({Cost.FILES})
"""What runs without options: nothing that disturbs a job."""

SCENE_OPTIONS: Mapping[Cost, str] = {
    Cost.CHILD: "--deep",
    Cost.BOARD: "--measure",
    Cost.WATCH: "--watch 60",
}
"""The option that lets checks of a cost run."""


@dataclass(frozen=True)
class Report:
    """What a run of the doctor found.

    Attributes:
        checks: the checks that ran, in order.
        findings: theirs, in order.
        duration_ms: wall time of the run.
        texts: words for the codes of the findings.
    """

    checks: tuple[Check, ...]
    findings: tuple[Finding, ...]
    duration_ms: float
    texts: Mapping[str, Text] = field(default_factory=lambda: TEXTS)

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
    scene: Collection[Cost] = DEFAULT_SCENE,
    texts: Mapping[str, Text] = TEXTS,
    on_start: Callable[[Check], None] = lambda check: None,
) -> Report:
    """Run the checks in the order given; one that raises is reported and stops nothing.

    Args:
        checks: lower layers first.
        facts: the host.
        scene: the costs that may be paid; a check of another is skipped.
        texts: words for the codes of these checks.
        on_start: told of each check before it runs.
    """
    began = time.perf_counter()
    causes = _Causes()
    findings: list[Finding] = []
    for check in checks:
        on_start(check)
        found = _run(check, facts, scene)
        findings += [causes.explained(check, finding) for finding in found]
    return Report(tuple(checks), tuple(findings), (time.perf_counter() - began) * 1e3, texts)


def _run(check: Check, facts: Facts, scene: Collection[Cost]) -> list[Finding]:
    if check.cost not in scene:
        return [_of_another_scene(check)]
    found: list[Finding] = []
    try:
        found += check.run(facts)
    except NotShownError as missing:
        found.append(unseen(check.id, missing, facts))
    except Exception as error:
        return [_crashed(check, error)]
    found += findings_of_messages(check.id, facts)
    if not found:
        return [Finding(check.id, "engine.nothing", FindingState.OK)]
    return [_for_its_kernel(finding, facts) for finding in found]


def _for_its_kernel(finding: Finding, facts: Facts) -> Finding:
    """The finding with the running kernel's release in its commands, where {kernel} stands."""
    if not any("{kernel}" in command for command in finding.commands):
        return finding
    release = facts.record.kernel or "$(uname -r)"
    return replace(finding, commands=filled(finding.commands, {"kernel": release}))


def _of_another_scene(check: Check) -> Finding:
    option = SCENE_OPTIONS[check.cost]
    return Finding(
        check.id,
        "engine.needs_option",
        FindingState.SKIP,
        {"option": option},
        commands=(f"accelhal doctor {option} {check.id}",),
    )


def _crashed(check: Check, error: Exception) -> Finding:
    where = traceback.extract_tb(error.__traceback__)[-1]
    return Finding(
        check.id,
        "engine.crashed",
        FindingState.ERROR,
        {"error": type(error).__name__, "message": message_of(error)},
        evidence={"raised at": f"{where.filename}:{where.lineno} in {where.name}"},
        commands=("accelhal env",),
    )


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
