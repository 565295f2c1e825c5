"""Twelve bugs that plain CPU tensors hide and a real board punishes, each caught here.

`docs/mock.md` explains them. Every program below runs on any device; each test first runs it on the
processor, where nothing is to be seen, and then on simulated boards.
"""

from __future__ import annotations

import io
import multiprocessing
import os
from collections.abc import Callable
from multiprocessing.connection import Connection

import pytest
import torch
from accelhal_mock.simulation.hazards import HazardError, HazardKind

import accelhal
from accelhal.facade import Device

Boards = Callable[..., list[str]]

CPU = accelhal.device("cpu")


def model_on(device: Device) -> torch.nn.Module:
    torch.manual_seed(0)
    return torch.nn.Linear(8, 4).to(device.torch_device)


# ---- 1


def forgets_to_move_the_input(device: Device) -> torch.Tensor:
    return model_on(device)(torch.ones(2, 8))


def test_1_input_left_on_the_host(mock_boards: Boards) -> None:
    forgets_to_move_the_input(CPU)
    (board,) = mock_boards(count=1)
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        forgets_to_move_the_input(accelhal.device(board))


# ---- 2


def mixes_two_boards(first: Device, second: Device) -> torch.Tensor:
    return model_on(first)(torch.ones(2, 8, device=second.torch_device))


def test_2_tensors_on_two_boards(mock_boards: Boards) -> None:
    mixes_two_boards(CPU, CPU)
    first, second = map(accelhal.device, mock_boards(count=2))
    with pytest.raises(RuntimeError, match=r"on the same device, but got .* is on mock:1"):
        mixes_two_boards(first, second)


# ---- 3


def consumes_without_waiting(device: Device, *, wait: bool) -> torch.Tensor:
    side = device.Stream()
    with device.stream(side):
        product = torch.ones(256, 256, device=device.torch_device) @ torch.ones(
            256, 256, device=device.torch_device
        )
    if wait:
        device.current_stream().wait_stream(side)
    return product + 1


def test_3_missing_wait_between_streams(mock_boards: Boards) -> None:
    consumes_without_waiting(CPU, wait=False)
    (board,) = mock_boards(count=1)
    device = accelhal.device(board)
    assert consumes_without_waiting(device, wait=True)[0, 0].item() == 257
    with pytest.raises(HazardError, match="wait_stream") as caught:
        consumes_without_waiting(device, wait=False)
    assert caught.value.hazard.kind is HazardKind.READ_AFTER_WRITE


# ---- 4


def frees_what_a_stream_still_reads(device: Device, *, record: bool) -> torch.Tensor:
    side = device.Stream()
    source = torch.ones(512, 512, device=device.torch_device)
    side.wait_stream(device.current_stream())
    with device.stream(side):
        copy = source @ source
    if record and device is not CPU:
        source.record_stream(side)
    del source
    reused = torch.zeros(512, 512, device=device.torch_device)
    device.current_stream().wait_stream(side)
    return copy + reused


def test_4_memory_freed_while_a_side_stream_reads_it(mock_boards: Boards) -> None:
    frees_what_a_stream_still_reads(CPU, record=False)
    (board,) = mock_boards(count=1)
    device = accelhal.device(board)
    assert frees_what_a_stream_still_reads(device, record=True)[0, 0].item() == 512
    with pytest.raises(HazardError, match="record_stream") as caught:
        frees_what_a_stream_still_reads(device, record=False)
    assert caught.value.hazard.kind is HazardKind.FREED_EARLY


# ---- 5


def refills_the_source_of_a_copy(device: Device, *, wait: bool) -> torch.Tensor:
    host = torch.ones(1024)
    if device.supports("pin_memory"):
        host = device.pin_memory(host)
    moved = host.to(device.torch_device, non_blocking=True)
    if wait:
        device.synchronize()
    host.fill_(7)
    return moved


def test_5_pinned_source_refilled_before_it_was_read(mock_boards: Boards) -> None:
    refills_the_source_of_a_copy(CPU, wait=False)
    (board,) = mock_boards(count=1)
    device = accelhal.device(board)
    assert refills_the_source_of_a_copy(device, wait=True)[0].item() == 1
    with pytest.raises(HazardError) as caught:
        refills_the_source_of_a_copy(device, wait=False)
    assert caught.value.hazard.kind is HazardKind.HOST_REFILL


# ---- 6


def reads_a_result_too_early(device: Device, *, wait: bool) -> float:
    result = torch.full((64,), 3.0, device=device.torch_device).to("cpu", non_blocking=True)
    if wait:
        device.synchronize()
    return float(result.sum())


def test_6_non_blocking_result_read_before_the_wait(mock_boards: Boards) -> None:
    assert reads_a_result_too_early(CPU, wait=False) == 192
    (board,) = mock_boards(count=1)
    device = accelhal.device(board)
    assert reads_a_result_too_early(device, wait=True) == 192
    with pytest.raises(HazardError) as caught:
        reads_a_result_too_early(device, wait=False)
    assert caught.value.hazard.kind is HazardKind.HOST_EARLY_READ
    mock_boards(count=1, hazards="off")
    assert reads_a_result_too_early(device, wait=False) != 192  # what a board would give


