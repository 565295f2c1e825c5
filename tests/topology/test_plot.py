"""The plot of a topology: every board, its node, and every relation that occurs."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import matplotlib as mpl
import pytest
from topology.pci_tree import board

from accelhal.errors import UsageError
from accelhal.facts import Relation
from accelhal.topology import Topology
from accelhal.topology.plot import draw


@pytest.fixture(autouse=True)
def words_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(mpl.rcParams, "svg.fonttype", "none")


def host(count: int, nodes: int | None = 2) -> Topology:
    boards = tuple(
        replace(
            board(f"0000:{number:02x}:00.0"),
            numa_node=None if nodes is None else number * nodes // count,
        )
        for number in range(count)
    )
    relations = list(Relation)
    pairs = combinations(range(count), 2)
    return Topology(boards, {pair: relations[sum(pair) % 7] for pair in pairs})


@pytest.mark.parametrize("count", [1, 2, 8, 16, 64])
def test_every_board_is_named(tmp_path: Path, count: int) -> None:
    path = tmp_path / "topo.svg"
    draw(host(count), path, "seen in a.txt")
    text = path.read_text()
    for number in range(count):
        assert f"0000:{number:02x}:00.0" in text
    assert "seen in a.txt" in text
    assert ("NUMA 1" in text) == (count > 1)


def test_the_legend_holds_what_occurs(tmp_path: Path) -> None:
    path = tmp_path / "topo.svg"
    found = host(3)
    draw(replace(found, relations={**found.relations, (0, 1): None}, unknown="why not"), path)
    text = path.read_text()
    shown = [r.value.upper() for r in Relation if f">{r.value.upper()}<" in text]
    assert shown == ["PIX", "PXB"]
    assert "why not" in text


def test_boards_of_no_known_node(tmp_path: Path) -> None:
    draw(host(4, nodes=None), tmp_path / "topo.svg")
    assert "NUMA" not in (tmp_path / "topo.svg").read_text()


def test_a_png(tmp_path: Path) -> None:
    draw(host(2), tmp_path / "topo.png")
    assert (tmp_path / "topo.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_nothing_to_draw(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing to plot"):
        draw(Topology((), {}), tmp_path / "topo.png")
