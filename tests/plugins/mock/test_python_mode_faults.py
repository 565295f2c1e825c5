"""Faults of boards as programs meet them through torch, and what is left in order after them."""

import subprocess
import sys
import textwrap

import accelhal_mock
import pytest
import torch


@pytest.fixture(autouse=True)
def boards(mock_boards):
    yield mock_boards(count=2, memory="64MiB", mode="python")
    accelhal_mock.clear()


def ones(*size, device="mock:1"):
    return torch.ones(*size, device=device)


def test_a_lost_board_fails_at_every_call_and_others_go_on():
    x = ones(3)
    accelhal_mock.inject("lost", device=1)
    for call in (
        lambda: x + 1,
        lambda: x.add_(1),
        lambda: x.cpu(),
        lambda: ones(3),
        lambda: torch.mock.synchronize(1),
        lambda: torch.mock.Stream(1),
        lambda: x.to("mock:0"),
    ):
        with pytest.raises(torch.AcceleratorError, match="GPU is lost"):
            call()
    assert ones(3, device="mock:0").sum().item() == 3
    accelhal_mock.clear()
    assert x.tolist() == [1.0] * 3


def test_lost_after_so_many_operations():
    x = ones(3)
    accelhal_mock.inject("lost", device=1, after=2)
    x.add_(1)
    x.add_(1)
    with pytest.raises(torch.AcceleratorError, match="GPU is lost"):
        x.add_(1)
    accelhal_mock.clear()
    assert x.tolist() == [3.0] * 3


def test_a_hang_shows_at_the_wait():
    accelhal_mock.inject("hang", device=1)
    y = ones(3) * 2
    event = torch.mock.current_stream(1).record_event()
    assert not event.query()
    with pytest.raises(torch.AcceleratorError, match="timed out"):
        torch.mock.synchronize(1)
    with pytest.raises(torch.AcceleratorError, match="timed out"):
        y.sum().item()


def test_an_uncorrectable_memory_error_shows_late_and_stays():
    accelhal_mock.inject("ecc_uncorrected", device=1)
    ones(3)
    for _ in range(2):
        with pytest.raises(torch.AcceleratorError, match="uncorrectable ECC"):
            torch.mock.synchronize(1)


def test_a_refused_allocation_is_an_ordinary_out_of_memory():
    accelhal_mock.inject("oom", device=1, operations=1)
    with pytest.raises(torch.OutOfMemoryError, match="Tried to allocate"):
        ones(3)
    assert ones(3).sum().item() == 3
    assert torch.mock.memory_stats(1)["num_ooms"] == 1


@pytest.mark.parametrize(
    ("dtype", "width"),
    [
        (torch.float32, 32),
        (torch.bfloat16, 16),
        (torch.int64, 64),
        (torch.uint8, 8),
        (torch.complex64, 64),
    ],
)
def test_a_wrong_result_differs_in_one_bit(dtype, width):
    x = torch.zeros(4, 4, dtype=dtype, device="mock:1")
    accelhal_mock.inject("wrong_result", device=1, operations=1)
    wrong = (x + x).cpu()
    right = (x + x).cpu()
    difference = wrong.view(torch.uint8) ^ right.view(torch.uint8)
    assert sum(int(byte).bit_count() for byte in difference.flatten()) == 1
    assert x.element_size() * 8 == width


def test_wrong_results_strike_in_place_and_in_views_too():
    x = torch.zeros(4, 4, device="mock:1")
    accelhal_mock.inject("wrong_result", device=1, operations=1, bit=30)
    x[:, 2].add_(0)
    column = x.cpu()
    assert (column[:, 2] != 0).sum() == 1
    assert (column != 0).sum() == 1


def test_a_wrong_result_of_a_replayed_graph():
    x = torch.zeros(4, device="mock:1")
    graph = torch.mock.MockGraph()
    with torch.mock.device(1), torch.mock.graph(graph):
        y = x + x
    accelhal_mock.inject("wrong_result", device=1, operations=1, bit=30)
    graph.replay()
    assert (y.cpu() != 0).sum() == 1
    graph.replay()
    assert (y.cpu() != 0).sum() == 0


def test_a_slow_board_takes_longer():
    def seconds():
        begin, end = (torch.mock.Event(enable_timing=True) for _ in range(2))
        with torch.mock.device(1):
            begin.record()
            x @ x
            end.record()
            end.synchronize()
        return begin.elapsed_time(end)

    x = ones(256, 256)
    before = seconds()
    accelhal_mock.inject("slow", device=1, factor=3)
    assert seconds() == pytest.approx(3 * before)


def test_a_broken_link_stops_copies_between_boards():
    x = ones(3, device="mock:0")
    accelhal_mock.inject("link_down", device=1)
    with pytest.raises(torch.AcceleratorError, match="NVLink"):
        x.to("mock:1")
    assert not torch.mock.can_device_access_peer(0, 1)


def test_autograd_passes_a_boards_error_on():
    x = ones(3).requires_grad_()
    loss = (x * 2).sum()
    accelhal_mock.inject("lost", device=1)
    with pytest.raises(torch.AcceleratorError, match="GPU is lost"):
        loss.backward()


def test_errors_are_classified():
    from accelhal_mock.runtime import PythonRuntime

    from accelhal.errors import ErrorKind

    runtime = PythonRuntime("mock")
    found = []
    for fault in ("lost", "hang", "ecc_uncorrected"):
        accelhal_mock.inject(fault, device=1)
        try:
            ones(3)
            torch.mock.synchronize(1)
        except torch.AcceleratorError as error:
            found.append(runtime.classify_error(error))
        accelhal_mock.clear()
    assert found == [ErrorKind.DEVICE_LOST, ErrorKind.TIMEOUT, ErrorKind.MEMORY_FAULT]


def test_a_forked_child_cannot_use_boards_its_parent_used():
    script = """
        import os, warnings
        import accelhal_mock, torch

        warnings.simplefilter("ignore")
        accelhal_mock.install(count=1, mode="python")
        if os.fork() == 0:  # not used yet: the child may
            print(torch.ones(2, device="mock:0").sum().item(), flush=True)
            os._exit(0)
        os.wait()
        x = torch.ones(2, device="mock:0")
        if os.fork() == 0:
            for call in (lambda: x + 1, lambda: torch.ones(2, device="mock:0")):
                try:
                    call()
                except RuntimeError as error:
                    print(error, flush=True)
            print(torch.mock._is_in_bad_fork(), torch.ones(2).sum().item(), flush=True)
            os._exit(0)
        os.wait()
        print((x + 1).tolist(), flush=True)
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=120
    )
    refused = "Cannot re-initialize MOCK in forked subprocess"
    lines = run.stdout.splitlines()
    assert lines[0] == "2.0", run.stderr
    assert lines[1].startswith(refused)
    assert lines[2].startswith(refused)
    assert lines[3:] == ["True 2.0", "[2.0, 2.0]"]
