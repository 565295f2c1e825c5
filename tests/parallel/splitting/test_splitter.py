"""BatchSplitter: who gets how much, what it learns, and the weight of gradients."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch

from accelhal.errors import DeviceLostError, UsageError
from accelhal.facts import BoardKey, Partition
from accelhal.parallel.splitting import BatchSplitter


def counts(splitter: BatchSplitter, rows: int) -> list[int]:
    return [part.rows for part in splitter.split(rows)]


def run(splitter: BatchSplitter, seconds_per_row: dict, steps: int = 6, rows: int = 90) -> None:
    for _ in range(steps):
        for part in splitter.split(rows):
            splitter.observe(part.device, part.rows, part.rows * seconds_per_row[part.device])


def test_equal_is_blind_to_speeds_and_weighted_to_what_is_observed():
    for policy, expected in (("equal", [45, 45]), ("weighted", [60, 30])):
        splitter = BatchSplitter(["a", "b"], policy, speeds=[2, 1])
        run(splitter, {"a": 1.0, "b": 9.0})
        assert counts(splitter, 90) == expected


@pytest.mark.parametrize("policy", ["ewma", "auto"])
def test_observed_speeds_are_followed_and_a_wrong_profile_forgotten(policy):
    splitter = BatchSplitter(["a", "b"], policy, speeds=[1, 2])
    run(splitter, {"a": 0.5, "b": 1.0})
    assert counts(splitter, 90) == [60, 30]


def test_what_was_not_observed_counts_by_its_profile():
    splitter = BatchSplitter(["a", "b", "c"], "ewma", speeds=[2, 1, 1], warmup=0)
    splitter.observe("a", 10, 10.0)
    assert counts(splitter, 100) == [50, 25, 25]


def test_a_partition_counts_by_its_share():
    def slice_of(share: float | None) -> Partition:
        key = BoardKey("mock", "uuid", f"slice-{share}")
        return Partition(key, BoardKey("mock", "uuid", "board"), "profile", compute_share=share)

    assert counts(BatchSplitter([slice_of(3 / 7), slice_of(1 / 7)]), 40) == [30, 10]
    assert counts(BatchSplitter(["board", slice_of(0.25), slice_of(None)]), 90) == [40, 10, 40]


def test_a_slow_device_is_never_left_out_and_comes_back():
    splitter = BatchSplitter(["a", "b"], "ewma", warmup=0)
    run(splitter, {"a": 1.0, "b": 100.0}, steps=40)
    assert counts(splitter, 90) == [89, 1]
    run(splitter, {"a": 1.0, "b": 1.0}, steps=60)
    assert abs(counts(splitter, 90)[0] - 45) <= 1


@pytest.mark.parametrize(
    ("rows", "expected"), [(0, [0, 0, 0]), (1, [1, 0, 0]), (2, [1, 1, 0]), (4, [2, 1, 1])]
)
def test_small_batches(rows, expected):
    parts = BatchSplitter(range(3)).split(rows)
    assert [part.rows for part in parts] == expected
    assert parts.total == rows


def test_a_batch_is_cut_into_views_in_order():
    batch = {"x": torch.arange(6), "scale": torch.tensor(2.0)}
    parts = BatchSplitter(["a", "b"], speeds=[2, 1]).split(batch)
    assert [part.value["x"].tolist() for part in parts] == [[0, 1, 2, 3], [4, 5]]
    assert parts[1].value["scale"].item() == 2.0
    assert parts.of("b").value["x"].data_ptr() == batch["x"][4:].data_ptr()


def test_gradients_weigh_by_rows():
    splitter = BatchSplitter(["a", "b"], speeds=[2, 1])
    splitter.split(96)
    assert [splitter.grad_scale(one) for one in "ab"] == pytest.approx([4 / 3, 2 / 3])
    assert splitter.grad_scale("b", "sum") == pytest.approx(2 / 96)
    splitter.split(1)
    assert splitter.grad_scale("a") == 2.0
    assert splitter.grad_scale("b", "sum") == 2.0
    with pytest.raises(UsageError, match="b has no rows of this batch"):
        splitter.grad_scale("b")
    with pytest.raises(UsageError, match="not a reduction"):
        splitter.grad_scale("a", "max")


def test_a_removed_device_gets_nothing_more():
    splitter = BatchSplitter(["a", "b", "c"], "ewma", speeds=[2, 1, 1])
    splitter.remove("a")
    assert [(part.device, part.rows) for part in splitter.split(8)] == [("b", 4), ("c", 4)]
    splitter.remove("b")
    with pytest.raises(DeviceLostError, match="c was the last"):
        splitter.remove("c")


@pytest.mark.parametrize(
    ("launch", "jitter", "chosen"),
    [(0.01, 0.05, "guided"), (8.0, 0.05, "ewma"), (8.0, 0.5, "guided"), (0.1, 0.0, "ewma")],
)
def test_auto_takes_guided_where_launches_cost_less_than_jitter(launch, jitter, chosen):
    splitter = BatchSplitter(["a", "b"], "auto", warmup=0)
    for step in range(8):
        slow = 1 + jitter * (-1) ** step
        pieces = splitter.pieces(256)
        while pieces.left:
            for one in "ab":
                if (part := pieces.take(one)) is not None:
                    splitter.observe(one, part.rows, (launch + part.rows) * slow)
    assert splitter.chosen(256) == chosen


def test_numbers_of_other_libraries_count():
    splitter = BatchSplitter(["a", "b"], speeds=[Fraction(1, 3), np.float32(2 / 3)], warmup=0)
    assert counts(splitter, np.int64(9)) == [3, 6]
    splitter.observe("a", np.int64(4), np.float32(2.0))
    splitter.observe("b", 4, Fraction(4))
    assert counts(splitter, 9) == [6, 3]


@pytest.mark.parametrize("speeds", [(1e308, 1e308), (5e-324, 5e-324)])
def test_speeds_may_be_in_any_unit(speeds):
    assert counts(BatchSplitter(["a", "b"], "weighted", speeds=speeds), 10) == [5, 5]


def test_a_time_that_no_clock_measures_says_nothing():
    splitter = BatchSplitter(["a", "b"], "ewma", warmup=0)
    for seconds in (0, 5e-324):
        splitter.observe("a", 10, seconds)
    assert counts(splitter, 10) == [5, 5]
    assert splitter.expected_seconds("a", 10) is None


def test_a_policy_is_not_changed_under_way():
    splitter = BatchSplitter(["a", "b"], "ewma")
    with pytest.raises(AttributeError):
        splitter.policy = "gueded"
    assert splitter.policy == "ewma"


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: BatchSplitter([]), "there must be a device"),
        (lambda: BatchSplitter("mock"), "'mock' is not a list of devices"),
        (lambda: BatchSplitter(2), "2 is not a list of devices"),
        (lambda: BatchSplitter(["a", "b"], speeds=2), r"\[2\] are no speeds"),
        (lambda: BatchSplitter(["a", "b"]).observe("a", True, 1.0), "rows must be"),
        (lambda: BatchSplitter(["a", "a"]), "named twice"),
        (lambda: BatchSplitter(["a", "b"], "best"), "'best' is not a policy"),
        (lambda: BatchSplitter(["a", "b"], alpha=0), "alpha"),
        (lambda: BatchSplitter(["a", "b"], alpha=float("nan")), "alpha"),
        (lambda: BatchSplitter(["a", "b"], speeds=[1]), r"\[1\] are no speeds of 2 devices"),
        (lambda: BatchSplitter(["a", "b"], speeds=[1, 0]), "no speeds"),
        (lambda: BatchSplitter(["a", "b"], warmup=-1), "warmup"),
        (lambda: BatchSplitter(["a", "b"]).split(-1), "-1 rows"),
        (lambda: BatchSplitter(["a", "b"], "guided").split(4), "whichever device is free"),
        (lambda: BatchSplitter(["a", "b"], "pull").split(4), "whichever device is free"),
        (lambda: BatchSplitter(["a", "b"]).observe("c", 1, 1.0), "c is not a device"),
        (lambda: BatchSplitter(["a", "b"]).observe("a", -1, 1.0), "rows must be"),
        (lambda: BatchSplitter(["a", "b"]).observe("a", 1, float("inf")), "seconds must be"),
        (lambda: BatchSplitter(["a", "b"]).grad_scale("a"), "nothing was split"),
        (lambda: BatchSplitter(["a", "b"]).split(4).of("c"), "c is not among"),
    ],
)
def test_misuse_is_named(make, reason):
    with pytest.raises(UsageError, match=reason):
        make()
