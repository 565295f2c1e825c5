"""Several boards of one process give what one device gives: outputs, gradients, errors."""

from __future__ import annotations

import copy

import accelhal_mock
import pytest
import torch
from torch import nn

import accelhal
from accelhal.errors import AccelhalError, DeviceLostError, ErrorKind, UsageError
from accelhal.parallel.splitting import BatchSplitter, LocalDataParallel

POLICIES = ("equal", "weighted", "ewma", "guided", "pull", "auto")


@pytest.fixture
def boards(mock_boards):
    mock_boards(count=3, memory="64MiB", mode="python")
    return accelhal.devices("mock")


def model_of(dtype: torch.dtype = torch.float32) -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 4)).to(dtype)


def rows_of(count: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    torch.manual_seed(1)
    return torch.randn(count, 8, dtype=dtype)


class Failing(nn.Module):
    """Fails on one board."""

    def __init__(self, board: str, error: Exception) -> None:
        super().__init__()
        self.layer = nn.Linear(8, 4)
        self.board, self.error = board, error

    def forward(self, x):
        if str(x.device) == self.board:
            raise self.error
        return self.layer(x)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("rows", [2, 37])
def test_outputs_are_those_of_one_device_in_order(boards, policy, rows):
    model, x = model_of(), rows_of(rows)
    parallel = LocalDataParallel(model, boards, policy)
    with torch.inference_mode():
        expected = model(x)
        for _ in range(3):  # auto changes its manner
            torch.testing.assert_close(parallel(x), expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("policy", ["weighted", "guided"])
@pytest.mark.parametrize("home", ["cpu", "mock:1"])
def test_gradients_are_those_of_one_device(boards, dtype, policy, home):
    model, x = model_of(dtype), rows_of(37, dtype)
    alone = copy.deepcopy(model)
    model.to(home)
    parallel = LocalDataParallel(model, BatchSplitter(boards, policy, speeds=[4, 2, 1]))
    optimizers = [torch.optim.SGD(one.parameters(), 0.1) for one in (model, alone)]
    for _ in range(3):
        for one, optimizer in zip((parallel, alone), optimizers, strict=True):
            optimizer.zero_grad()
            one(x).square().mean().backward()
            optimizer.step()
        for mine, theirs in zip(model.parameters(), alone.parameters(), strict=True):
            gap = (mine.grad.cpu() - theirs.grad).abs().max()
            assert gap < (1e-6 if dtype is torch.float32 else 1e-14)
    with torch.no_grad():  # the copies follow what the optimizer wrote
        torch.testing.assert_close(parallel(x), alone(x))


def test_the_input_may_lie_on_a_board_and_the_output_go_to_another(boards):
    model, x = model_of(), rows_of(9)
    with torch.no_grad():
        expected = model(x)
        here = LocalDataParallel(model, boards)(x.to("mock:1"))
        there = LocalDataParallel(model, boards, output_device="mock:2")(x)
    assert (str(here.device), str(there.device)) == ("mock:1", "mock:2")
    torch.testing.assert_close(here.cpu(), expected)
    torch.testing.assert_close(there.cpu(), expected)


def test_nests_in_and_out_modes_buffers_and_no_rows(boards):
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = nn.BatchNorm1d(8)

        def forward(self, batch, *, scale):
            return {"y": self.norm(batch["x"]) * scale, "ids": [batch["ids"]]}

    model = Model().eval()
    parallel = LocalDataParallel(model, boards, "weighted")
    batch = {"x": rows_of(7), "ids": torch.arange(7)}
    with torch.no_grad():
        model.norm.running_mean.fill_(0.5)  # after the copies were made
        out = parallel(batch, scale=2.0)
        torch.testing.assert_close(out["y"], model(batch, scale=2.0)["y"])
        assert out["ids"][0].tolist() == list(range(7))
        empty = parallel({"x": rows_of(0), "ids": torch.arange(0)}, scale=2.0)
        assert empty["y"].shape == (0, 8)


def test_boards_work_at_the_same_time_and_by_their_speed(boards, mock_fault):
    mock_fault("slow", device=1, factor=3)
    machine = accelhal_mock.machine()
    model = nn.Sequential(*(nn.Linear(512, 512, bias=False) for _ in range(2))).eval()
    x = torch.ones(768, 512)

    def seconds(devices, steps=6):
        parallel = LocalDataParallel(model, BatchSplitter(devices, "ewma"))
        with torch.no_grad():
            for _ in range(steps):
                before = machine.clock.now()
                parallel(x)
        return machine.clock.now() - before, parallel.splitter.weights

    alone, _ = seconds(boards[:1], 2)
    together, weights = seconds(boards[:2])
    assert weights[0] > 2 * weights[1]
    assert together < alone


@pytest.mark.parametrize("policy", ["weighted", "guided", "pull"])
def test_a_lost_board_is_taken_out_and_its_rows_are_done_elsewhere(boards, mock_fault, policy):
    model, x = model_of().eval(), rows_of(37)
    parallel = LocalDataParallel(model, boards, policy)
    with torch.no_grad():
        expected = model(x)
        parallel(x)
        mock_fault("lost", device=1, after=2)
        with pytest.warns(accelhal.AccelhalWarning, match="mock:1 was lost"):
            torch.testing.assert_close(parallel(x), expected)
        torch.testing.assert_close(parallel(x), expected)
    assert parallel.lost == {boards[1]: ErrorKind.DEVICE_LOST}
    assert boards[1] not in parallel.splitter.devices


def test_a_board_may_be_lost_over_no_rows(boards, mock_fault):
    parallel = LocalDataParallel(model_of().eval(), boards)
    mock_fault("lost", device=0)
    with torch.no_grad(), pytest.warns(accelhal.AccelhalWarning, match="mock:0 was lost"):
        assert parallel(rows_of(0)).shape == (0, 4)


@pytest.mark.parametrize("evaluating", [True, False])
def test_rows_are_not_redone_where_that_is_not_safe(boards, mock_fault, evaluating):
    model = model_of().train(not evaluating)
    parallel = LocalDataParallel(model, boards)
    mock_fault("lost", device=2)
    with torch.set_grad_enabled(evaluating), pytest.raises(DeviceLostError, match="mock:2"):
        parallel(rows_of(37))
    assert boards[2] in parallel.splitter.devices


def test_the_last_board_to_be_lost_raises(boards, mock_fault):
    parallel = LocalDataParallel(model_of().eval(), boards)
    for board in range(3):
        mock_fault("lost", device=board)
    with (
        torch.no_grad(),
        pytest.warns(accelhal.AccelhalWarning),
        pytest.raises(DeviceLostError, match="last device"),
    ):
        parallel(rows_of(9))


def test_a_board_that_hangs_is_waited_for_within_the_limit(boards, mock_fault):
    model, x = model_of().eval(), rows_of(9)
    parallel = LocalDataParallel(model, boards, "equal", timeout=0.3)
    mock_fault("hang", device=0)
    with torch.no_grad(), pytest.warns(accelhal.AccelhalWarning, match="did not finish rows 0 to"):
        torch.testing.assert_close(parallel(x), model(x))
    assert parallel.lost == {boards[0]: ErrorKind.TIMEOUT}


def test_the_models_own_error_names_the_board_and_the_rows(boards):
    model = Failing("mock:1", KeyError("no such key")).eval()
    parallel = LocalDataParallel(model, boards, "equal")
    with torch.no_grad(), pytest.raises(AccelhalError, match=r"mock:1: rows 3 to 6 .*no such") as e:
        parallel(rows_of(9))
    assert e.value.device == "mock:1"
    assert isinstance(e.value.__cause__, KeyError)
    assert boards[1] in parallel.splitter.devices


def test_memory_that_is_full_is_an_error_of_the_request(boards, mock_fault):
    parallel = LocalDataParallel(model_of().eval(), boards)
    mock_fault("oom", device=1, operations=1)
    with torch.no_grad():
        with pytest.raises(torch.OutOfMemoryError, match="mock:1"):
            parallel(rows_of(9))
        assert parallel(rows_of(9)).shape == (9, 4)


def test_whole_batches_are_pulled_and_come_in_order(boards):
    model = model_of().eval()
    batches = [rows_of(count) for count in (5, 1, 0, 9, 3, 7, 2)]
    outputs = list(LocalDataParallel(model, boards).map(batches))
    for output, batch in zip(outputs, batches, strict=True):
        assert not output.requires_grad
        torch.testing.assert_close(output, model(batch).detach())


def test_a_board_lost_in_a_stream_costs_no_batch(boards, mock_fault):
    model = model_of().eval()
    mock_fault("lost", device=1, after=20)
    batches = [rows_of(5) + place for place in range(12)]
    with pytest.warns(accelhal.AccelhalWarning, match="mock:1 was lost"):
        outputs = list(LocalDataParallel(model, boards).map(batches))
    torch.testing.assert_close(torch.cat(outputs), model(torch.cat(batches)).detach())


def failing() -> object:
    raise OSError("disk")


@pytest.mark.parametrize(
    ("third", "error", "says"),
    [(failing, OSError, "disk"), (lambda: "text", UsageError, "no tensor that has any")],
    ids=["raises", "gives no batch"],
)
def test_the_sources_error_comes_after_the_batches_before_it(boards, third, error, says):
    closed = []

    def source():
        try:
            yield rows_of(3)
            yield rows_of(4)
            yield third()
        finally:
            closed.append(True)

    stream = LocalDataParallel(model_of().eval(), boards).map(source())
    assert [len(next(stream)), len(next(stream))] == [3, 4]
    with pytest.raises(error, match=says):
        next(stream)
    assert closed == [True]


def test_the_host_works_along(mock_boards):
    mock_boards(count=1, memory="64MiB", mode="python")
    model, x = model_of(), rows_of(11)
    parallel = LocalDataParallel(model, ["cpu", "mock:0"], "guided")
    with torch.no_grad():
        torch.testing.assert_close(parallel(x), model(x))


def test_plain_boards_work(mock_boards, fresh_registry):
    mock_boards(count=2, mode="plain")
    model, x = model_of(), rows_of(11)
    with torch.no_grad():
        output = LocalDataParallel(model, accelhal.devices("mock"), "weighted")(x)
    torch.testing.assert_close(output, model(x).detach())


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((model_of(), "mock"), "'mock' is not a list of devices"),
        ((torch.relu, ["cpu"]), "is not a model"),
        ((nn.LazyLinear(4), ["cpu"]), "weight has no values yet"),
        ((nn.Linear(4, 4, device="meta"), ["cpu"]), "weight has no values yet"),
    ],
    ids=["devices", "model", "lazy", "meta"],
)
def test_arguments_that_are_none_are_named(arguments, reason):
    with pytest.raises(UsageError, match=reason):
        LocalDataParallel(*arguments)


def test_misuse_is_named(boards):
    with pytest.raises(UsageError, match="timeout must be seconds above 0, not nan"):
        LocalDataParallel(model_of(), boards, timeout=float("nan"))
    with pytest.raises(UsageError, match="0 is not a device that a model runs on"):
        LocalDataParallel(model_of(), BatchSplitter(range(2)))
    with pytest.raises(UsageError, match="rows"):
        LocalDataParallel(model_of(), boards)("text")
