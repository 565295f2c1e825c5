"""The checks that read files: judged on hosts made of files, with a toy backend."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from doctor.toys import TOY_VARIABLE, FakeHost, answering, states, toy_spec

from accelhal.doctor.catalogue import CHECKS, catalogue
from accelhal.doctor.engine import run_checks
from accelhal.doctor.facts import Facts
from accelhal.doctor.wording import wording
from accelhal.facts import Finding, FindingState, ProbeStatus
from accelhal.spi import API_VERSION, BackendSpec

Install = Callable[[BackendSpec], None]
OK, INFO, WARN, FAIL, SKIP = (
    FindingState.OK,
    FindingState.INFO,
    FindingState.WARN,
    FindingState.FAIL,
    FindingState.SKIP,
)


def found(fake: FakeHost, check: str, device: str | None = "toy") -> list[Finding]:
    report = run_checks(catalogue().select([check]), fake.facts)
    return [finding for finding in report.findings if finding.device == device]


def only(fake: FakeHost, check: str, device: str | None = "toy") -> Finding:
    (finding,) = found(fake, check, device)
    wording(finding)  # its text must take its parameters
    return finding


# ---- a host without boards


@pytest.mark.usefixtures("fresh_registry")
def test_a_machine_without_boards_is_calm(fake: FakeHost) -> None:
    report = run_checks(catalogue().select([]), fake.facts)
    assert {finding.state for finding in report.findings} <= {OK, INFO}
    assert {finding.check for finding in report.findings} == {c.id for c in catalogue().select([])}


def test_absent_toys_are_calm_too(fake: FakeHost, install: Install) -> None:
    install(toy_spec(answering(ProbeStatus.NO_HARDWARE, 0)))
    report = run_checks(catalogue().select([]), fake.facts)
    assert {finding.state for finding in report.findings} <= {OK, INFO}


# ---- host.pci


def test_a_board_of_a_loaded_backend(fake: FakeHost, install: Install) -> None:
    install(toy_spec())
    fake.toys(2)
    finding = only(fake, "host.pci", None)
    assert (finding.code, finding.state, finding.params["count"]) == ("pci.boards", OK, 2)
    assert "/sys/bus/pci/devices/0000:01:00.0" in finding.evidence


@pytest.mark.usefixtures("fresh_registry")
def test_a_board_that_no_plugin_is_known_for_is_an_info(fake: FakeHost) -> None:
    fake.toys(1)
    assert states(found(fake, "host.pci", None)) == {"pci.unsupported": INFO}


@pytest.mark.usefixtures("fresh_registry")
def test_a_board_whose_plugin_is_not_installed_names_it(
    fake: FakeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("accelhal.registry.listing.installed_plugins", list)
    fake.pci("0000:3b:00.0", "10de", "0302")
    finding = only(fake, "host.pci", None)
    assert (finding.code, finding.state) == ("pci.no_plugin", WARN)
    assert finding.commands == ("pip install accelhal-cuda",)


@pytest.mark.usefixtures("fresh_registry")
def test_a_bus_that_cannot_be_seen_is_unknown(fake: FakeHost) -> None:
    (fake.root / "sys/bus/pci/devices").rmdir()
    assert states(found(fake, "host.pci", None)) == {"pci.unreadable": FindingState.UNKNOWN}


# ---- plugin.load


def test_a_loaded_plugin_is_named_with_its_interface(fake: FakeHost, install: Install) -> None:
    install(toy_spec())
    finding = only(fake, "plugin.load")
    assert finding.code == "plugin.loaded"
    assert finding.params["interface"] == ".".join(map(str, API_VERSION))


# ---- driver.nodes


def test_open_nodes(fake: FakeHost, install: Install) -> None:
    install(toy_spec())
    fake.toys(2)
    finding = only(fake, "driver.nodes")
    assert (finding.code, finding.state) == ("nodes.open", OK)
    assert finding.evidence["/dev/toy1"] == "may read and write"


@pytest.mark.parametrize(
    ("marker", "code"), [(None, "nodes.missing"), ("/.dockerenv", "nodes.missing_in_container")]
)
def test_boards_without_nodes_fail(
    fake: FakeHost, install: Install, marker: str | None, code: str
) -> None:
    install(toy_spec(answering(ProbeStatus.NO_DRIVER)))
    fake.toys(2, nodes=0)
    if marker:
        fake.file(marker)
    finding = only(fake, "driver.nodes")
    assert (finding.code, finding.state) == (code, FAIL)
    assert finding.commands == ("take the next step",), "the plugin knows the vendor's commands"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may open every node")
def test_nodes_without_rights_fail(fake: FakeHost, install: Install) -> None:
    install(toy_spec())
    fake.toys(2)
    (fake.root / "dev/toy1").chmod(0o400)
    finding = only(fake, "driver.nodes")
    assert (finding.code, finding.state, finding.needs_root) == ("nodes.denied", FAIL, True)
    assert finding.params["paths"] == "/dev/toy1"
    assert finding.commands[0] == "ls -l /dev/toy1"


def test_refused_nodes_fail_whoever_asks(
    fake: FakeHost, install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(toy_spec())
    fake.toys(2)
    (fake.root / "dev/toy1").chmod(0o400)
    real = os.access
    monkeypatch.setattr(
        os, "access", lambda path, mode: "toy1" not in str(path) and real(path, mode)
    )
    finding = only(fake, "driver.nodes")
    assert (finding.code, finding.state, finding.needs_root) == ("nodes.denied", FAIL, True)
    assert finding.evidence["/dev/toy1"] == "may not both read and write"


def test_a_card_of_two_devices_is_no_fault(fake: FakeHost, install: Install) -> None:
    install(toy_spec())
    fake.toys(1, nodes=2)
    assert only(fake, "driver.nodes").state is OK


@pytest.mark.parametrize(("marker", "state"), [(None, WARN), ("/.dockerenv", INFO)])
def test_nodes_for_some_boards_are_a_choice_in_a_container(
    fake: FakeHost, install: Install, marker: str | None, state: FindingState
) -> None:
    install(toy_spec())
    fake.toys(8, nodes=2)
    if marker:
        fake.file(marker)
    finding = only(fake, "driver.nodes")
    assert (finding.code, finding.state) == ("nodes.fewer", state)


# ---- device.mask


@pytest.mark.parametrize(
    ("value", "code", "state", "command"),
    [
        ("0,1", "mask.shows", INFO, f"unset {TOY_VARIABLE}"),
        ("", "mask.empty", FAIL, f"unset {TOY_VARIABLE}"),
        ("  ", "mask.empty", FAIL, f"unset {TOY_VARIABLE}"),
        ("one", "mask.not_a_device", FAIL, f"unset {TOY_VARIABLE}"),
        ("1,one", "mask.not_a_device", WARN, f"export {TOY_VARIABLE}=1"),
        ("0,,1", "mask.empty_entry", WARN, f"export {TOY_VARIABLE}=0"),
        ("0,-1", "mask.negative", WARN, f"export {TOY_VARIABLE}=0"),
        ("9", "mask.out_of_range", FAIL, f"unset {TOY_VARIABLE}"),
        ("0,0,1", "mask.duplicate", FAIL, f"export {TOY_VARIABLE}=0,1"),
        ("0,TOY-8932f937", "mask.mixed", WARN, f"export {TOY_VARIABLE}=0"),
        ("TOY-8932f937", "mask.shows", INFO, f"unset {TOY_VARIABLE}"),
        ("GPU-8932f937", "mask.not_a_device", FAIL, f"unset {TOY_VARIABLE}"),
    ],
)
def test_masks_are_judged_by_entry(
    fake: FakeHost, install: Install, value: str, code: str, state: FindingState, command: str
) -> None:
    install(toy_spec())
    fake.toys(2)
    fake.environ[TOY_VARIABLE] = value
    finding = only(fake, "device.mask")
    assert (finding.code, finding.state, finding.commands) == (code, state, (command,))
    assert finding.evidence == {TOY_VARIABLE: value}


def test_a_wrong_order_is_put_right(fake: FakeHost, install: Install) -> None:
    install(toy_spec(ascending=True))
    fake.toys(4)
    fake.environ[TOY_VARIABLE] = "3,1,2"
    finding = only(fake, "device.mask")
    assert (finding.code, finding.state) == ("mask.not_ascending", FAIL)
    assert finding.commands == (f"export {TOY_VARIABLE}=1,2,3",)


def test_a_mask_without_boards(fake: FakeHost, install: Install) -> None:
    install(toy_spec())
    fake.environ[TOY_VARIABLE] = ""
    assert only(fake, "device.mask").state is INFO
    fake.environ[TOY_VARIABLE] = "0,x"
    assert only(fake, "device.mask").state is WARN


# ---- backend.probe


@pytest.mark.parametrize(
    ("status", "without_boards", "with_boards"),
    [
        (ProbeStatus.AVAILABLE, OK, OK),
        (ProbeStatus.NO_HARDWARE, INFO, WARN),
        (ProbeStatus.NO_DRIVER, INFO, FAIL),
        (ProbeStatus.NOT_INSTALLED, INFO, FAIL),
        (ProbeStatus.HIDDEN_BY_ENV, INFO, FAIL),
        (ProbeStatus.LIBRARY_BROKEN, WARN, FAIL),
        (ProbeStatus.INCOMPATIBLE, WARN, FAIL),
        (ProbeStatus.DISABLED, INFO, INFO),
    ],
)
def test_a_probe_is_as_grave_as_its_impact(
    fake: FakeHost,
    install: Install,
    status: ProbeStatus,
    without_boards: FindingState,
    with_boards: FindingState,
) -> None:
    install(toy_spec(answering(status)))
    assert only(fake, "backend.probe").state is without_boards
    fake.toys(2)
    finding = only(fake, "backend.probe")
    assert finding.state is with_boards
    assert finding.params["reason"] == f"it is {status.value}"
    assert finding.commands == (() if status is ProbeStatus.AVAILABLE else ("take the next step",))


def test_a_backend_that_the_environment_names_must_work(fake: FakeHost, install: Install) -> None:
    install(toy_spec(answering(ProbeStatus.NOT_INSTALLED)))
    fake.environ["ACCELHAL_DEVICE"] = "toy:0"
    assert only(fake, "backend.probe").state is FAIL


def test_a_probe_that_raises_is_a_finding(fake: FakeHost, install: Install) -> None:
    def probe(host: object) -> object:
        raise SystemExit("no toys today")

    install(toy_spec(probe))  # type: ignore[arg-type]
    finding = only(fake, "backend.probe")
    assert finding.code == "probe.library_broken"
    assert "SystemExit: no toys today" in str(finding.params["reason"])


def test_the_lowest_broken_layer_is_reported(fake: FakeHost, install: Install) -> None:
    install(toy_spec(answering(ProbeStatus.NO_DRIVER)))
    fake.toys(2, nodes=0)
    report = run_checks(catalogue().select([]), fake.facts)
    toys = {f.check: f for f in report.findings if f.device == "toy"}
    assert toys["driver.nodes"].state is FAIL
    assert toys["backend.probe"].state is SKIP
    assert toys["backend.probe"].params["because"] == "driver.nodes"


# ---- env.accelhal


@pytest.mark.usefixtures("fresh_registry")
@pytest.mark.parametrize(
    ("value", "code", "state"),
    [
        ("cpu", "own.device", INFO),
        ("cpu:0", "own.device", INFO),
        ("cpu@accelhal:0", "own.device", INFO),
        ("cpu:x", "own.malformed", FAIL),
        ("0", "own.malformed", FAIL),
        ("toy:0", "own.not_installed", FAIL),
        ("cpu:1", "own.no_such_index", FAIL),
        ("cpu@elsewhere:0", "own.other_distribution", FAIL),
    ],
)
def test_the_named_device_is_checked(
    fake: FakeHost, value: str, code: str, state: FindingState
) -> None:
    fake.environ["ACCELHAL_DEVICE"] = value
    finding = only(fake, "env.accelhal", None)
    assert (finding.code, finding.state) == (code, state)
    assert bool(finding.commands) is (state is FAIL)


@pytest.mark.usefixtures("fresh_registry")
@pytest.mark.parametrize(
    ("value", "code", "state"),
    [
        ("cpu", "own.limit", INFO),
        ("cpu, toy", "own.limit_unknown", WARN),
        ("toy", "own.limit_nothing", FAIL),
    ],
)
def test_the_limit_is_checked(fake: FakeHost, value: str, code: str, state: FindingState) -> None:
    fake.environ["ACCELHAL_BACKENDS"] = value
    finding = only(fake, "env.accelhal", None)
    assert (finding.code, finding.state) == (code, state)


def test_a_device_that_the_limit_leaves_out(fake: FakeHost, install: Install) -> None:
    install(toy_spec())
    fake.environ |= {"ACCELHAL_DEVICE": "toy:0", "ACCELHAL_BACKENDS": "cpu"}
    assert states(found(fake, "env.accelhal", None)) == {"own.excluded": FAIL, "own.limit": INFO}


# ---- framework.*


def test_torch_is_read_without_import(fake: FakeHost) -> None:
    fake.package("torch", "2.13.0+cpu")
    finding = only(fake, "framework.build", None)
    assert (finding.code, finding.state) == ("torch.installed", OK)
    assert finding.params["version"] == "2.13.0+cpu"


def test_a_missing_torch_is_an_info(fake: FakeHost) -> None:
    assert states(found(fake, "framework.build", None)) == {"torch.missing": INFO}


def test_a_folder_called_torch_is_no_torch(fake: FakeHost) -> None:
    fake.package("torch")
    assert states(found(fake, "framework.build", None)) == {"torch.unreadable": WARN}


def test_an_old_torch_fails(fake: FakeHost) -> None:
    fake.package("torch", "2.1.0")
    finding = only(fake, "framework.build", None)
    assert (finding.code, finding.state) == ("torch.old", FAIL)
    assert finding.commands == ("pip install 'torch>=2.4'",)


def test_two_claimants_of_the_out_of_tree_device(fake: FakeHost, install: Install) -> None:
    install(toy_spec())
    install(toy_spec(name="doll", torch_package="torch_doll"))
    fake.package("torch_toy")
    assert states(found(fake, "framework.privateuse1", None)) == {"privateuse1.one": OK}
    fake.package("torch_doll")
    finding = only(fake, "framework.privateuse1", None)
    assert (finding.code, finding.state) == ("privateuse1.several", WARN)
    assert finding.params["packages"] in ("torch_toy, torch_doll", "torch_doll, torch_toy")


def test_damaged_metadata_is_a_warning(fake: FakeHost, monkeypatch: pytest.MonkeyPatch) -> None:
    damaged = {"/site/toy-1.0.dist-info": "ValueError: it does not say which distribution it is"}
    monkeypatch.setattr(Facts, "damaged_metadata", damaged)
    finding = only(fake, "plugin.load", None)
    assert (finding.code, finding.state) == ("plugin.damaged", WARN)
    assert finding.evidence == damaged


@pytest.mark.parametrize("spelling", ["accelhal-mock", "Accelhal_Mock", "accelhal.mock"])
def test_a_pinned_distribution_is_known_in_any_spelling(fake: FakeHost, spelling: str) -> None:
    fake.env(ACCELHAL_DEVICE=f"mock@{spelling}:0")
    assert states(found(fake, "env.accelhal", None)) == {"own.device": INFO}


def test_every_check_says_what_it_reads() -> None:
    for check in CHECKS:
        assert check.reads
        assert check.title
