"""The boards of a host and how near each two are: the matrix, the groups, the best few."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from accelhal.errors import UsageError
from accelhal.facts import BoardInfo, Relation

_RANK: Mapping[Relation | None, int] = {
    relation: rank for rank, relation in enumerate((*Relation, None))
}
"""Nearest first; what nobody can tell ranks last."""

_EXACT_LIMIT = 20_000
"""Subsets that are looked at one by one; C(16, 8) is 12 870. Larger choices grow from a seed."""


@dataclass(frozen=True)
class Topology:
    """Boards, and how near each two are.

    Attributes:
        boards: the boards, in the order that `accelhal.boards()` lists them.
        relations: (i, j) with i < j, positions in `boards` -> how near; None where it is unknown.
        unknown: why relations are unknown; empty where all are known.
    """

    boards: tuple[BoardInfo, ...]
    relations: Mapping[tuple[int, int], Relation | None]
    unknown: str = ""

    def relation(self, one: int, other: int) -> Relation | None:
        """How near two boards are, by their positions; a board is BOARD to itself."""
        if one == other:
            return Relation.BOARD
        return self.relations[min(one, other), max(one, other)]

    def matrix(self) -> list[list[Relation | None]]:
        """A row for each board, in their order."""
        places = range(len(self.boards))
        return [[self.relation(one, other) for other in places] for one in places]

    def groups(self, within: Relation) -> list[list[int]]:
        """Positions of boards that are at most `within` apart, directly or over others.

        Every board is in one group; a board near to none is a group of its own.
        """
        groups: list[list[int]] = []
        for place in range(len(self.boards)):
            near = [group for group in groups if any(self._near(place, p, within) for p in group)]
            groups = [group for group in groups if group not in near]
            groups.append(sorted([place, *(p for group in near for p in group)]))
        return sorted(groups)

    def best_subset(self, count: int) -> list[int]:
        """Positions of the `count` boards that are nearest to one another.

        The farthest pair decides, then the sum over all pairs, then the lower positions.

        Raises:
            UsageError: there are not so many boards.
        """
        if not 0 <= count <= len(self.boards):
            raise UsageError(
                f"{count} of {len(self.boards)} boards cannot be chosen",
                operation="best_subset",
                hint=f"ask for 0 to {len(self.boards)}",
            )
        places = range(len(self.boards))
        if math.comb(len(places), count) <= _EXACT_LIMIT:
            return list(min(combinations(places, count), key=self._cost))
        return list(min((self._grown(seed, count) for seed in places), key=self._cost))

    def _near(self, one: int, other: int, within: Relation) -> bool:
        return _RANK[self.relation(one, other)] <= _RANK[within]

    def _cost(self, places: Iterable[int]) -> tuple[int, int, tuple[int, ...]]:
        places = tuple(places)
        ranks = [_RANK[self.relation(one, other)] for one, other in combinations(places, 2)]
        return max(ranks, default=0), sum(ranks), places

    def _grown(self, seed: int, count: int) -> tuple[int, ...]:
        chosen = [seed]
        rest = [place for place in range(len(self.boards)) if place != seed]
        while len(chosen) < count:
            nearest = min(rest, key=lambda place: self._distance(place, chosen))
            chosen.append(nearest)
            rest.remove(nearest)
        return tuple(sorted(chosen))

    def _distance(self, place: int, chosen: Sequence[int]) -> tuple[int, int]:
        ranks = [_RANK[self.relation(place, other)] for other in chosen]
        return max(ranks), sum(ranks)
