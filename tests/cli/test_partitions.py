"""`accelhal partitions`: slices, their shares, and commands that are printed and never run."""

from __future__ import annotations

import pytest
from cli.commands import FakeSite
from cli.toy_boards import TOY_BOARDS


@pytest.fixture
def toys(site: FakeSite) -> FakeSite:
    site.plugin(TOY_BOARDS)
    site.without_torch()
    return site


@pytest.mark.parametrize("arguments", [[], ["--device", "toy:0"], ["--board", "TOY-0"]])
def test_slices_with_their_shares_and_what_selects_them(
    toys: FakeSite, arguments: list[str]
) -> None:
    document = toys.run("partitions", *arguments, "--json").document
    assert document["partitions"] == [
        {
            "key": "TOY-0/a",
            "parent": "TOY-0",
            "backend": "toy",
            "profile": "quarter",
            "total_memory": 16 << 30,
            "memory_share": 0.25,
            "compute_share": 0.25,
            "environment": {"TOY_VISIBLE_DEVICES": "TOY-0/a"},
        }
    ]
    table = toys.run("partitions", *arguments)
    assert table.code == 0
    assert "TOY_VISIBLE_DEVICES=TOY-0/a" in table.out
    assert "16.0 GiB" in table.out


def test_where_the_table_is_too_wide_nothing_is_folded(toys: FakeSite) -> None:
    assert toys.run("partitions", COLUMNS="60").out == (
        "TOY-0/a\n"
        "  quarter: memory 16.0 GiB (25 % of the board), compute 25 %\n"
        "  board: TOY-0\n"
        "  selected by: TOY_VISIBLE_DEVICES=TOY-0/a\n"
    )


def test_a_board_that_is_not_cut(toys: FakeSite) -> None:
    ended = toys.run("partitions", "--device", "toy:1")
    assert (ended.code, ended.out) == (0, "No board is cut into slices.\n")


def test_commands_are_printed(toys: FakeSite) -> None:
    made = toys.run("partitions", "create", "--device", "toy:0", "--profile", "half")
    assert made.out == (
        "sudo toyctl cut TOY-0 half\n"
        "# it needs root\n"
        "# accelhal runs none of these; read them before you do.\n"
    )
    removed = toys.run("partitions", "destroy", "--partition", "TOY-0/a", "--json").document
    assert removed["commands"] == ["sudo toyctl mend TOY-0/a"]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["create", "--device", "toy:0"], 4, "--profile"),
        (["create", "--profile", "half"], 4, "--device or --board"),
        (["create", "--device", "toy:0", "--profile", " "], 4, "profile is empty"),
        (["create", "--device", "toy:9", "--profile", "half"], 3, "there is no toy 9"),
        (["create", "--device", "tyo:0", "--profile", "half"], 4, "did you mean 'toy'?"),
        (["--device", "nosuch:0"], 4, "no backend is named 'nosuch'"),
        (["destroy", "--partition", "TOY-9"], 3, "TOY-9"),
    ],
)
def test_what_cannot_be_said(toys: FakeSite, arguments: list[str], code: int, says: str) -> None:
    ended = toys.run("partitions", *arguments)
    assert ended.code == code
    assert says in ended.err


def test_slices_of_simulated_boards(site: FakeSite) -> None:
    mock = {"ACCELHAL_MOCK": "count=1,profile=a100-80g"}
    ended = site.run("partitions", "--device", "mock:0", "--json", **mock)
    assert ended.code == 0, ended.err
    assert ended.document["partitions"] == []
