"""The engine: every failure its own, and a symptom put down to its cause."""

from __future__ import annotations

from collections.abc import Iterable

from doctor.toys import FakeHost

from accelhal.doctor.engine import Report, run_checks
from accelhal.doctor.facts import Facts
from accelhal.doctor.wording import wording
from accelhal.facts import Finding, FindingState
from accelhal.spi.doctor import Check, Cost


def check(
    name: str, *found: tuple[str | None, FindingState], depends_on: tuple[str, ...] = ()
) -> Check:
    def run(facts: Facts) -> Iterable[Finding]:
        return [Finding(name, "pci.none", state, device=device) for device, state in found]

    return Check(name, "Group", "title", ("nothing",), run, depends_on=depends_on)


def judge(fake: FakeHost, *checks: Check, scene: Iterable[Cost] = (Cost.FILES,)) -> Report:
    return run_checks(checks, fake.facts, scene=set(scene))


def test_a_crashing_check_is_reported_and_stops_nothing(fake: FakeHost) -> None:
    def crash(facts: Facts) -> Iterable[Finding]:
        yield Finding("b", "pci.none", FindingState.OK)
        raise KeyError("lost")

    crashing = Check("b", "Group", "title", (), crash)
    report = judge(
        fake, check("a", (None, FindingState.OK)), crashing, check("c", (None, FindingState.OK))
    )
    assert [f.check for f in report.findings] == ["a", "b", "c"]
    crashed = report.findings[1]
    assert crashed.state is FindingState.ERROR
    assert "KeyError" in wording(crashed).title
    assert report.finished


def test_a_run_in_which_every_check_crashed_did_not_finish(fake: FakeHost) -> None:
    def crash(facts: Facts) -> Iterable[Finding]:
        raise ZeroDivisionError

    assert not judge(fake, Check("a", "Group", "title", (), crash)).finished


def test_facts_are_gathered_once(fake: FakeHost) -> None:
    facts = fake.facts
    assert facts.boards is facts.boards
    fake.toys(1)
    assert facts.boards == ()


def test_a_symptom_is_skipped_because_of_its_cause(fake: FakeHost) -> None:
    report = judge(
        fake,
        check("nodes", ("toy", FindingState.FAIL)),
        check(
            "probe", ("toy", FindingState.FAIL), ("other", FindingState.FAIL), depends_on=("nodes",)
        ),
    )
    skipped, other = report.findings[1:]
    assert skipped.state is FindingState.SKIP
    assert skipped.params["because"] == "nodes"
    assert "nodes" in wording(skipped).title
    assert "toy" in wording(skipped).title
    assert other.state is FindingState.FAIL


def test_causes_reach_through_layers_that_were_skipped(fake: FakeHost) -> None:
    report = judge(
        fake,
        check("low", ("toy", FindingState.FAIL)),
        check("middle", ("toy", FindingState.FAIL), depends_on=("low",)),
        check("high", ("toy", FindingState.WARN), depends_on=("middle",)),
    )
    assert [f.params.get("because") for f in report.findings] == [None, "low", "low"]


def test_a_milder_cause_does_not_hide_a_graver_failure(fake: FakeHost) -> None:
    report = judge(
        fake,
        check("low", ("toy", FindingState.WARN)),
        check("high", ("toy", FindingState.FAIL), depends_on=("low",)),
    )
    assert report.findings[1].state is FindingState.FAIL


def test_a_failure_of_the_whole_host_explains_each_device(fake: FakeHost) -> None:
    report = judge(
        fake,
        check("low", (None, FindingState.FAIL)),
        check("high", ("toy", FindingState.FAIL), depends_on=("low",)),
    )
    assert report.findings[1].state is FindingState.SKIP


def test_what_is_right_stays_right_above_a_failure(fake: FakeHost) -> None:
    report = judge(
        fake,
        check("low", ("toy", FindingState.FAIL)),
        check("high", ("toy", FindingState.OK), depends_on=("low",)),
    )
    assert report.findings[1].state is FindingState.OK


def test_checks_with_child_processes_wait_for_deep(fake: FakeHost) -> None:
    def run(facts: Facts) -> Iterable[Finding]:
        return [Finding("d", "pci.none", FindingState.OK)]

    costly = Check("d", "Group", "title", (), run, Cost.CHILD)
    (skipped,) = judge(fake, costly).findings
    assert skipped.state is FindingState.SKIP
    assert skipped.commands == ("accelhal doctor --deep d",)
    (ran,) = judge(fake, costly, scene=Cost).findings
    assert ran.state is FindingState.OK
