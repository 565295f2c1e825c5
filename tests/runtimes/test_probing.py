"""The order in which any vendor's stack is judged, over a vendor that does not exist."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from host_tree import HostTree

from accelhal.facts import Probe, ProbeStatus
from accelhal.host.device_nodes import DeviceNodes
from accelhal.host.visible_devices import VisibleDevices
from accelhal.runtimes.probing import probe_stack
from accelhal.runtimes.vendor_stack import Fault, NextSteps, RequiredLibrary, VendorStack

STACK = VendorStack(
    vendor="Intel",  # any vendor of the PCI table that has no plugin
    pci_vendor_id="8086",
    device_nodes=(
        DeviceNodes("/dev/acme[0-9]*", per_board=True),
        DeviceNodes("/dev/acmectl"),
        DeviceNodes("/dev/acmetrace", required=False),
    ),
    visible_devices=(VisibleDevices("ACME_VISIBLE"), VisibleDevices("ACME_OLD")),
    driver_version=("/proc/driver/acme/version", r"^version (\S+)"),
    torch_package="torch_acme",
    library=RequiredLibrary(
        "libacme.so",
        needed_for="nothing works",
        sdk_folders=lambda host: ("/opt/acme/lib",),
        setup=lambda host: "source /opt/acme/env.sh",
    ),
    next_steps=NextSteps(
        driver="install the driver",
        container="pass the device in",
        torch="install torch",
        package="install torch_acme for {release}",
        library="install the kit",
    ),
)

Step = Callable[[HostTree], HostTree]


def boards(tree: HostTree) -> HostTree:
    return tree.pci("0000:01:00.0", "8086", "1200", driver="acme").pci(
        "0000:02:00.0", "8086", "1200", driver="acme"
    )


def driver(tree: HostTree) -> HostTree:
    tree.file("/proc/driver/acme/version", "version 5.1\n")
    return tree.files("/dev/acme0", "/dev/acme1", "/dev/acmectl")


def torch(tree: HostTree) -> HostTree:
    return tree.package("torch", "2.9.1", cuda=None)


def package(tree: HostTree) -> HostTree:
    return tree.package("torch_acme", "1.2")


def library(tree: HostTree) -> HostTree:
    return tree.file("/usr/lib/libacme.so")


ALL: tuple[Step, ...] = (boards, driver, torch, package, library)


@pytest.fixture
def tree(tmp_path: Path) -> HostTree:
    return HostTree(tmp_path)


def probe_of(tree: HostTree, *steps: Step, stack: VendorStack = STACK) -> Probe:
    for step in steps:
        step(tree)
    return probe_stack(tree.host, stack)


def test_a_whole_stack_is_available_and_shows_its_evidence(tree: HostTree) -> None:
    probe = probe_of(tree, *ALL)
    assert (probe.status, probe.count, probe.hint) == (ProbeStatus.AVAILABLE, 2, "")
    assert probe.reason == "2 Intel boards"
    assert probe.evidence["/sys/bus/pci/devices"] == "0000:01:00.0 (acme), 0000:02:00.0 (acme)"
    assert probe.evidence["/dev/acme[0-9]*"] == "/dev/acme0, /dev/acme1"
    assert probe.evidence["/dev/acmetrace"] == "absent"
    assert probe.evidence["/proc/driver/acme/version"] == "5.1"
    assert probe.evidence["torch"].startswith("2.9.1 (cpu build) in ")
    assert probe.evidence["torch_acme"].startswith("1.2 in ")
    assert probe.evidence["libacme.so"] == "/usr/lib/libacme.so"


@pytest.mark.parametrize(
    ("absent", "status", "hint"),
    [
        (driver, ProbeStatus.NO_DRIVER, "install the driver"),
        (torch, ProbeStatus.NOT_INSTALLED, "install torch"),
        (package, ProbeStatus.NOT_INSTALLED, "install torch_acme for 2.9"),
        (library, ProbeStatus.LIBRARY_BROKEN, "install the kit"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_each_missing_layer_has_its_status_and_next_step(
    tree: HostTree, absent: Step, status: ProbeStatus, hint: str
) -> None:
    probe = probe_of(tree, *(step for step in ALL if step is not absent))
    assert (probe.status, probe.count, probe.hint) == (status, None, hint)
    assert probe.reason


@pytest.mark.parametrize("present", range(1, len(ALL)))
def test_the_lowest_missing_layer_is_reported(tree: HostTree, present: int) -> None:
    expected = [
        ProbeStatus.NO_DRIVER,
        ProbeStatus.NOT_INSTALLED,
        ProbeStatus.NOT_INSTALLED,
        ProbeStatus.LIBRARY_BROKEN,
    ][present - 1]
    assert probe_of(tree, *ALL[:present]).status is expected


@pytest.mark.parametrize("steps", [(), (torch,), (torch, package, library)])
def test_without_a_board_the_answer_is_calm(tree: HostTree, steps: tuple[Step, ...]) -> None:
    probe = probe_of(tree, *steps)
    assert (probe.status, probe.count, probe.hint) == (ProbeStatus.NO_HARDWARE, 0, "")


def test_a_package_that_breaks_torch_matters_without_a_board(tree: HostTree) -> None:
    assert probe_of(tree, torch, package).status is ProbeStatus.LIBRARY_BROKEN


def test_a_stack_without_a_package_never_outranks_absent_hardware(tree: HostTree) -> None:
    refusing = replace(
        STACK,
        torch_package=None,
        find_fault=lambda host, torch: Fault(ProbeStatus.INCOMPATIBLE, "wrong build", "change it"),
    )
    assert probe_of(tree, torch, stack=refusing).status is ProbeStatus.NO_HARDWARE
    probe = probe_of(tree, boards, driver, stack=refusing)
    assert (probe.status, probe.hint) == (ProbeStatus.INCOMPATIBLE, "change it")


def test_an_old_torch_is_incompatible(tree: HostTree) -> None:
    tree.package("torch", "2.3.1")
    probe = probe_of(tree, boards, driver, package, library)
    assert probe.status is ProbeStatus.INCOMPATIBLE
    assert "2.4" in probe.reason


# ---------------------------------------------------------------- boards and driver


def test_nodes_alone_show_boards_where_the_bus_is_hidden(tree: HostTree) -> None:
    probe = probe_of(tree, driver, torch, package, library)
    assert (probe.status, probe.count) == (ProbeStatus.AVAILABLE, 2)


def test_nodes_count_where_the_bus_shows_more_boards_than_were_handed_in(tree: HostTree) -> None:
    tree.pci("0000:03:00.0", "8086", "1200")
    assert probe_of(tree, *ALL).count == 2


def test_a_missing_control_node_is_named(tree: HostTree) -> None:
    for step in ALL:
        step(tree)
    (tree.root / "dev/acmectl").unlink()
    probe = probe_stack(tree.host, STACK)
    assert probe.status is ProbeStatus.NO_DRIVER
    assert "/dev/acmectl" in probe.reason


def test_nodes_that_may_not_be_opened(tree: HostTree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    probe = probe_of(tree, *ALL)
    assert probe.status is ProbeStatus.NO_DRIVER
    assert "may not open" in probe.reason
    assert "ls -l /dev/acme0" in probe.hint
    assert "(no access)" in probe.evidence["/dev/acme[0-9]*"]


def test_a_container_without_the_nodes_is_told_to_pass_them_in(tree: HostTree) -> None:
    probe = probe_of(tree.file("/.dockerenv"), boards)
    assert (probe.status, probe.hint) == (ProbeStatus.NO_DRIVER, "pass the device in")
    assert "docker" in probe.reason


def test_boards_of_a_virtual_machine_are_not_called_driverless(tree: HostTree) -> None:
    probe = probe_of(tree.pci("0000:01:00.0", "8086", "1200", driver="vfio-pci"))
    assert probe.status is ProbeStatus.NO_DRIVER
    assert "virtual machine" in probe.reason
    assert "install" not in probe.hint


def test_boards_of_another_kind_are_counted_by_opening(tree: HostTree) -> None:
    other = replace(STACK, other_boards=lambda host: {"/dev/odd": "odd board"})
    probe = probe_of(tree, torch, package, library, stack=other)
    assert (probe.status, probe.count) == (ProbeStatus.AVAILABLE, None)
    assert probe.evidence["/dev/odd"] == "odd board"


def test_nodes_made_on_demand_need_a_loaded_driver(tree: HostTree) -> None:
    on_demand = replace(STACK, nodes_on_demand=lambda host: True)
    probe = probe_of(tree, boards, torch, package, library, stack=on_demand)
    assert probe.status is ProbeStatus.NO_DRIVER
    tree.file("/proc/driver/acme/version", "version 5.1\n")
    probe = probe_stack(tree.host, on_demand)
    assert (probe.status, probe.count) == (ProbeStatus.AVAILABLE, 2)


# ---------------------------------------------------------------- libraries and mask


def test_a_library_the_loader_is_not_told_of_is_not_called_broken(tree: HostTree) -> None:
    tree.file("/opt/acme/lib/libacme.so")
    probe = probe_of(tree, boards, driver, torch, package)
    assert (probe.status, probe.hint) == (ProbeStatus.AVAILABLE, "source /opt/acme/env.sh")
    assert "/opt/acme/lib/libacme.so" in probe.evidence["libacme.so"]


def test_a_library_inside_the_package_is_found(tree: HostTree) -> None:
    for step in (boards, driver, torch, package):
        step(tree)
    # The package's folder is given by the finder, as on the host.
    folder = tree.packages["torch_acme"]
    tree.file(f"{folder}/lib/libacme.so")
    assert probe_stack(tree.host, STACK).status is ProbeStatus.AVAILABLE


def test_the_mask_is_judged_last(tree: HostTree) -> None:
    tree.env(ACME_VISIBLE="")
    assert probe_of(tree, boards).status is ProbeStatus.NO_DRIVER
    probe = probe_of(tree, *ALL[1:])
    assert (probe.status, probe.count) == (ProbeStatus.HIDDEN_BY_ENV, 0)
    assert probe.hint == "unset ACME_VISIBLE, or set it to ids from 0 to 1"
    assert probe.evidence["ACME_VISIBLE"] == "''"


def test_a_mask_that_shows_some_boards_says_which(tree: HostTree) -> None:
    probe = probe_of(tree.env(ACME_OLD="1,7"), *ALL)
    assert (probe.status, probe.count) == (ProbeStatus.AVAILABLE, 1)
    assert "ACME_OLD='1,7'" in probe.reason
    assert "'7'" in probe.reason
