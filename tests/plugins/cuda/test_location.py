"""Which board is under a device: UUID, PCI address, place in the driver's order, or a reason."""

from __future__ import annotations

from pathlib import Path

import pytest
from accelhal_cuda.location import driver_uuid, locate
from host_tree import HostTree

from accelhal.facts import BoardKey, DeviceProperties

WHOLE = "d9a01111-2222-3333-4444-555566667777"
SLICE = "NVIDIA A100-SXM4-40GB MIG 1g.5gb"
BOARD = DeviceProperties("NVIDIA A100-SXM4-40GB", "NVIDIA")


@pytest.fixture
def host(tmp_path: Path) -> HostTree:
    return HostTree(tmp_path)


def two_boards(host: HostTree, *products: str) -> HostTree:
    for number, product in enumerate(products):
        host.pci(f"0000:{0x10 + number:02x}:00.0", "10de", "0302", device=product, driver="nvidia")
    return host


@pytest.mark.parametrize(
    ("reported", "mask", "uuid"),
    [
        (WHOLE, None, f"GPU-{WHOLE}"),
        (WHOLE, "1,0", f"GPU-{WHOLE}"),
        (None, f"GPU-{WHOLE}", f"GPU-{WHOLE}"),
        (None, f"GPU-{WHOLE[:8]}", None),
        (None, "0", None),
        (None, None, None),
    ],
)
def test_the_uuid_of_a_board(
    host: HostTree, reported: str | None, mask: str | None, uuid: str | None
) -> None:
    if mask is not None:
        host.env(CUDA_VISIBLE_DEVICES=mask)
    assert driver_uuid(0, BOARD.name, reported, host.host) == uuid


@pytest.mark.parametrize(
    ("mask", "uuid"),
    [(f"MIG-{WHOLE}", f"MIG-{WHOLE}"), (f"GPU-{WHOLE}", None), ("MIG-d9a0", None), (None, None)],
)
def test_a_slice_s_uuid_is_the_variable_s_alone(
    host: HostTree, mask: str | None, uuid: str | None
) -> None:
    """torch may report the board's own for every slice of it."""
    if mask is not None:
        host.env(CUDA_VISIBLE_DEVICES=mask)
    assert driver_uuid(0, SLICE, WHOLE, host.host) == uuid


def test_a_uuid_goes_before_a_pci_address(host: HostTree) -> None:
    both = DeviceProperties("A100", "NVIDIA", uuid=f"GPU-{WHOLE}", pci="0000:17:00.0")
    assert locate(0, both, host.host).key == BoardKey("cuda", "uuid", f"GPU-{WHOLE}")
    address = DeviceProperties("A100", "NVIDIA", pci="0000:17:00.0")
    assert locate(0, address, host.host).key == BoardKey("cuda", "pci", "0000:17:00.0")


def test_an_unnamed_slice_is_not_called_its_board(host: HostTree) -> None:
    found = locate(0, DeviceProperties(SLICE, "NVIDIA", pci="0000:17:00.0"), host.host)
    assert found.key is None
    assert "CUDA_VISIBLE_DEVICES" in found.reason


@pytest.mark.parametrize(
    ("mask", "index", "number"), [(None, 1, "1"), ("1,0", 0, "1"), ("1,0", 1, "0")]
)
def test_equal_boards_stand_in_the_driver_s_order(
    host: HostTree, mask: str | None, index: int, number: str
) -> None:
    two_boards(host, "20b0", "20b0")
    if mask is not None:
        host.env(CUDA_VISIBLE_DEVICES=mask)
    assert locate(index, BOARD, host.host).key == BoardKey("cuda", "visible-order", number)


@pytest.mark.parametrize("order", [None, "FASTEST_FIRST"])
def test_mixed_boards_are_not_guessed(host: HostTree, order: str | None) -> None:
    two_boards(host, "20b0", "1eb8")
    if order is not None:
        host.env(CUDA_DEVICE_ORDER=order)
    found = locate(0, BOARD, host.host)
    assert found.key is None
    assert "several products" in found.reason
    assert "(CUDA_DEVICE_ORDER=FASTEST_FIRST)" in found.reason
    assert "PCI_BUS_ID" in found.reason


def test_mixed_boards_in_bus_order_are_told_apart(host: HostTree) -> None:
    two_boards(host, "20b0", "1eb8").env(CUDA_DEVICE_ORDER="PCI_BUS_ID")
    assert locate(1, BOARD, host.host).key == BoardKey("cuda", "visible-order", "1")


def test_boards_that_are_not_seen_are_not_guessed(host: HostTree) -> None:
    found = locate(0, BOARD, host.host)
    assert found.key is None
    assert "no board" in found.reason


def test_a_cut_off_uuid_is_no_number(host: HostTree) -> None:
    two_boards(host, "20b0", "20b0").env(CUDA_VISIBLE_DEVICES="GPU-d9a0")
    found = locate(0, BOARD, host.host)
    assert found.key is None
    assert "GPU-d9a0" in found.reason


def test_a_device_that_the_variable_does_not_name_is_not_guessed(host: HostTree) -> None:
    """The variable was changed after the driver had read it."""
    two_boards(host, "20b0", "20b0").env(CUDA_VISIBLE_DEVICES="1")
    found = locate(1, BOARD, host.host)
    assert found.key is None
    assert "device 1 is none of them" in found.reason
    host.env(CUDA_VISIBLE_DEVICES=f"GPU-{WHOLE}")
    assert driver_uuid(0, BOARD.name, None, host.host) == f"GPU-{WHOLE}"
    assert driver_uuid(1, BOARD.name, None, host.host) is None
