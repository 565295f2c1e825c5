"""Whether ranks fit together, told from what they say of themselves."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from accelhal.distributed.introductions import Introduction, check_fit, rank_list
from accelhal.errors import DistributedError


def rank(number: int, **fields: str) -> Introduction:
    base = Introduction(number, "host", f"npu:{number}", "npu", "hccl", board=f"uuid {number}")
    return replace(base, **fields)


def test_ranks_on_boards_of_their_own_fit() -> None:
    check_fit([rank(0), rank(1), rank(2, host="other", board="uuid 0")])


def test_processors_are_shared() -> None:
    check_fit([Introduction(n, "host", "cpu:0", "cpu", "gloo") for n in range(8)])


def test_boards_that_nobody_can_tell_apart_are_let_through() -> None:
    check_fit([rank(0, board=""), rank(1, board="")])


def test_vendors_do_not_mix() -> None:
    others = [rank(n, backend="cuda", library="nccl") for n in (1, 2, 4)]
    with pytest.raises(DistributedError) as told:
        check_fit([rank(0), *others, rank(3)])
    assert "ranks 0, 3 on npu (hccl); ranks 1-2, 4 on cuda (nccl)" in told.value.message
    assert told.value.hint is not None
    assert 'init("cpu")' in told.value.hint


def test_two_ranks_on_one_board_are_refused() -> None:
    with pytest.raises(DistributedError, match="ranks 1-2 are on one board of host: uuid same"):
        check_fit([rank(0), rank(1, board="uuid same"), rank(2, board="uuid same")])


def test_slices_of_one_board_are_refused() -> None:
    slices = [rank(n, board=f"uuid MIG-{n}", whole="uuid GPU-7") for n in range(2)]
    with pytest.raises(
        DistributedError, match="ranks 0-1 are on slices of one board of host: uuid GPU-7"
    ):
        check_fit(slices)
    check_fit([slices[0], replace(slices[1], whole="uuid GPU-8")])
    with pytest.raises(DistributedError, match="slices of one board"):
        check_fit([slices[0], rank(1, board="uuid GPU-7")])  # the board itself, and a slice of it


def test_an_introduction_travels_and_fields_may_be_added() -> None:
    text = rank(3).to_json()
    assert Introduction.from_json(text) == rank(3)
    assert Introduction.from_json(text[:-1] + ', "newer": 1}') == rank(3)


@given(st.sets(st.integers(0, 40), min_size=1))
def test_lists_of_ranks_name_each_once(numbers: set[int]) -> None:
    word, _, text = rank_list(numbers).partition(" ")
    assert word == ("rank" if len(numbers) == 1 else "ranks")
    named = set()
    for run in text.split(", "):
        first, _, last = run.partition("-")
        named |= set(range(int(first), int(last or first) + 1))
    assert named == numbers
