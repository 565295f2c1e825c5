"""What cannot be graphed: sizes that fail, graphs beyond the budget, devices without graphs."""

from __future__ import annotations

import copy
import gc
import pickle
import warnings
from typing import Any

import pytest
import torch
from accelhal_mock.runtime import PythonRuntime

import accelhal
from accelhal.errors import AccelhalWarning, DeviceLostError, UnsupportedError, UsageError
from accelhal.facade import Device
from accelhal.graphs import GraphedModule

from .conftest import integer_model, whole_numbers


class LooksAtValues(torch.nn.Module):
    """Runs eagerly at every size, but asks the host at some: those cannot be captured."""

    def __init__(self, *sizes: int) -> None:
        super().__init__()
        self.sizes = sizes

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if len(x) in self.sizes:
            return x * 2 if x.sum().item() else x + x
        return x * 2


class Hungry(torch.nn.Module):
    """Needs 1 MiB for each row."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        room = torch.ones(len(x), 2**18, device=x.device)
        return x + room[:, :1]


# ---- sizes that fail


def test_a_size_that_cannot_be_captured_is_reported_and_padded_over(board: Device) -> None:
    fast = GraphedModule(LooksAtValues(2).eval(), (1, 2, 4), device=board)
    x = whole_numbers(2, 3, device=board.torch_device)
    with pytest.warns(AccelhalWarning, match="mock:0: no graph of batch size 2"):
        assert torch.equal(fast(x), x * 2)
    report = fast.report()
    assert [one.batch_size for one in report.captured] == [4]
    (failed,) = report.failed
    assert (failed.batch_size, failed.inputs) == (2, "float32[3]")
    assert "captur" in failed.reason
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.equal(fast(x), x * 2)


def test_batches_are_split_where_the_largest_size_fails(board: Device) -> None:
    fast = GraphedModule(LooksAtValues(4).eval(), (2, 4), device=board)
    x = whole_numbers(4, 3, device=board.torch_device)
    with pytest.warns(AccelhalWarning, match="batch size 4"):
        assert torch.equal(fast(x), x * 2)
    assert [(one.batch_size, one.replays) for one in fast.report().captured] == [(2, 2)]


@pytest.mark.filterwarnings("ignore::accelhal.errors.AccelhalWarning")
def test_no_size_left_is_refused_and_the_device_stays_usable(board: Device) -> None:
    fast = GraphedModule(LooksAtValues(1, 2).eval(), (1, 2), device=board)
    x = whole_numbers(2, 3, device=board.torch_device)
    for _ in range(2):
        with pytest.raises(UnsupportedError, match="captur") as refusal:
            fast(x)
        assert refusal.value.capability == "graphs"
        assert isinstance(refusal.value.__cause__, RuntimeError)
        assert pickle.loads(pickle.dumps(refusal.value)).message == refusal.value.message
    assert not torch.mock.is_current_stream_capturing()
    assert board.current_stream() == board.default_stream()
    assert torch.equal((x + 1).cpu(), x.cpu() + 1)
    net = integer_model().to(board.torch_device)
    y = whole_numbers(1, 6, device=board.torch_device)
    assert torch.equal(GraphedModule(net, (1,))(y), net(y))


def test_a_size_too_large_for_the_memory_fails_alone(mock_boards) -> None:
    board = accelhal.device(mock_boards(count=1, memory="64MiB", mode="python")[0])
    fast = GraphedModule(Hungry().eval(), (2, 100), device=board)
    x = whole_numbers(5, 3, device=board.torch_device)
    with pytest.warns(AccelhalWarning, match="batch size 100.*out of memory"):
        assert torch.equal(fast(x), x + 1)
    assert [one.batch_size for one in fast.report().failed] == [100]


def test_a_lost_board_is_no_failure_of_a_size(board: Device, mock_fault) -> None:
    fast = GraphedModule(integer_model().to(board.torch_device), (2,))
    x = whole_numbers(2, 6, device=board.torch_device)
    mock_fault("lost", device=0)
    with pytest.raises((RuntimeError, DeviceLostError)) as lost:
        fast(x)
    assert board.classify_error(lost.value).sticky
    assert fast.report().failed == ()


@pytest.mark.filterwarnings("ignore::accelhal.errors.AccelhalWarning")
def test_a_model_that_replaces_its_tensors_each_time_is_refused(board: Device) -> None:
    class Counts(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("calls", torch.zeros(1, device=board.torch_device))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.calls = self.calls + 1
            return x + self.calls

    fast = GraphedModule(Counts().eval(), (1, 2))
    with pytest.raises(UnsupportedError, match="new tensors in the place of its own"):
        fast(whole_numbers(2, 3, device=board.torch_device))


class Calls(torch.nn.Module):
    """Calls something that is no module of its own."""

    def __init__(self, inner: Any) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x) + 1


@pytest.mark.filterwarnings("ignore::accelhal.errors.AccelhalWarning")
def test_graphs_do_not_nest_and_the_inner_one_stays_usable(
    board: Device, net: torch.nn.Module
) -> None:
    inner = GraphedModule(net, (1, 2))
    x = whole_numbers(2, 6, device=board.torch_device)
    outer = GraphedModule(Calls(inner).eval(), (1, 2), device=board)
    with pytest.raises(UnsupportedError, match="called inside a capture, and graphs do not nest"):
        outer(x)
    assert torch.equal(inner(x), net(x))


def test_graphs_cannot_be_copied(board: Device, net: torch.nn.Module) -> None:
    with pytest.raises(UsageError, match=r"cannot be copied or pickled.*\n.*copy its model"):
        copy.deepcopy(GraphedModule(net, (1, 2)))


# ---- outputs that cannot be cut


class Mean(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x * 2, x.mean()


class Flat(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.flatten()


def test_an_output_over_the_batch_is_given_for_exact_sizes_alone(board: Device) -> None:
    fast = GraphedModule(Mean().eval(), (2, 4), device=board)
    x = whole_numbers(9, 3, device=board.torch_device)
    for rows in (2, 4):
        doubled, mean = fast(x[:rows])
        assert torch.equal(doubled, x[:rows] * 2)
        assert mean.item() == pytest.approx(x[:rows].mean().item())
    for rows, why in ((3, "padding"), (9, "splitting")):
        with pytest.raises(UnsupportedError, match=f"output 1 .* {why}"):
            fast(x[:rows])


def test_an_output_without_the_batch_as_a_dimension_is_refused(board: Device) -> None:
    x = whole_numbers(2, 3, device=board.torch_device)
    fast = GraphedModule(Flat().eval(), (2,), device=board)
    with (
        pytest.warns(AccelhalWarning, match="no graph of batch size 2"),
        pytest.raises(UnsupportedError, match=r"shape \[6\] for 2 rows and \[3\] for 1"),
    ):
        fast(x)
    eager = GraphedModule(Flat().eval(), (2,), device=board, fallback="eager")
    with pytest.warns(AccelhalWarning, match="Flat runs without graphs"):
        assert torch.equal(eager(x), x.flatten())
    assert "no dimension is the batch" in (eager.report().eager_reason or "")


# ---- the budget


def test_beyond_the_budget_batches_are_padded_further(board: Device) -> None:
    fast = GraphedModule(LooksAtValues().eval(), (1, 2, 4, 8), device=board, max_graphs=2)
    for rows in (1, 2, 4, 8, 11):
        x = whole_numbers(rows, 3, device=board.torch_device)
        assert torch.equal(fast(x), x * 2)
    assert [one.batch_size for one in fast.report().captured] == [8, 1]


@pytest.mark.filterwarnings("ignore::accelhal.errors.AccelhalWarning")
def test_a_size_that_fails_takes_no_place_in_the_budget(board: Device) -> None:
    fast = GraphedModule(LooksAtValues(8).eval(), (1, 4, 8), device=board, max_graphs=2)
    x = whole_numbers(1, 3, device=board.torch_device)
    assert torch.equal(fast(x), x * 2)
    assert [one.batch_size for one in fast.report().captured] == [4, 1]


def test_another_shape_beyond_the_budget_is_refused(board: Device) -> None:
    fast = GraphedModule(LooksAtValues().eval(), (1, 2), device=board, max_graphs=2)
    fast(whole_numbers(1, 3, device=board.torch_device))
    with pytest.raises(UnsupportedError, match="budget of 2 graphs is used up"):
        fast(whole_numbers(1, 4, device=board.torch_device))
    fast.reset()
    fast(whole_numbers(1, 4, device=board.torch_device))


def test_the_devices_limit_holds_for_all_models_together(
    mock_boards, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PythonRuntime, "graph_limit", lambda self, index: 3)
    first, second = map(accelhal.device, mock_boards(count=2, memory="64MiB", mode="python"))
    assert first.graph_limit == 3
    models = [GraphedModule(LooksAtValues().eval(), (1, 2, 4), device=first) for _ in range(2)]
    x = whole_numbers(1, 3, device=first.torch_device)
    assert len(models[0].capture(x).captured) == 3
    with pytest.raises(UnsupportedError, match="holds the 3 graphs that mock:0 can take"):
        models[1](x)
    elsewhere = GraphedModule(LooksAtValues().eval(), (1, 2, 4), device=second)
    assert len(elsewhere.capture(x.to(second.torch_device)).captured) == 3
    del models[0]
    gc.collect()
    assert torch.equal(models[0](x), x * 2)


def test_a_device_has_no_limit_unless_its_backend_knows_one() -> None:
    assert accelhal.device("cpu").graph_limit is None


# ---- devices without graphs


def test_a_device_without_graphs_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="cpu:0 has no graphs") as refusal:
        GraphedModule(integer_model(), (1, 2))
    assert refusal.value.capability == "graphs"


def test_eager_when_asked_for_warns_once_and_is_right() -> None:
    net = integer_model()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fast = GraphedModule(net, (1, 2), fallback="eager")
    x = whole_numbers(5, 6, device=torch.device("cpu"))
    with pytest.warns(AccelhalWarning, match="Sequential runs without graphs: cpu:0 has no graphs"):
        assert torch.equal(fast(x), net(x))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.equal(fast(x), net(x))
    report = fast.capture(x)
    assert (report.eager_calls, report.eager_reason) == (2, "cpu:0 has no graphs")
    assert (report.captured, report.failed) == ((), ())
    assert fast.batch_sizes == (1, 2)
    fast.reset()


def test_eager_takes_over_what_cannot_be_captured(board: Device) -> None:
    fast = GraphedModule(LooksAtValues(1, 2).eval(), (1, 2), device=board, fallback="eager")
    x = whole_numbers(2, 3, device=board.torch_device)
    with pytest.warns(AccelhalWarning, match="runs without graphs"):
        assert torch.equal(fast(x), x * 2)
    assert torch.equal(fast(x), x * 2)
    report = fast.report()
    assert report.eager_calls == 2
    assert [one.batch_size for one in report.failed] == [2, 1]
