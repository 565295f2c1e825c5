from __future__ import annotations

from pathlib import Path

import pytest
from host_tree import HostTree
from hypothesis import given, settings, strategies as st

from accelhal.host import Host, pci


def test_only_accelerator_functions_of_known_vendors_count(tmp_path: Path) -> None:
    tree = HostTree(tmp_path)
    tree.pci("0000:01:00.0", "10de", "0300", driver="nvidia")
    tree.pci("0000:01:00.1", "10de", "0403")  # the audio function of the same card
    tree.pci("0000:02:00.0", "10de", "0680")  # a switch between boards
    tree.pci("0000:03:00.0", "19e5", "1200", device="d802", numa_node=1)
    tree.pci("0000:04:00.0", "19e5", "0200")  # a network card of an accelerator vendor
    tree.pci("0000:05:00.0", "1234", "1200")  # an unknown vendor
    found = pci.accelerators(tree.host)
    assert [device.address for device in found] == ["0000:01:00.0", "0000:03:00.0"]
    assert (found[0].driver, found[0].numa_node) == ("nvidia", None)
    assert (found[1].driver, found[1].numa_node, found[1].device) == (None, 1, "d802")


def test_a_vendor_can_be_asked_for_alone(tmp_path: Path) -> None:
    tree = HostTree(tmp_path)
    tree.pci("0000:01:00.0", "10de", "0302").pci("0000:02:00.0", "cabc", "1200")
    tree.pci("0000:03:00.0", "1234", "0200")
    assert [d.vendor for d in pci.accelerators(tree.host, {"cabc", "1234"})] == ["cabc"]
    assert len(pci.scan(tree.host)) == 3
    assert [d.vendor for d in pci.scan(tree.host, {"1234"})] == ["1234"]


def test_a_host_without_a_bus_has_no_boards(tmp_path: Path) -> None:
    assert pci.accelerators(Host(tmp_path, {})) == []


@pytest.mark.parametrize("name", ["vendor", "device", "class"])
@settings(max_examples=25)
@given(text=st.text(max_size=8))
def test_a_function_that_does_not_read_is_left_out_and_never_raises(
    tmp_path_factory: pytest.TempPathFactory, name: str, text: str
) -> None:
    tree = HostTree(tmp_path_factory.mktemp("pci"))
    tree.pci("0000:01:00.0", "10de", "0302").pci("0000:02:00.0", "10de", "0302")
    (tree.root / "sys/bus/pci/devices/0000:01:00.0" / name).write_text(
        text, encoding="utf-8", errors="replace"
    )
    assert "0000:02:00.0" in [device.address for device in pci.accelerators(tree.host)]


@pytest.mark.parametrize("node", ["", "x", "-1", "1.5", "9" * 5000])
def test_a_numa_node_that_does_not_read_is_not_reported(tmp_path: Path, node: str) -> None:
    tree = HostTree(tmp_path).pci("0000:01:00.0", "10de", "0302")
    tree.file("/sys/bus/pci/devices/0000:01:00.0/numa_node", node)
    assert [board.numa_node for board in pci.accelerators(tree.host)] == [None]


def test_links_that_lead_nowhere_and_folders_are_no_boards(tmp_path: Path) -> None:
    tree = HostTree(tmp_path).pci("0000:01:00.0", "10de", "0302")
    bus = tree.root / "sys/bus/pci/devices"
    (bus / "0000:02:00.0").symlink_to("/nowhere")
    (bus / "0000:03:00.0").symlink_to(bus / "0000:03:00.0")
    (bus / "0000:04:00.0" / "vendor").mkdir(parents=True)
    (bus / "0000:05:00.0").write_text("a file")
    assert [board.address for board in pci.accelerators(tree.host)] == ["0000:01:00.0"]


def test_the_vendor_table_is_well_formed() -> None:
    for key, vendor in pci.vendors().items():
        assert key == vendor.id
        assert len(key) == 4
        assert int(key, 16) > 0
        assert vendor.name
        assert all(len(pci_class) == 4 for pci_class in vendor.classes)