# ---- 7


def train(device: Device, *, leak: bool) -> list[int]:
    """Memory after each step of a loop that may keep every loss with its graph."""
    model, losses, memory = model_on(device), [], []
    for _ in range(4):
        loss = model(torch.ones(2, 8, device=device.torch_device)).sum()
        losses.append(loss if leak else loss.item())
        memory.append(device.memory_allocated())
    return memory


def test_7_leak_of_losses_that_hold_their_graph(mock_boards: Boards) -> None:
    (board,) = mock_boards(count=1)
    device = accelhal.device(board)
    steady, growing = train(device, leak=False), train(device, leak=True)
    assert steady[1] == steady[2] == steady[3]
    assert growing[1] < growing[2] < growing[3]
    # The processor's figure is the whole process: some tens of bytes do not show in it.
    assert train(CPU, leak=True)[3] > 2**20


# ---- 8


def doubles_the_batch_until_it_is_large(device: Device) -> int:
    batch = 1
    while batch < 4096:
        batch *= 2
        torch.ones(batch, 1024, 16, device=device.torch_device)
    return batch


def test_8_out_of_memory_not_handled(mock_boards: Boards) -> None:
    assert doubles_the_batch_until_it_is_large(CPU) == 4096
    (board,) = mock_boards(count=1, memory="64MiB")
    device = accelhal.device(board)
    with pytest.raises(torch.OutOfMemoryError, match=r"Tried to allocate .* MiB") as caught:
        doubles_the_batch_until_it_is_large(device)
    assert device.classify_error(caught.value) is accelhal.ErrorKind.OUT_OF_MEMORY
    assert torch.ones(8, device=device.torch_device).sum().item() == 8  # usable after


# ---- 9


def takes_the_visible_id_for_an_index(kind: str, variable: str) -> torch.Tensor:
    first_visible = os.environ[variable].split(",")[0]
    return torch.ones(2, device=f"{kind}:{first_visible}")


def test_9_visible_id_taken_for_an_index(
    mock_boards: Boards, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISIBLE", "3")  # one board is visible: it is index 0
    takes_the_visible_id_for_an_index("cpu", "VISIBLE")
    mock_boards(count=1)
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        takes_the_visible_id_for_an_index("mock", "VISIBLE")


# ---- 10


def saves_on(device: Device) -> io.BytesIO:
    file = io.BytesIO()
    torch.save(model_on(device).state_dict(), file)
    file.seek(0)
    return file


def loads_without_map_location(file: io.BytesIO) -> None:
    model_on(CPU).load_state_dict(torch.load(file, weights_only=True))


def test_10_state_dict_saved_on_a_board_that_is_not_here(mock_boards: Boards) -> None:
    loads_without_map_location(saves_on(CPU))
    boards = mock_boards(count=2)
    file = saves_on(accelhal.device(boards[1]))
    mock_boards(count=1)
    with pytest.raises(RuntimeError, match=r"device_count\(\) is 1.*map_location"):
        loads_without_map_location(file)
    file.seek(0)
    loaded = torch.load(file, weights_only=True, map_location="cpu")
    assert torch.equal(loaded["weight"], model_on(CPU).state_dict()["weight"])


# ---- 11


def replays_with_a_new_input(device: Device, *, swap: bool) -> torch.Tensor:
    """Capture y = 2x, then ask for the answer to another x; without graphs, just compute again."""
    x = torch.full((4,), 1.0, device=device.torch_device)
    if device.supports("graphs") is None:
        x = torch.full((4,), 5.0)
        return x * 2
    graph = device.Graph()
    with device.graph(graph):
        y = x * 2
    if swap:
        x = torch.full((4,), 5.0, device=device.torch_device)  # the graph knows the old one
    else:
        x.fill_(5.0)
    graph.replay()
    device.synchronize()
    return y


def test_11_graph_replayed_after_its_input_was_swapped(mock_boards: Boards) -> None:
    assert replays_with_a_new_input(CPU, swap=True)[0] == 10
    (board,) = mock_boards(count=1)
    device = accelhal.device(board)
    assert replays_with_a_new_input(device, swap=False)[0].item() == 10
    assert replays_with_a_new_input(device, swap=True)[0].item() == 2  # stale, as on a board


# ---- 12


def uses_the_device_in_a_child(name: str, sender: Connection) -> None:
    try:
        torch.ones(2, device=name)
        sender.send("worked")
    except RuntimeError as error:
        sender.send(str(error))


def in_a_forked_child(name: str) -> str:
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=uses_the_device_in_a_child, args=(name, sender))
    child.start()
    assert receiver.poll(60), "the child did not answer"
    answer = receiver.recv()
    child.join(60)
    return str(answer)


def test_12_device_used_after_fork(mock_boards: Boards) -> None:
    assert in_a_forked_child("cpu") == "worked"
    (board,) = mock_boards(count=1)
    torch.ones(2, device=board)
    answer = in_a_forked_child(board)
    assert "Cannot re-initialize" in answer
    assert "spawn" in answer
