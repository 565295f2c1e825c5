"""Nests of tensors: their rows counted, cut and joined; what has none is named."""

from __future__ import annotations

from collections import namedtuple

import pytest
import torch
from hypothesis import given, strategies as st

from accelhal.errors import UsageError
from accelhal.parallel.splitting.rows import cut, join, row_count

Pair = namedtuple("Pair", "ids mask")


def nest(rows: int):
    return {
        "x": torch.arange(rows * 2.0).view(rows, 2),
        "pair": Pair(torch.arange(rows), [torch.arange(rows) % 2 == 0]),
        "none": None,
    }


@given(st.lists(st.integers(0, 9), min_size=1, max_size=5).filter(sum))
def test_what_is_cut_is_joined_again(counts):
    rows = sum(counts)
    whole = nest(rows)
    assert row_count(whole) == rows
    ends = [sum(counts[: place + 1]) for place in range(len(counts))]
    parts = [cut(whole, end - count, end) for end, count in zip(ends, counts, strict=True)]
    again = join(parts, counts)
    assert type(again["pair"]) is Pair
    torch.testing.assert_close(again["x"], whole["x"])
    torch.testing.assert_close(again["pair"].ids, whole["pair"].ids)
    torch.testing.assert_close(again["pair"].mask, whole["pair"].mask)
    assert again["none"] is None


def test_what_has_no_rows_stays_whole():
    batch = (torch.ones(4, 2), torch.tensor(3.0), "text", 7)
    assert row_count(batch) == 4
    x, scale, text, number = cut(batch, 1, 3)
    assert (len(x), scale.item(), text, number) == (2, 3.0, "text", 7)


@pytest.mark.parametrize(
    ("batch", "reason"),
    [
        ((torch.ones(4), torch.ones(3)), r"shapes \[\[4\], \[3\]\]"),
        (torch.tensor(1.0), "no tensor that has any"),
        ("text", "no tensor that has any"),
        (torch.eye(4).to_sparse(), "layout torch.sparse_coo"),
        (
            [torch.ones(2), torch.nested.nested_tensor([torch.ones(2)] * 2, layout=torch.jagged)],
            "layout nested",
        ),
    ],
)
def test_a_batch_without_rows_is_refused(batch, reason):
    with pytest.raises(UsageError, match=reason):
        row_count(batch)


@pytest.mark.parametrize(
    ("outputs", "reason"),
    [
        ([torch.tensor(1.0), torch.tensor(2.0)], "without dimensions"),
        ([torch.ones(3), torch.ones(2)], r"2 rows gave an output of shape \[3\]"),
        ([torch.ones(2), (torch.ones(2),)], "differ in structure"),
        (["a", "b"], "'a', which has no rows"),
    ],
)
def test_an_output_without_a_row_for_each_is_refused(outputs, reason):
    with pytest.raises(UsageError, match=reason):
        join(outputs, [2, 2])
