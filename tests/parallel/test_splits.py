"""Shares become whole features: exact, complete, the same everywhere."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, strategies as st

from accelhal.errors import UsageError
from accelhal.parallel.splits import split_sizes


@pytest.mark.parametrize(
    ("total", "ranks", "shares", "multiple_of", "sizes", "even"),
    [
        (9, 2, [2, 1], 1, (6, 3), False),
        (101, 2, [2, 1], 1, (67, 34), False),
        (101, 2, [1, 0.5], 1, (67, 34), False),
        (101, 2, [1, 0.8], 1, (56, 45), False),
        (101, 2, None, 1, (51, 50), True),
        (12, 2, [1, 1], 1, (6, 6), True),
        (5, 4, None, 1, (2, 1, 1, 1), False),  # torch.chunk would leave rank 3 nothing
        (40, 2, None, 8, (24, 16), False),  # five heads of 8
        (48, 2, None, 8, (24, 24), True),
        (10, 3, [1, 1, 1], 1, (4, 3, 3), False),  # torch.chunk: 4, 4, 2
    ],
)
def test_known_divisions(total, ranks, shares, multiple_of, sizes, even) -> None:
    split = split_sizes(total, ranks, shares, multiple_of)
    assert (split.sizes, split.even) == (sizes, even)


@given(
    units=st.integers(1, 500),
    multiple_of=st.integers(1, 16),
    shares=st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=8),
)
def test_every_feature_goes_to_one_rank_and_near_to_its_share(units, multiple_of, shares) -> None:
    try:
        split = split_sizes(units * multiple_of, len(shares), shares, multiple_of)
    except UsageError:
        ideal = [units * share / sum(shares) for share in shares]
        assert min(ideal) < 1
        return
    assert split.total == units * multiple_of
    for rank, (size, share) in enumerate(zip(split.sizes, shares, strict=True)):
        assert size % multiple_of == 0
        assert abs(size / multiple_of - units * share / sum(shares)) < 1 + 1e-6
        assert split.start(rank) == sum(split.sizes[:rank])


@given(total=st.integers(1, 300), ranks=st.integers(1, 9))
def test_without_shares_it_is_torchs_chunk_where_each_rank_gets_one(total, ranks) -> None:
    chunks = [len(chunk) for chunk in torch.arange(total).chunk(ranks)]
    if total < ranks:
        with pytest.raises(UsageError, match="too few"):
            split_sizes(total, ranks)
        return
    split = split_sizes(total, ranks)
    assert split.even == (len(chunks) == ranks)
    if split.even:
        assert list(split.sizes) == chunks
    else:
        assert max(split.sizes) - min(split.sizes) <= 1


@pytest.mark.parametrize(
    "shares", [[1, 0], [1, -1], [1, float("nan")], [1, float("inf")], ["1", 2], [None, 1]]
)
def test_what_is_no_share_is_refused(shares) -> None:
    with pytest.raises(UsageError, match="are no shares"):
        split_sizes(8, 2, shares)


def test_a_dimension_that_is_no_multiple_is_refused() -> None:
    with pytest.raises(UsageError, match="10 features are not a multiple of 4"):
        split_sizes(10, 2, None, 4)
