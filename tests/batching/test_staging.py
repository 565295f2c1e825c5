"""Simulated boards: copies overlap with computing, nothing is read too early, boards are lost."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest
import torch

import accelhal
from accelhal.batching import DynamicBatcher, Work
from accelhal.batching.caller_state import caller_state
from accelhal.batching.request import PLAIN, Batch, ReleaseReason, Request
from accelhal.batching.staging import StagedLane
from accelhal.batching.tensors import StackCollator
from accelhal.errors import DeviceLostError

from .conftest import LIMIT

Make = Callable[..., DynamicBatcher]
Boards = Callable[..., list[str]]

NO_GRAD = caller_state(grad=False)


def work(values: list[torch.Tensor]) -> Work:
    requests = [Request(value, None, None, 0.0, PLAIN, NO_GRAD, ()) for value in values]  # type: ignore[arg-type]
    batch = Batch((NO_GRAD, ()), requests, len(values), ReleaseReason.FULL, 0.0)
    return Work(batch, len(values), StackCollator(), NO_GRAD)


def run(lane: StagedLane, batches: list[list[torch.Tensor]]) -> list[list[torch.Tensor]]:
    """All batches through a lane, as its thread does when the queue is never empty."""
    results = []
    flights: deque[Any] = deque()

    def finish() -> None:
        one, launched = flights.popleft()
        results.append(StackCollator().split(launched.finish(), one.batch, launched.arguments))

    with torch.no_grad():
        for values in batches:
            one = work(values)
            flights.append((one, lane.launch(one)))
            while len(flights) >= lane.depth:
                finish()
        while flights:
            finish()
    return results


def simulated_seconds(device: accelhal.Device, depth: int) -> float:
    """Time of 40 batches whose copies in and out and computing take about as long each."""
    import accelhal_mock

    weight = torch.eye(512, device=device.torch_device)

    def model(x: torch.Tensor) -> torch.Tensor:
        return x @ weight

    values = [torch.full((512,), float(n)) for n in range(64)]
    lane = StagedLane(model, device, depth)
    lane.start()
    try:
        run(lane, [values] * 3)
        device.synchronize()
        clock = accelhal_mock.machine().clock
        begin = clock.now()
        results = run(lane, [values] * 40)
        device.synchronize()
        seconds = clock.now() - begin
    finally:
        lane.close()
    for batch in results:
        assert all(torch.equal(row, value) for row, value in zip(batch, values, strict=True))
    return float(seconds)


def test_copies_overlap_with_computing_and_nothing_is_read_too_early(mock_boards: Boards) -> None:
    device = accelhal.device(mock_boards(count=1, mode="python", hazards="raise")[0])
    one_by_one = simulated_seconds(device, depth=1)
    overlapped = simulated_seconds(device, depth=3)
    assert one_by_one / overlapped >= 1.6


def test_a_model_on_a_board_is_served_from_the_host(mock_boards: Boards, make: Make) -> None:
    device = accelhal.device(mock_boards(count=1, mode="python")[0])
    torch.manual_seed(0)
    net = torch.nn.Linear(6, 3)
    values = [torch.randn(6) for _ in range(30)]
    with torch.no_grad():
        expected = [net(value) for value in values]
        batcher = make(net.to(device.torch_device), max_batch_size=8)
        assert batcher.stats().lanes[0].name == str(device)
        results = batcher.map(values)
    for result, wanted in zip(results, expected, strict=True):
        assert result.device.type == "cpu"
        torch.testing.assert_close(result, wanted)


def test_results_of_earlier_batches_stay_when_the_slots_are_refilled(
    mock_boards: Boards, make: Make
) -> None:
    device = accelhal.device(mock_boards(count=1, mode="python")[0])
    batcher = make(lambda x: {"same": x, "sum": x.sum(1)}, devices=[device], max_batch_size=4)
    with torch.no_grad():
        kept = batcher.map([torch.full((3,), float(n)) for n in range(40)])
    for n, result in enumerate(kept):
        assert torch.equal(result["same"], torch.full((3,), float(n)))
        assert result["sum"].item() == 3.0 * n


def test_tensors_on_the_board_come_back_on_the_board(mock_boards: Boards, make: Make) -> None:
    device = accelhal.device(mock_boards(count=1, mode="python")[0])
    batcher = make(lambda x: x + 1, devices=[device])
    with torch.no_grad():
        result = batcher(torch.ones(3, device=device.torch_device))
    assert result.device == device.torch_device
    assert result.tolist() == [2.0, 2.0, 2.0]


def test_shapes_may_change_from_batch_to_batch(mock_boards: Boards, make: Make) -> None:
    device = accelhal.device(mock_boards(count=1, mode="python")[0])
    batcher = make(
        lambda x: x.sum(1), devices=[device], collate="pad", pad_value=0, max_batch_size=5
    )
    with torch.no_grad():
        results = batcher.map([torch.ones(1 + n % 50) for n in range(100)])
    assert [x.item() for x in results] == [1.0 + n % 50 for n in range(100)]


def test_an_error_on_the_board_costs_only_its_request(mock_boards: Boards, make: Make) -> None:
    device = accelhal.device(mock_boards(count=1, mode="python")[0])

    def model(x: torch.Tensor) -> torch.Tensor:
        if (x < 0).any().item():
            raise ValueError("negative")
        return x * 2

    batcher = make(model, devices=[device], max_batch_size=8)
    values = [torch.tensor([-1.0 if n == 11 else float(n)]) for n in range(30)]
    with torch.no_grad():
        results = batcher.map(values, return_exceptions=True)
    assert isinstance(results[11], ValueError)
    assert [x.item() for n, x in enumerate(results) if n != 11] == [
        2.0 * n for n in range(30) if n != 11
    ]


def test_a_board_out_of_memory_is_given_less(mock_boards: Boards, make: Make) -> None:
    device = accelhal.device(mock_boards(count=1, mode="python", memory="8MiB")[0])

    def model(x: torch.Tensor) -> torch.Tensor:
        return x.repeat(1, 1024).sum(1)  # 4 KiB * 256 columns a row

    batcher = make(model, devices=[device], max_batch_size=32, max_inflight_batches=1)
    with torch.no_grad():
        results = batcher.map([torch.full((256,), float(n)) for n in range(64)])
    assert [x.item() for x in results] == [n * 256.0 * 1024 for n in range(64)]
    assert batcher.stats().out_of_memory >= 1
    assert max(batcher.stats().ceilings.values()) <= 7


@pytest.mark.filterwarnings("ignore::accelhal.errors.AccelhalWarning")
def test_a_lost_board_is_replaced_by_the_one_that_stands_by(
    mock_boards: Boards, mock_fault: Callable[..., Any], make: Make
) -> None:
    first, second = map(accelhal.device, mock_boards(count=2, mode="python"))
    mock_fault("lost", device=0, after=100)
    batcher = make(
        lambda x: x * 2, devices=[first], standby=[second], max_batch_size=4, max_queue_size=4
    )
    with torch.no_grad():
        results = batcher.map([torch.tensor([float(n)]) for n in range(400)])
    assert [x.item() for x in results] == [2.0 * n for n in range(400)]
    assert [lane.state for lane in batcher.stats().lanes] == ["lost", "running"]


@pytest.mark.filterwarnings("ignore::accelhal.errors.AccelhalWarning")
def test_the_last_board_lost_closes_the_batcher(
    mock_boards: Boards, mock_fault: Callable[..., Any], make: Make
) -> None:
    device = accelhal.device(mock_boards(count=1, mode="python")[0])
    batcher = make(lambda x: x * 2, devices=[device])
    with torch.no_grad():
        assert batcher(torch.ones(1)).item() == 2.0
        mock_fault("lost", device=0)
        with pytest.raises(DeviceLostError):
            batcher.submit(torch.ones(1)).result(LIMIT)
    assert not batcher.healthy


def test_two_boards_share_one_queue(mock_boards: Boards, make: Make) -> None:
    devices = list(map(accelhal.device, mock_boards(count=2, mode="python", clock="real")))
    seen = set()
    both = threading.Barrier(2)

    def model(x: torch.Tensor) -> torch.Tensor:
        if len(seen) < 2:
            seen.add(str(x.device))
            both.wait(LIMIT)  # each board has a batch of its own at the same time
        return x + 1

    batcher = make(model, devices=devices, max_batch_size=1)
    with torch.no_grad():
        results = batcher.map([torch.tensor([float(n)]) for n in range(20)])
    assert [x.item() for x in results] == [n + 1.0 for n in range(20)]
    assert seen == {str(device) for device in devices}


def test_captured_graphs_get_the_sizes_they_were_captured_for(
    mock_boards: Boards, make: Make
) -> None:
    device = accelhal.device(mock_boards(count=1, mode="python", memory="256MiB")[0])
    net = torch.nn.Linear(4, 4).to(device.torch_device).eval()
    graphed = accelhal.GraphedModule(net, batch_sizes=(2, 4))
    with torch.inference_mode():
        graphed.capture(torch.ones(4, 4, device=device.torch_device))
        batcher = make(graphed, max_batch_size=32)
        values = [torch.full((4,), float(n)) for n in range(13)]
        results = batcher.map(values)
        expected = [net(value.to(device.torch_device)).cpu() for value in values]
    for result, wanted in zip(results, expected, strict=True):
        torch.testing.assert_close(result, wanted)
    assert batcher.drain(LIMIT)
    assert max(batcher.stats().batch_rows) <= 4


@pytest.mark.usefixtures("fresh_registry")
@pytest.mark.parametrize("mode", ["plain", "python"])
def test_a_board_in_either_mode_is_served(mock_boards: Boards, make: Make, mode: str) -> None:
    device = accelhal.device(mock_boards(count=1, mode=mode)[0])
    batcher = make(lambda x: x + 1, devices=[device], max_batch_size=4)
    with torch.no_grad():
        results = batcher.map([torch.tensor([float(n)]) for n in range(10)])
    assert [x.item() for x in results] == [n + 1.0 for n in range(10)]


def test_the_processor_is_a_device_too(make: Make) -> None:
    batcher = make([torch.nn.Identity(), torch.nn.Identity()], devices=["cpu:0", "cpu:0"])
    assert [x.item() for x in batcher.map([torch.tensor([float(n)]) for n in range(20)])] == [
        float(n) for n in range(20)
    ]
    assert [lane.name for lane in batcher.stats().lanes] == ["cpu:0", "cpu:0"]


def test_gradients_flow_back_through_a_board(mock_boards: Boards, make: Make) -> None:
    device = accelhal.device(mock_boards(count=1, mode="python")[0])
    batcher = make(lambda x: x * x, devices=[device])
    x = torch.tensor([3.0], requires_grad=True)
    batcher(x).sum().backward()
    assert x.grad is not None
    assert x.grad.item() == 6.0
