"""Links and access controls of PCI functions, read from a tree of sysfs files."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from host_tree import HostTree
from hypothesis import given, strategies as st

from accelhal.host.pci_ports import _redirects, iommu_domains, path_above, read_ports

BRIDGE, BOARD = "0000:00:01.0", "0000:01:00.0"


def registers(control: int, *, bridge: bool = True, before: int = 2) -> bytes:
    """A configuration space whose ACS capability comes after some others."""
    space = bytearray(4096)
    space[0x0E] = 0x01 if bridge else 0x00
    space[0x19], space[0x1A] = 1, 2
    place = 0x100
    for _ in range(before):
        struct.pack_into("<I", space, place, 0x0001 | (1 << 16) | (place + 0x40) << 20)
        place += 0x40
    struct.pack_into("<I", space, place, 0x000D | (1 << 16))
    struct.pack_into("<H", space, place + 6, control)
    return bytes(space)


@pytest.fixture
def tree(tmp_path: Path) -> HostTree:
    tree = HostTree(tmp_path)
    devices = tree.root / "sys/devices/pci0000:00" / BRIDGE / BOARD
    devices.mkdir(parents=True)
    bus = tree.root / "sys/bus/pci/devices"
    (bus / BRIDGE).symlink_to(f"../../../devices/pci0000:00/{BRIDGE}")
    (bus / BOARD).symlink_to(f"../../../devices/pci0000:00/{BRIDGE}/{BOARD}")
    for folder, speed in ((devices.parent, "8.0 GT/s PCIe"), (devices, "2.5 GT/s PCIe")):
        (folder / "current_link_speed").write_text(f"{speed}\n")
        (folder / "max_link_speed").write_text("16.0 GT/s PCIe\n")
        (folder / "current_link_width").write_text("16\n")
        (folder / "max_link_width").write_text("255\n")
    (devices.parent / "config").write_bytes(registers(0x001D))
    (devices / "config").write_bytes(registers(0, bridge=False)[:64])
    return tree


def test_a_board_and_the_bridge_above_it(tree: HostTree) -> None:
    assert path_above(tree.host, BOARD) == ("pci0000:00", [BRIDGE])
    bridge, board = read_ports(tree.host, [BOARD])
    assert (bridge.address, bridge.is_bridge, bridge.behind) == (BRIDGE, True, (1, 2))
    assert bridge.redirects == ("ReqRedir", "CmpltRedir", "UpstreamFwd")  # as lspci shows 0x001d
    assert (bridge.speed, bridge.max_speed, bridge.lanes) == (8.0, 16.0, 16)
    assert (board.address, board.is_bridge, board.redirects) == (BOARD, False, None)


def test_what_is_not_there_is_not_told(tmp_path: Path) -> None:
    (port,) = read_ports(HostTree(tmp_path).host, [BOARD])
    assert (port.is_bridge, port.speed, port.lanes, port.redirects) == (False, None, None, None)


def test_domains_of_the_iommu(tree: HostTree) -> None:
    assert iommu_domains(tree.host, [BOARD]) == {}
    group = tree.root / "sys/kernel/iommu_groups/7"
    group.mkdir(parents=True)
    (group / "type").write_text("DMA-FQ\n")
    (tree.root / "sys/bus/pci/devices" / BOARD).resolve().joinpath("iommu_group").symlink_to(group)
    assert iommu_domains(tree.host, [BOARD]) == {BOARD: "DMA-FQ"}


@given(st.integers(0, 0xFFFF), st.integers(0, 8))
def test_only_redirecting_controls_count(control: int, before: int) -> None:
    named = {"ReqRedir": 4, "CmpltRedir": 8, "UpstreamFwd": 16}
    expected = tuple(word for word, bit in named.items() if control & bit)
    assert _redirects(registers(control, before=before)) == expected


@given(st.binary(max_size=600))
def test_any_registers_end(space: bytes) -> None:
    found = _redirects(bytes(256) + space)
    assert found is None or set(found) <= {"ReqRedir", "CmpltRedir", "UpstreamFwd"}
