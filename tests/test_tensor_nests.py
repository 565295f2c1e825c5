"""Nests of tensors move whole, of whatever classes they are made."""

from __future__ import annotations

from collections import OrderedDict, UserDict, namedtuple

import pytest
import torch
from torch.nn.utils.rnn import PackedSequence, pack_sequence

from accelhal.tensor_nests import moved

Pair = namedtuple("Pair", "x y")


class Fields(dict):
    """A mapping of a class of its own."""


class Encoding(UserDict):
    """As tokenizers return: more than its items."""

    def __init__(self, data: dict, spans: list[int]) -> None:
        super().__init__(data)
        self.spans = spans


class Quantity:
    """Has a `to` that means something else."""

    def to(self, unit: str) -> None:
        raise ValueError(unit)


@pytest.mark.parametrize(
    "nest",
    [
        [torch.ones(2)],
        (torch.ones(2), "text"),
        Pair(torch.ones(2), None),
        {"a": [torch.ones(2)]},
        OrderedDict(a=torch.ones(2)),
        Fields(a=Fields(b=torch.ones(2))),
        Encoding({"a": torch.ones(2)}, [1]),
    ],
    ids=lambda nest: type(nest).__name__,
)
def test_tensors_of_every_nest_are_moved_and_the_nest_is_not_changed(nest):
    def tensors(one) -> list[torch.Tensor]:
        if isinstance(one, torch.Tensor):
            return [one]
        if isinstance(one, (str, type(None))):
            return []
        return [
            t for part in (one.values() if hasattr(one, "values") else one) for t in tensors(part)
        ]

    there = moved(nest, "meta")
    assert type(there) is type(nest)
    assert [one.device.type for one in tensors(there)] == ["meta"]
    assert [one.device.type for one in tensors(nest)] == ["cpu"]
    if isinstance(nest, Encoding):
        assert there.spans == [1]


def test_batches_that_move_themselves_do():
    packed = pack_sequence([torch.ones(3), torch.ones(2)])
    there = moved({"packed": packed}, "meta")["packed"]
    assert type(there) is PackedSequence
    assert there.data.device.type == "meta"
    assert there.batch_sizes.device.type == "cpu"  # as torch wants it


def test_what_is_no_tensor_stays_as_it_is():
    leaf = Quantity()
    assert moved([leaf], "meta")[0] is leaf
