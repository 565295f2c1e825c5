"""Slices of every board with their shares, and the plugin's commands, never run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from fake_spec import fake_spec

import accelhal
from accelhal.errors import DeviceError, UnsupportedError, UsageError
from accelhal.facts import BoardInfo, BoardKey, Partition, VendorCommands
from accelhal.partitions import creation, list_partitions, removal
from accelhal.spi import Management

WHOLE = BoardInfo(
    BoardKey("toy", "uuid", "T-0"), "Toy Works", "Toy", "toy", "libtoy", total_memory=64 << 30
)
KEY = WHOLE.key
assert KEY is not None
OTHER = replace(WHOLE, key=BoardKey("toy", "uuid", "T-1"))
PART = Partition(
    BoardKey("toy", "uuid", "T-0/a"), KEY, "quarter", 16 << 30, 0.25, {"TOY_VISIBLE": "T-0/a"}
)
SLICE = replace(WHOLE, key=PART.key, parent=WHOLE.key, total_memory=16 << 30)


class Driver(Management):
    def boards(self) -> Sequence[BoardInfo]:
        return [OTHER, WHOLE, SLICE]

    def partitions(self, board: BoardKey) -> Sequence[Partition]:
        if board != WHOLE.key:
            raise OSError("lost")
        odd = replace(PART, key=BoardKey("toy", "uuid", "T-0/b"), total_memory=65 << 30)
        own = replace(PART, key=BoardKey("toy", "uuid", "T-0/c"), memory_share=0.2)
        return [PART, odd, own]

    def partition_commands(self, board: BoardKey, profile: str) -> VendorCommands:
        return VendorCommands((f"toyctl cut {board.value} {profile}",), ("root",))

    def removal_commands(self, partition: BoardKey) -> VendorCommands:
        return VendorCommands((f"toyctl mend {partition.value}",))


@pytest.fixture(autouse=True)
def driver(fresh_registry: None) -> None:
    accelhal.register(fake_spec("toy", open_management=lambda: Driver()))


def test_slices_carry_their_share_of_the_board() -> None:
    found = list_partitions(WHOLE)
    assert found[0] == replace(PART, memory_share=0.25)
    assert [one.memory_share for one in found] == [0.25, None, 0.2]


def test_slices_of_every_board_pass_over_a_driver_that_fails() -> None:
    assert [one.key.value for one in list_partitions()] == ["T-0/a", "T-0/b", "T-0/c"]
    with pytest.raises(DeviceError, match="OSError: lost"):
        list_partitions(OTHER)


def test_a_slice_has_no_slices() -> None:
    assert list_partitions(SLICE) == []


def test_the_commands_are_the_plugins() -> None:
    assert creation(WHOLE, "half").lines == ("toyctl cut T-0 half",)
    assert removal(PART).lines == ("toyctl mend T-0/a",)


def test_a_slice_and_an_empty_profile_are_refused() -> None:
    with pytest.raises(UsageError, match="a slice already"):
        creation(SLICE, "half")
    with pytest.raises(UsageError, match="the profile is empty"):
        creation(WHOLE, " ")
    with pytest.raises(UnsupportedError, match="only the PCI bus"):
        creation(replace(WHOLE, source="pci"), "half")


def test_a_plugin_of_1_0_says_that_it_does_not_know() -> None:
    class Older(Management):
        def boards(self) -> Sequence[BoardInfo]:
            return []

    assert Older().partition_commands(PART.parent, "half").lines == ()
    assert "not known" in Older().removal_commands(PART.key).notes[0]
