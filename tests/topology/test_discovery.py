"""The driver's word goes before the PCI bus; where neither knows, the reason is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from fake_spec import fake_spec
from topology.pci_tree import board, pci_host

import accelhal
from accelhal.facts import BoardInfo, BoardKey, Link, Relation
from accelhal.host import Host
from accelhal.spi import Management
from accelhal.topology import discover
from accelhal.topology.discovery import UNKNOWN_NODE, UNKNOWN_PLACE

pytestmark = pytest.mark.usefixtures("fresh_registry")

FUNCTIONS = {
    "0000:01:00.0": ("pci0000:00/0000:00:01.0", -1),
    "0000:02:00.0": ("pci0000:00/0000:00:02.0", -1),
    "0000:81:00.0": ("pci0000:80/0000:80:01.0", -1),
}
BOARDS = [board(address) for address in FUNCTIONS]


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return pci_host(tmp_path, FUNCTIONS)


class Driver(Management):
    """The first two boards are linked; of the third it says the given relation."""

    def __init__(self, third: Relation | None = None, up: bool | None = True) -> None:
        self.third = third
        self.up = up

    def boards(self) -> Sequence[BoardInfo]:
        return BOARDS

    def links(self, board: BoardKey) -> Sequence[Link]:
        if board != BOARDS[0].key:
            raise OSError("no such call")
        return [Link("ToyLink", BOARDS[1].key, self.up), Link("ToyLink", None, True)]

    def relation(self, board: BoardKey, other: BoardKey) -> Relation | None:
        return self.third if BOARDS[2].key in (board, other) else None


def register(driver: Driver) -> None:
    accelhal.register(fake_spec("toy", open_management=lambda: driver))


def test_the_bus_alone(host: Host) -> None:
    found = discover(BOARDS, host)
    assert [found.relation(0, 1), found.relation(0, 2)] == [Relation.PHB, None]
    assert found.unknown == UNKNOWN_NODE


def test_the_drivers_word_goes_first(host: Host) -> None:
    register(Driver(Relation.SYS))
    found = discover(BOARDS, host)
    assert [found.relation(0, 1), found.relation(0, 2)] == [Relation.LINK, Relation.SYS]
    assert found.unknown == ""


@pytest.mark.parametrize("up", [False, None])
def test_a_link_that_is_not_up_is_no_link(host: Host, up: bool | None) -> None:
    register(Driver(up=up))
    assert discover(BOARDS, host).relation(0, 1) is Relation.PHB


def test_slices_of_one_board(host: Host) -> None:
    whole = board("0000:01:00.0", "whole")
    slices = [replace(board(None, name), parent=whole.key) for name in ("a", "b")]
    other = replace(board(None, "c"), parent=BOARDS[1].key)
    found = discover([whole, *slices, other], host)
    assert [found.relation(0, 1), found.relation(1, 2)] == [Relation.BOARD] * 2
    assert found.relation(1, 3) is None
    assert found.unknown == UNKNOWN_PLACE


def test_a_driver_that_does_not_load_leaves_the_bus(host: Host) -> None:
    def fails() -> Management:
        raise OSError("libtoy.so")

    accelhal.register(fake_spec("toy", open_management=fails))
    assert discover(BOARDS, host).relation(0, 1) is Relation.PHB


def test_the_boards_of_this_host() -> None:
    register(Driver(Relation.NODE))
    found = discover()
    assert [b.key for b in found.boards if b.backend == "toy"] == [b.key for b in BOARDS]
