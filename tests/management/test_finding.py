"""One board of several: by any of its names, and a reason wherever it cannot be told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from fake_spec import fake_spec
from host_tree import HostTree

from accelhal.errors import DeviceNotFoundError
from accelhal.facts import BoardInfo, BoardKey, Location
from accelhal.host import Host
from accelhal.management.finding import board_called, board_under, find_board, named_board
from accelhal.spi import BackendSpec, Management

pytestmark = pytest.mark.usefixtures("fresh_registry")


def board(number: int) -> BoardInfo:
    key = BoardKey("toy", "uuid", f"T-{number}")
    address = f"0000:{0x10 + number:02x}:00.0"
    return BoardInfo(key, "Toy Works", "Toy", "toy", "libtoy", number, f"T-{number}", pci=address)


ONE, OTHER = board(0), board(1)
SLICE = replace(ONE, key=BoardKey("toy", "uuid", "S"), uuid="S", index=None, parent=ONE.key)
BOARDS = [ONE, SLICE, OTHER]


class Driver(Management):
    def __init__(self, fault: Exception | None = None) -> None:
        self.fault = fault

    def boards(self) -> Sequence[BoardInfo]:
        if self.fault is not None:
            raise self.fault
        return BOARDS


def second(index: int, host: Host, boards: Sequence[BoardInfo]) -> Location:
    return Location(boards[2].key if index == 0 else None, "only device 0 is told")


def toy(fault: Exception | None = None, locate: object = second) -> BackendSpec:
    return fake_spec(
        "toy", open_management=lambda: Driver(fault), locate=locate, pci_vendor_ids=("10de",)
    )


@pytest.mark.parametrize(
    ("source", "value", "expected"),
    [
        ("uuid", "T-1", OTHER),
        ("uuid", "S", SLICE),
        ("pci", "0000:10:00.0", ONE),
        ("logic-id", "1", OTHER),
        ("visible-order", "0", ONE),
        ("visible-order", "7", None),
        ("uuid", "0", None),
    ],
)
def test_every_name_of_a_board(source: str, value: str, expected: BoardInfo | None) -> None:
    assert named_board(BoardKey("toy", source, value), BOARDS) == expected  # type: ignore[arg-type]
    assert named_board(BoardKey("other", source, value), BOARDS) is None  # type: ignore[arg-type]


def test_a_name_that_two_boards_have_is_none() -> None:
    twins = [ONE, replace(OTHER, uuid="T-0")]
    lookalikes = [replace(each, key=None) for each in twins]
    assert named_board(BoardKey("toy", "uuid", "T-0"), lookalikes) is None


def test_what_fails_is_the_reason() -> None:
    location = Location(ONE.key)
    assert find_board(toy(), location).board == ONE
    assert find_board(toy(), Location(None, "no name")).reason == "no name"
    assert "OSError: gone" in find_board(toy(OSError("gone")), location).reason
    missing = find_board(toy(), Location(BoardKey("toy", "uuid", "T-9")))
    assert (missing.board, missing.reason) == (None, "toy: no board has the uuid T-9")


def test_the_pci_bus_shows_a_board_whose_driver_fails(tmp_path: Path) -> None:
    host = HostTree(tmp_path).pci("0000:10:00.0", "10de", "0302", numa_node=1).host
    found = find_board(toy(OSError("gone")), Location(BoardKey("toy", "pci", "0000:10:00.0")), host)
    assert found.board is not None
    assert (found.board.source, found.board.numa_node) == ("pci", 1)


def test_the_bus_adds_what_the_driver_does_not_know(tmp_path: Path) -> None:
    host = HostTree(tmp_path).pci("0000:10:00.0", "10de", "0302", numa_node=1).host
    found = find_board(toy(), Location(ONE.key), host).board
    assert found == replace(ONE, numa_node=1)


def test_the_board_under_a_device_without_torch() -> None:
    assert board_under(toy(), 0).board == OTHER
    assert board_under(toy(), 1).reason == "only device 0 is told"
    assert "without torch" in board_under(toy(locate=None), 0).reason
    assert "OSError: gone" in board_under(toy(OSError("gone")), 0).reason
    assert "ZeroDivisionError" in board_under(toy(locate=lambda *_: 1 // 0), 0).reason


@pytest.mark.parametrize("text", ["T-1", "t-1", "11:00.0", "0000:11:00.0", "00000000:11:00.0"])
def test_a_board_by_what_a_person_types(text: str) -> None:
    assert board_called(text, BOARDS) == OTHER


@pytest.mark.parametrize("text", ["", "T", "1", "0001:11:00.0"])
def test_what_names_no_board(text: str) -> None:
    with pytest.raises(DeviceNotFoundError, match="no board has the UUID or PCI address"):
        board_called(text, BOARDS)
