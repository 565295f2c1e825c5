"""Groups and subsets follow the matrix."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, strategies as st
from topology.pci_tree import board

from accelhal.errors import UsageError
from accelhal.facts import Relation
from accelhal.topology import Topology

RANKED = [*Relation, None]


def topology(size: int, relations: dict[tuple[int, int], Relation | None]) -> Topology:
    everything = {pair: relations.get(pair, Relation.SYS) for pair in combinations(range(size), 2)}
    return Topology(tuple(board(None, str(n)) for n in range(size)), everything)


@st.composite
def topologies(draw: st.DrawFn) -> Topology:
    size = draw(st.integers(0, 7))
    pairs = list(combinations(range(size), 2))
    drawn = draw(st.lists(st.sampled_from(RANKED), min_size=len(pairs), max_size=len(pairs)))
    return topology(size, dict(zip(pairs, drawn, strict=True)))


def worst(found: Topology, places: list[int]) -> int:
    return max((RANKED.index(found.relation(a, b)) for a, b in combinations(places, 2)), default=0)


@given(topologies())
def test_the_matrix_is_symmetric_and_each_board_is_itself(found: Topology) -> None:
    matrix = found.matrix()
    for one, row in enumerate(matrix):
        assert row[one] is Relation.BOARD
        assert row == [matrix[other][one] for other in range(len(matrix))]


@given(topologies(), st.sampled_from(list(Relation)))
def test_groups_cover_every_board_once_and_are_near(found: Topology, within: Relation) -> None:
    groups = found.groups(within)
    assert sorted(place for group in groups for place in group) == list(range(len(found.boards)))
    for one, other in combinations(groups, 2):
        near = {found.relation(a, b) for a in one for b in other}
        assert all(RANKED.index(r) > RANKED.index(within) for r in near)


@given(topologies(), st.data())
def test_no_subset_is_nearer_than_the_best(found: Topology, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, len(found.boards)))
    best = found.best_subset(count)
    assert len(best) == len(set(best)) == count
    others = combinations(range(len(found.boards)), count)
    assert worst(found, best) == min(worst(found, list(places)) for places in others)


def test_two_boards_of_one_switch_go_before_two_of_one_node() -> None:
    found = topology(4, {(0, 1): Relation.NODE, (1, 3): Relation.PIX})
    assert found.best_subset(2) == [1, 3]
    assert found.groups(Relation.PIX) == [[0], [1, 3], [2]]
    assert found.groups(Relation.NODE) == [[0, 1, 3], [2]]


def test_a_large_host_grows_its_subset() -> None:
    islands = {
        pair: Relation.LINK for pair in combinations(range(64), 2) if pair[0] // 8 == pair[1] // 8
    }
    assert topology(64, islands).best_subset(8) == list(range(8))


@pytest.mark.parametrize("count", [-1, 3])
def test_more_boards_than_there_are(count: int) -> None:
    with pytest.raises(UsageError, match="of 2 boards cannot be chosen"):
        topology(2, {}).best_subset(count)
