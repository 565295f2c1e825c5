"""Reading a call's arguments as a batch, padding them, and finding the batch in an output."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, strategies as st

from accelhal.errors import UnsupportedError, UsageError
from accelhal.graphs.batch import Batch, read_batch
from accelhal.graphs.outputs import compare_outputs

CPU = torch.device("cpu")


def batch_of(*args: Any, **kwargs: Any) -> Batch:
    return read_batch(args, kwargs, CPU)


@given(rows=st.integers(1, 6), extra=st.integers(0, 5), width=st.integers(0, 3))
def test_padding_repeats_the_last_row(rows: int, extra: int, width: int) -> None:
    x = torch.arange(float(rows * width)).reshape(rows, width)
    (buffer,) = batch_of(x).buffers(rows + extra)
    expected = torch.cat([x, x[-1:].expand(extra, width)])
    assert torch.equal(buffer, expected)
    assert buffer.data_ptr() != x.data_ptr() or not width


def test_parts_and_arguments_put_a_call_together_again() -> None:
    x, y, scalar = torch.arange(4.0), torch.arange(8).reshape(4, 2), torch.tensor(3.0)
    batch = batch_of(x, [y, {"a": 1}], None, scalar=scalar, flag=True)
    assert batch.rows == 4
    assert batch.described() == ("float32[], int64[2], 1, None, scalar=float32[], flag=True")
    args, kwargs = batch.arguments(batch.part(1, 3).leaves)
    assert torch.equal(args[0], x[1:3])
    assert torch.equal(args[1][0], y[1:3])
    assert args[1][1] == {"a": 1}
    assert args[2] is None
    assert kwargs == {"scalar": scalar, "flag": True}


def test_calls_that_one_graph_serves_have_one_key() -> None:
    x = torch.ones(2, 3)
    same = batch_of(x, flag=True).key
    assert batch_of(torch.zeros(5, 3), flag=True).key == same
    for other in (
        batch_of(x, flag=1),
        batch_of(x, flag=False),
        batch_of(x, flags=True),
        batch_of(x.double(), flag=True),
        batch_of(torch.ones(2, 4), flag=True),
        batch_of([x], flag=True),
        batch_of(x, x, flag=True),
        batch_of(x),
    ):
        assert other.key != same
    assert batch_of(x, float("nan")).key == batch_of(x, float("nan")).key
    assert batch_of(x, 0.0).key != batch_of(x, -0.0).key


class Settings:
    """Stays equal to itself whatever it holds."""

    def __init__(self) -> None:
        self.scale = 2.0


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "no argument is a tensor with a row"),
        ((torch.tensor(1.0),), "no argument is a tensor with a row"),
        ((torch.ones(0, 3),), "the batch has no rows"),
        ((torch.ones(2), torch.ones(3)), "argument 1 has 3 rows where .* 2"),
        ((torch.ones(2), object.__new__(type("Odd", (), {"__hash__": None}))), "cannot be told"),
        ((torch.ones(2), Settings()), "argument 1 is a Settings, in which changes go unseen"),
        ((torch.ones(2, device="meta"),), "argument 0 lies on meta, not on cpu"),
    ],
)
def test_what_is_no_batch(args: tuple[Any, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        batch_of(*args)


def test_unbatched_arguments_keep_their_shape() -> None:
    mask = torch.ones(7)
    batch = read_batch((torch.ones(2, 3), mask), {}, CPU, unbatched=(1,))
    assert (batch.rows, batch.batched) == (2, (True, False))
    assert batch.part(0, 1).leaves[1] is mask
    assert batch.buffers(4)[1].shape == (7,)


@given(
    size=st.integers(1, 5),
    rows=st.integers(1, 5),
    at=st.integers(0, 2),
    others=st.tuples(st.integers(0, 5), st.integers(0, 5)),
)
def test_the_batch_is_found_in_whatever_dimension_it_is(
    size: int, rows: int, at: int, others: tuple[int, int]
) -> None:
    if size == rows:
        return

    def output(length: int) -> torch.Tensor:
        shape = list(others)
        shape.insert(at, length)
        return torch.zeros(shape)

    shape = compare_outputs([output(size), 3], size, [output(rows), 3], rows)
    assert shape.rows_at == (at, None)
    assert shape.whole == ()
    cut = shape.cut([output(size), 3], 1, size)
    assert cut[0].shape == output(1).shape
    joined = shape.joined([[output(size), 3], [output(rows), 3]])
    assert joined[0].shape == output(size + rows).shape
    assert joined[1] == 3


def test_outputs_in_which_no_dimension_is_the_batch() -> None:
    for full, other in (
        (torch.ones(8), torch.ones(6)),  # two for each row
        (torch.ones(4, 4), torch.ones(3, 3)),  # the batch twice
        (torch.ones(4, 1), torch.ones(3)),
        ([torch.ones(1)] * 4, [torch.ones(1)] * 3),  # a list of rows
        (Settings(), Settings()),  # whatever it holds
        (iter(()), iter(())),
    ):
        with pytest.raises(UnsupportedError):
            compare_outputs(full, 4, other, 3)


def test_values_that_depend_on_the_batch_are_given_for_exact_sizes_alone() -> None:
    shape = compare_outputs((4, "same", None), 4, (3, "same", None), 3)
    assert shape.whole == (0,)
    with pytest.raises(UnsupportedError, match=r"output 0 .* padding may change it"):
        shape.check_rows("padding")
