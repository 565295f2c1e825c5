"""What the deep check makes of the reports of its children."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from doctor.toys import FakeHost, answering, toy_spec

from accelhal.doctor.catalogue import catalogue
from accelhal.doctor.engine import run_checks
from accelhal.doctor.facts import Facts
from accelhal.doctor.imports import ImportJob, ImportOutcome, ImportReport
from accelhal.doctor.wording import wording
from accelhal.facts import Finding, FindingState, Probe, ProbeStatus
from accelhal.host import Host
from accelhal.spi import BackendSpec
from accelhal.spi.doctor import Cost

Install = Callable[[BackendSpec], None]
TOY = ImportJob("torch_toy", ("toy",))


def judge(
    fake: FakeHost, report: ImportReport, checks: tuple[str, ...] = ("framework.sees",)
) -> list[Finding]:
    fake.package("torch", "2.13.0")
    facts = fake.facts
    facts.__dict__["imports"] = (report,)  # what the children would have answered
    found = run_checks(catalogue().select(checks), facts, scene=set(Cost)).findings
    assert all(wording(finding) for finding in found)
    return [f for f in found if f.check == "framework.sees" and f.code != "sees.loaded"]


@pytest.mark.parametrize(
    ("expected", "count", "boards", "code", "state"),
    [
        (2, 2, 2, "sees.devices", FindingState.OK),
        (2, 1, 2, "sees.fewer", FindingState.WARN),
        (2, 0, 2, "sees.no_device", FindingState.FAIL),
        (None, 0, 2, "sees.no_device", FindingState.FAIL),
        (None, 0, 0, "sees.devices", FindingState.INFO),
    ],
)
def test_what_torch_sees_is_held_against_what_is_there(
    fake: FakeHost,
    install: Install,
    expected: int | None,
    count: int,
    boards: int,
    code: str,
    state: FindingState,
) -> None:
    install(toy_spec(answering(ProbeStatus.AVAILABLE, expected)))
    fake.toys(boards)
    (finding,) = judge(
        fake, ImportReport(TOY, ImportOutcome.LOADED, "import torch_toy", counts={"toy": count})
    )
    assert (finding.code, finding.state, finding.device) == (code, state, "toy")


@pytest.mark.parametrize(("boards", "state"), [(0, FindingState.WARN), (2, FindingState.FAIL)])
@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        (ImportOutcome.RAISED, "sees.raised"),
        (ImportOutcome.KILLED, "sees.killed"),
        (ImportOutcome.EXITED, "sees.exited"),
        (ImportOutcome.HUNG, "sees.hung"),
    ],
)
def test_a_package_that_does_not_import_is_as_grave_as_its_impact(
    fake: FakeHost,
    install: Install,
    outcome: ImportOutcome,
    code: str,
    boards: int,
    state: FindingState,
) -> None:
    install(toy_spec())
    fake.toys(boards)
    (finding,) = judge(fake, ImportReport(TOY, outcome, "import torch_toy", "why"))
    assert (finding.code, finding.state, finding.device) == (code, state, "toy")
    assert "why" in wording(finding).title


def test_a_torch_that_does_not_import_is_a_failure_of_the_host(fake: FakeHost) -> None:
    job = ImportJob("torch")
    (finding,) = judge(fake, ImportReport(job, ImportOutcome.RAISED, "import torch", "OSError"))
    assert (finding.state, finding.device) == (FindingState.FAIL, None)


def test_devices_that_cannot_be_counted(fake: FakeHost, install: Install) -> None:
    install(toy_spec())
    fake.toys(1)
    (finding,) = judge(
        fake,
        ImportReport(TOY, ImportOutcome.LOADED, "count", count_errors={"toy": "OSError: no"}),
    )
    assert (finding.code, finding.state) == ("sees.count_failed", FindingState.FAIL)


def test_without_torch_there_is_nothing_to_import(fake: FakeHost) -> None:
    (finding,) = run_checks(
        catalogue().select(["framework.sees"]), fake.facts, scene=set(Cost)
    ).findings
    assert (finding.code, finding.state) == ("sees.no_torch", FindingState.SKIP)


def test_a_broken_import_under_missing_nodes_is_put_down_to_them(
    fake: FakeHost, install: Install
) -> None:
    install(toy_spec(answering(ProbeStatus.NO_DRIVER)))
    fake.toys(2, nodes=0)
    (finding,) = judge(
        fake,
        ImportReport(TOY, ImportOutcome.RAISED, "import torch_toy", "OSError: no driver"),
        ("driver.nodes", "framework.sees"),
    )
    assert finding.state is FindingState.SKIP
    assert finding.params["because"] == "driver.nodes"
    assert finding.params["detail"] == "OSError: no driver", "what was seen is kept"


def test_packages_of_all_installed_backends_are_imported(fake: FakeHost, install: Install) -> None:
    def probe(host: Host) -> Probe:
        return Probe(ProbeStatus.NO_HARDWARE, 0, "none")

    install(toy_spec(probe))
    install(toy_spec(probe, name="doll", torch_package="torch_doll"))
    fake.package("torch", "2.13.0")
    fake.package("torch_toy", "1.0")
    jobs = Facts(fake.host)._import_jobs()
    assert jobs[0].package == "torch"
    assert TOY in jobs
    assert "torch_doll" not in {job.package for job in jobs}
