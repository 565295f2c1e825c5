"""Rows handed out piece by piece: each once, whoever comes, and whoever is lost."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from accelhal.errors import UsageError
from accelhal.parallel.splitting.pieces import Pieces, Worker

WORKERS = st.lists(
    st.builds(Worker, st.just(None), st.floats(0.05, 1), st.integers(1, 40)), min_size=1, max_size=5
)


def named(workers: list[Worker]) -> list[Worker]:
    return [Worker(place, one.weight, one.least) for place, one in enumerate(workers)]


@given(st.data(), st.integers(0, 600), WORKERS, st.sampled_from(["static", "guided", "pull"]))
def test_rows_are_neither_lost_nor_doubled(data, rows, workers, manner):
    pieces = Pieces(rows, named(workers), manner)
    alive = list(range(len(workers)))
    done: list[int] = []
    while pieces.left:
        device = data.draw(st.sampled_from(alive))
        part = pieces.take(device)
        if part is None:
            assert pieces.left  # promised to another
            continue
        assert part.rows > 0
        if len(alive) > 1 and data.draw(st.booleans()):  # it is lost with the part
            pieces.drop(device)
            pieces.put_back(part)
            alive.remove(device)
        else:
            done += range(part.start, part.stop)
    assert sorted(done) == list(range(rows))
    assert all(pieces.take(device) is None for device in alive)


def test_guided_hands_out_most_by_weight_and_then_less_and_less():
    pieces = Pieces(256, [Worker("a", 1.0), Worker("b", 0.5)], "guided")
    assert [pieces.take("a").rows, pieces.take("b").rows] == [128, 64]
    sizes = []
    while (part := pieces.take("a")) is not None:
        sizes.append(part.rows)
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == 43
    assert sum(sizes) == 64


def test_no_piece_is_smaller_than_its_launch_is_worth():
    pieces = Pieces(256, [Worker("a", 1.0, 20), Worker("b", 1.0, 20)], "guided")
    for device in "ab":
        pieces.take(device)
    sizes = []
    while (part := pieces.take("a")) is not None:
        sizes.append(part.rows)
    assert min(sizes) >= 10
    assert sum(sizes) == 64


def test_static_gives_one_part_each():
    pieces = Pieces(9, [Worker("a", 2), Worker("b", 1)], "static")
    part = pieces.take("a")
    assert (part.start, part.stop, part.device) == (0, 6, "a")
    assert pieces.take("a") is None
    assert pieces.take("b").rows == 3


def test_a_stranger_gets_nothing():
    with pytest.raises(UsageError, match="c is not among the devices"):
        Pieces(4, [Worker("a", 1)], "pull").take("c")
