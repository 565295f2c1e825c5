"""Rows divided by weights: all of them, near their shares, nobody without."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from accelhal.parallel.splitting.apportionment import apportion

WEIGHTS = st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=9)


@given(st.integers(0, 5000), WEIGHTS)
def test_all_rows_are_given_and_nobody_goes_without(rows, weights):
    counts = apportion(rows, weights)
    assert sum(counts) == rows
    assert min(counts) >= (1 if rows >= len(weights) else 0)


@given(st.integers(100, 5000), st.lists(st.floats(0.2, 5), min_size=1, max_size=4))
def test_each_is_within_a_row_of_its_share(rows, weights):
    for count, weight in zip(apportion(rows, weights), weights, strict=True):
        assert abs(count - rows * weight / sum(weights)) < 1


@pytest.mark.parametrize(
    ("rows", "weights", "counts"),
    [
        (9, [2, 1], [6, 3]),
        (96, [1, 0.5], [64, 32]),
        (3, [1, 1, 1, 1], [1, 1, 1, 0]),
        (1, [1, 3], [0, 1]),
        (0, [1, 1], [0, 0]),
        (4, [1000, 1, 1], [2, 1, 1]),
    ],
)
def test_rows(rows, weights, counts):
    assert apportion(rows, weights) == counts
