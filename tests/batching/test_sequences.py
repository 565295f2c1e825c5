"""Sequences: padding, ragged batches, buckets, budgets, and what a batch mate must not change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from hypothesis import given, settings, strategies as st

from accelhal.batching import DynamicBatcher, ReleaseReason
from accelhal.batching.lengths import LengthBuckets
from accelhal.errors import UsageError

from .conftest import LIMIT

Make = Callable[..., DynamicBatcher]


class Attending(torch.nn.Module):
    """A small encoder with a mask: one output a sequence, and one for each entry."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embedding = torch.nn.Embedding(50, 16)
        self.layer = torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, dropout=0.0)

    def forward(self, ids: torch.Tensor, *, mask: torch.Tensor) -> torch.Tensor:
        return self.layer(self.embedding(ids), src_key_padding_mask=~mask)


ENCODER = Attending().eval()


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """torch with one thread: each batcher's lane would start a pool of its own."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@settings(max_examples=20)
@given(
    lengths=st.lists(st.integers(1, 24), min_size=1, max_size=12),
    pad_value=st.sampled_from([0, 1, 49]),
    ratio=st.sampled_from([None, "geometric:1.4", "geometric:2", [8, 16]]),
)
def test_a_sequences_result_does_not_depend_on_its_batch_mates(
    lengths: list[int], pad_value: int, ratio: Any
) -> None:
    generator = torch.Generator().manual_seed(sum(lengths))
    values = [torch.randint(0, 50, (n,), generator=generator) for n in lengths]
    with torch.no_grad():
        alone = [
            ENCODER(ids.unsqueeze(0), mask=torch.ones(1, len(ids), dtype=torch.bool))[0]
            for ids in values
        ]
        with DynamicBatcher(
            ENCODER,
            collate="pad",
            pad_value=pad_value,
            mask="mask",
            length_buckets=ratio,
            sequence_output=True,
            max_batch_size=5,
        ) as batcher:
            results = batcher.map(values)
    for expected, result in zip(alone, results, strict=True):
        torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-5)


@settings(max_examples=25)
@given(lengths=st.lists(st.integers(1, 30), min_size=1, max_size=16))
def test_a_ragged_sequence_comes_back_as_it_was(lengths: list[int]) -> None:
    def model(values: torch.Tensor, *, offsets: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        assert offsets[-1] == len(values)
        ends = torch.repeat_interleave(offsets[1:], offsets.diff())
        return values * 2, ends - torch.arange(len(values))

    with DynamicBatcher(model, collate="ragged", sequence_output=True, max_batch_size=4) as batcher:
        values = [torch.arange(float(n)) + n for n in lengths]
        for value, (twice, left) in zip(values, batcher.map(values), strict=True):
            assert torch.equal(twice, value * 2)
            assert left.tolist() == list(range(len(value), 0, -1))


def test_ragged_with_one_result_a_sequence(make: Make) -> None:
    def model(values: torch.Tensor, *, offsets: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        sums = torch.zeros(len(n), dtype=values.dtype)
        return sums.index_add(0, torch.repeat_interleave(n), values) / n

    batcher = make(model, collate="ragged", lengths="n")
    values = [torch.full((n,), float(n)) for n in (3, 1, 7, 2)]
    assert [x.item() for x in batcher.map(values)] == [3.0, 1.0, 7.0, 2.0]


def test_sequences_of_about_one_length_share_a_batch(make: Make) -> None:
    shapes = []

    def model(x: torch.Tensor) -> torch.Tensor:
        shapes.append(tuple(x.shape))
        return x.sum(1)

    batcher = make(model, collate="pad", pad_value=0, length_buckets=[8, 64], max_queue_delay=0.05)
    values = [torch.ones(n) for n in (3, 60, 5, 50, 8, 64)]
    assert [x.item() for x in batcher.map(values)] == [3, 60, 5, 50, 8, 64]
    assert all(width <= 8 or rows * width <= 3 * 64 for rows, width in shapes)
    assert {width <= 8 for _, width in shapes} == {True, False}
    assert batcher.drain(LIMIT)
    assert batcher.stats().padding_efficiency > 0.7


def test_the_token_budget_counts_padding(make: Make) -> None:
    shapes = []

    def model(x: torch.Tensor) -> torch.Tensor:
        shapes.append(tuple(x.shape))
        return x.sum(1)

    batcher = make(
        model,
        collate="pad",
        pad_value=0,
        length_buckets=None,
        max_batch_tokens=20,
        max_queue_delay=0.01,
    )
    values = [torch.ones(n) for n in (2, 3, 10, 4, 50, 1, 1, 1)]
    assert [x.item() for x in batcher.map(values)] == [2, 3, 10, 4, 50, 1, 1, 1]
    assert all(rows == 1 or rows * width <= 20 for rows, width in shapes)
    assert batcher.drain(LIMIT)
    reasons = batcher.stats().reasons
    assert ReleaseReason.TOKENS in reasons or ReleaseReason.FULL in reasons


def test_only_named_fields_are_padded(make: Make) -> None:
    def model(x: dict[str, torch.Tensor]) -> torch.Tensor:
        assert x["image"].shape[1:] == (6,)
        return x["ids"].sum(1) + x["image"].sum(1)

    batcher = make(model, collate="pad", pad_value={"ids": 0})
    values = [{"ids": torch.ones(n), "image": torch.ones(6)} for n in (1, 4, 2)]
    assert [x.item() for x in batcher.map(values)] == [7, 10, 8]


def test_captured_sizes_get_captured_widths(make: Make) -> None:
    shapes = []

    def model(x: torch.Tensor) -> torch.Tensor:
        shapes.append(tuple(x.shape))
        return x.sum(1)

    batcher = make(
        model, collate="pad", pad_value=0, length_buckets=[4, 16], allowed_batch_sizes=(2, 4)
    )
    batcher.map([torch.ones(n) for n in (1, 3, 9, 2, 16, 5)])
    assert {width for _, width in shapes} == {4, 16}
    assert {rows for rows, _ in shapes} <= {2, 4}


@pytest.mark.parametrize(
    ("value", "options", "said"),
    [
        (torch.tensor(1.0), {}, "has no field to pad"),
        (torch.ones(3), {"rows": 3}, "several rows"),
        ({"a": torch.ones(3), "b": torch.ones(4)}, {}, "'b' has length 4, another has 3"),
    ],
)
def test_what_is_no_sequence_is_refused(
    make: Make, value: Any, options: dict[str, Any], said: str
) -> None:
    batcher = make(lambda x: x, collate="pad", pad_value=0)
    with pytest.raises(UsageError, match=said):
        batcher.submit(value, **options)


@given(length=st.integers(1, 100_000), ratio=st.floats(1.01, 4.0))
def test_boundaries_are_near_and_never_below(length: int, ratio: float) -> None:
    buckets = LengthBuckets(f"geometric:{ratio}")
    boundary = buckets.boundary(length)
    assert boundary >= length
    assert boundary <= max(length * ratio, length + 1)
    assert buckets.boundary(boundary) == boundary
