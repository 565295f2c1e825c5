"""Runs a share of torch's operator database on a board and on the CPU, and compares.

    python compare.py SHARD SHARDS

Prints one JSON list a line: [operator, outcome, detail]. "begin" stands before each operator, so
that a crash shows where it happened.
"""

import json
import sys
import warnings
from itertools import islice

import accelhal_mock
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_leaves, tree_map

BOARD = "mock:1"
SAMPLES = 3

HOST_ARGUMENTS = {"tensor_split"}
"""Operators whose index tensor lies on the host, whatever the device of the rest."""

UNDEFINED = {"empty", "empty_like", "empty_strided", "empty_permuted", "new_empty"} | {
    "new_empty_strided"
}
"""Operators whose values are whatever lies in memory."""


def full_name(op):
    return f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name


def moved(tensor):
    """A copy on the board; a view keeps its place in its storage."""
    if tensor.layout is not torch.strided:
        return tensor.detach().to(BOARD).requires_grad_(tensor.requires_grad)
    plain = tensor.detach()
    length = plain.untyped_storage().nbytes() // plain.element_size()
    whole = plain.as_strided((length,), (1,), 0).to(BOARD)
    view = whole.as_strided(plain.size(), plain.stride(), plain.storage_offset())
    return view.detach().requires_grad_(tensor.requires_grad)


def on_board(value, op):
    def move(leaf):
        if isinstance(leaf, torch.Tensor):
            return moved(leaf)
        if isinstance(leaf, torch.device) or leaf == "cpu":
            return BOARD
        return leaf

    if op.name in HOST_ARGUMENTS and value is not None and isinstance(value, tuple):
        return value
    return tree_map(move, value)


def gradients(output, inputs):
    """Gradients of the inputs for a sum over all differentiable outputs."""
    outputs = [
        leaf
        for leaf in tree_leaves(output)
        if isinstance(leaf, torch.Tensor)
        and leaf.requires_grad
        and leaf.layout is torch.strided
        and (leaf.is_floating_point() or leaf.is_complex())
    ]
    wanted = [
        leaf
        for leaf in tree_leaves(inputs)
        if isinstance(leaf, torch.Tensor) and leaf.requires_grad
    ]
    if not outputs or not wanted:
        return []
    total = sum(leaf.abs().sum() if leaf.is_complex() else leaf.sum() for leaf in outputs)
    return list(torch.autograd.grad(total, wanted, allow_unused=True))


def same(host, board, *, strides=True):
    """Raise where two results differ in kind, device or value."""
    if not isinstance(host, torch.Tensor):
        return
    assert isinstance(board, torch.Tensor), f"a {type(board).__name__} in place of a tensor"
    assert str(board.device) == BOARD, f"the result is on {board.device}"
    a, b = host.detach(), board.detach().cpu()
    assert not strides or a.stride() == board.stride(), f"strides {board.stride()} for {a.stride()}"
    if a.dtype.itemsize == 1 and a.is_floating_point():
        a, b = a.float(), b.float()
    torch.testing.assert_close(b, a, equal_nan=True)


def compare(op):
    samples = op.sample_inputs("cpu", torch.float32, requires_grad=op.supports_autograd)
    for sample in islice(samples, SAMPLES):
        host = (sample.input, sample.args, sample.kwargs)
        board = (
            on_board(sample.input, op),
            on_board(sample.args, op),
            on_board(sample.kwargs, op),
        )
        torch.manual_seed(0)
        try:
            expected = op(host[0], *host[1], **host[2])
        except Exception:
            continue  # the CPU does not have it
        torch.manual_seed(0)
        found = op(board[0], *board[1], **board[2])
        if op.name in UNDEFINED:
            continue
        for a, b in zip(tree_leaves(expected), tree_leaves(found), strict=True):
            same(a, b)
        if op.supports_autograd:
            for a, b in zip(gradients(expected, host), gradients(found, board), strict=True):
                assert (a is None) == (b is None), "a gradient is missing"
                if a is not None and a.layout is torch.strided:
                    same(a, b, strides=False)


def main():
    shard, shards = int(sys.argv[1]), int(sys.argv[2])
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    accelhal_mock.install(count=2, memory="8GiB", mode="python", hazards="raise")
    for op in list(op_db)[shard::shards]:
        print(json.dumps([full_name(op), "begin", ""]), flush=True)
        try:
            compare(op)
        except Exception as error:
            detail = f"{type(error).__name__}: {str(error).strip()}"
            print(json.dumps([full_name(op), "failed", detail]), flush=True)
        else:
            print(json.dumps([full_name(op), "same", ""]), flush=True)


if __name__ == "__main__":
    main()
