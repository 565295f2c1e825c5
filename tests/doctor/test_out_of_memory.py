"""torch's out-of-memory messages, old and new, of every vendor; and the live allocator."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, strategies as st

from accelhal.doctor.checks.memory import judge_memory
from accelhal.doctor.out_of_memory import read_out_of_memory, refusals
from accelhal.doctor.wording import wording
from accelhal.facade import device
from accelhal.facts import FindingState

UNITS = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}

sizes = st.tuples(st.integers(1, 102399), st.sampled_from(sorted(UNITS))).map(
    lambda size: (
        (f"{size[0]} bytes", size[0])
        if size[1] == "bytes"
        else (f"{size[0] / 100:.2f} {size[1]}", int(float(f"{size[0] / 100:.2f}") * UNITS[size[1]]))
    )
)
names = st.sampled_from(["CUDA", "NPU", "MLU", "XPU", "PRIVATEUSEONE"])


@given(names, st.integers(0, 15), st.tuples(*[sizes] * 6))
def test_messages_of_torch_2_are_read(
    name: str, index: int, amounts: tuple[tuple[str, int], ...]
) -> None:
    (request, total, free, other, allocated, unused) = (text for text, _ in amounts)
    found = read_out_of_memory(
        f"torch.OutOfMemoryError: {name} out of memory. Tried to allocate {request}. GPU {index} "
        f"has a total capacity of {total} of which {free} is free. Process 7 has {other} memory in "
        f"use. Including non-PyTorch memory, this process has {total} memory in use. Of the "
        f"allocated memory {allocated} is allocated by PyTorch, and {unused} is reserved by "
        "PyTorch but unallocated."
    )
    assert found is not None
    assert (found.device_type, found.index) == (name.lower(), index)
    read = (found.request, found.total, found.free, found.others[0][1])
    assert read == tuple(value for _, value in amounts[:4])
    assert (found.allocated, found.unused) == tuple(value for _, value in amounts[4:])


@given(names, st.integers(0, 15), st.tuples(*[sizes] * 5))
def test_messages_of_torch_1_are_read(
    name: str, index: int, amounts: tuple[tuple[str, int], ...]
) -> None:
    (request, total, allocated, free, reserved) = (text for text, _ in amounts)
    found = read_out_of_memory(
        f"RuntimeError: {name} out of memory. Tried to allocate {request} (GPU {index}; {total} "
        f"total capacity; {allocated} already allocated; {free} free; {reserved} reserved in total "
        "by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb"
    )
    assert found is not None
    values = [value for _, value in amounts]
    assert [found.request, found.total, found.allocated, found.free] == values[:4]
    assert found.unused == max(0, values[4] - values[2])
    assert found.index == index


@given(st.text())
def test_any_line_is_read_or_passed_over(line: str) -> None:
    found = read_out_of_memory(f"CUDA out of memory. Tried to allocate 2.00 GiB{line}")
    assert found is not None
    read_out_of_memory(line)


def test_the_word_that_torch_2_0_misspelt() -> None:
    found = read_out_of_memory(
        "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacty of 15.78 GiB"
    )
    assert found is not None
    assert found.total == int(15.78 * (1 << 30))


def test_each_device_is_told_of_once() -> None:
    line = "CUDA out of memory. Tried to allocate 1.00 GiB. GPU {} has a total capacity of 8.00 GiB"
    assert len(refusals([line.format(0), "", line.format(1), line.format(0)])) == 2


def test_the_live_allocator_of_a_simulated_board(mock_boards: Callable[..., list[str]]) -> None:
    import torch

    (name,) = mock_boards(count=1, memory="64MiB", hazards="off")
    board = device(name)
    kept = torch.ones(1 << 20, device=board.torch_device)
    (little,) = judge_memory(board)
    assert (little.code, little.state) == ("fragment.little", FindingState.OK)
    large = torch.ones(10 << 20, device=board.torch_device)
    del large
    (held,) = judge_memory(board)
    assert (held.code, held.state) == ("fragment.held", FindingState.WARN)
    assert "of 64.0 MiB unused" in wording(held).title
    assert kept.numel()


def test_a_simulated_boards_own_message_is_read(mock_boards: Callable[..., list[str]]) -> None:
    import torch

    (name,) = mock_boards(count=1, memory="64MiB", hazards="off")
    with pytest.raises(torch.OutOfMemoryError) as refused:
        torch.ones(100 << 20, device=device(name).torch_device)
    found = read_out_of_memory(str(refused.value))
    assert found is not None
    assert (found.request, found.total) == (400 << 20, 64 << 20)
