"""The groups of the conformance suite, and what a run of it finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

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

    @property
    def title(self) -> str:
        """Group and name, unique in the suite."""
        return rule_title(self.group, self.rule)


def rule_title(group: str, rule: str) -> str:
    """A rule as it is named to people and between processes."""
    return f"{group}: {rule}"


@dataclass
class ConformanceReport:
    """What a run found.

    Attributes:
        backend: name of the backend.
        versions: of accelhal, torch and Python.
        total: rules that were to be tried.
        results: those that were.
        stopped: why the others were not tried; empty where none is left.
    """

    backend: str
    versions: Mapping[str, str] = field(default_factory=dict)
    total: int = 0
    results: list[RuleResult] = field(default_factory=list)
    stopped: str = ""

    @property
    def complete(self) -> bool:
        """Whether every rule was tried."""
        return len(self.results) == self.total

    @property
    def judged(self) -> int:
        """How many rules applied to the backend."""
        return len(self.results) - len(self.having(Outcome.NOT_APPLICABLE))

    @property
    def passed(self) -> bool:
        """Whether every rule was tried, one at least applied, and none failed."""
        return self.complete and self.judged > 0 and not self.having(Outcome.FAILED)

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
