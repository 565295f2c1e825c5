"""prefetch: copies overlap with work, nothing is lost or out of order, everything is let go."""

from __future__ import annotations

import gc
import weakref
from collections import UserDict, namedtuple

import accelhal_mock
import pytest
import torch
from torch.nn.utils.rnn import pack_sequence
from torch.utils.data import DataLoader, TensorDataset

import accelhal
from accelhal.errors import DeviceLostError, DeviceTimeoutError, UsageError
from accelhal.parallel.prefetching import prefetch

Pair = namedtuple("Pair", "x y")


class Source:
    """A loader that says when it was closed."""

    def __init__(self, batches, error: BaseException | None = None) -> None:
        self.batches, self.error = batches, error
        self.read = 0
        self.closed = 0

    def __iter__(self):
        try:
            for batch in self.batches:
                self.read += 1
                yield batch
            if self.error is not None:
                raise self.error
        finally:
            self.closed += 1


@pytest.fixture
def board(mock_boards):
    mock_boards(count=1, mode="python", memory="256MiB")
    return accelhal.device("mock:0")


def batches_of(count: int, rows: int = 4) -> list[torch.Tensor]:
    return [torch.full((rows, 3), float(place)) for place in range(count)]


def simulated_seconds(work) -> float:
    clock = accelhal_mock.machine().clock
    before = clock.now()
    work()
    return clock.now() - before


def test_copies_overlap_with_work(board):
    """A loop bound by its copies: each takes a little longer than the work on it."""
    batches = [torch.ones(256, 1024) for _ in range(20)]

    def train(loader) -> None:
        for batch in loader:
            batch = batch.to(board.torch_device)
            for _ in range(4):
                batch = batch + 1
        board.synchronize()

    naive = simulated_seconds(lambda: train(batches))
    ahead = simulated_seconds(lambda: train(prefetch(batches, board)))
    assert naive / ahead >= 1.5


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_batches_come_in_order_with_the_last_partial_one(board, depth):
    data = TensorDataset(torch.arange(22.0), torch.arange(22))
    loader = DataLoader(data, batch_size=4)
    ahead = prefetch(loader, board, depth=depth)
    assert len(ahead) == 6
    for _ in range(2):  # each loop reads the loader anew
        seen = [(x.cpu().tolist(), y.cpu().tolist()) for x, y in ahead]
        assert [one for x, _ in seen for one in x] == list(range(22))
        assert [one for _, y in seen for one in y] == list(range(22))
        assert len(seen[-1][0]) == 2


def test_nests_keep_their_shape_and_what_is_no_tensor_its_identity(board):
    note = object()
    on_board = torch.ones(2, device=board.torch_device)
    batch = {"p": Pair(torch.ones(2), [torch.zeros(3), None]), "n": (note, 7), "b": on_board}
    (out,) = prefetch([batch], board)
    assert type(out["p"]) is Pair
    assert out["p"].x.device == out["p"].y[0].device == board.torch_device
    assert out["p"].y[1] is None
    assert out["n"][0] is note
    assert out["b"] is on_board


def test_values_of_every_layout_and_type_arrive(board):
    leaves = [  # the pinned one was made outside inference mode, as a loader makes it
        torch.randn(3, 4).T, torch.randn(4, 4)[::2, 1:], torch.arange(5), torch.tensor(True),
        torch.empty(0, 3), torch.randn(2).bfloat16(), torch.ones(2).expand(3, 2),
        board.pin_memory(torch.randn(3)), torch.randn(3, requires_grad=True),
    ]  # fmt: skip
    for mode in (torch.no_grad, torch.inference_mode):
        with mode():
            for out in prefetch([leaves, leaves], board):
                for mine, theirs in zip(out, leaves, strict=True):
                    torch.testing.assert_close(mine.cpu(), theirs.detach())


def test_a_batch_keeps_its_memory_format(board):
    image = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)
    (out,) = prefetch([image], board)
    assert out.is_contiguous(memory_format=torch.channels_last)
    torch.testing.assert_close(out.cpu(), image)


def test_batches_of_other_classes_are_moved(board):
    packed = pack_sequence([torch.arange(3.0), torch.arange(2.0)])
    batches = [(UserDict(ids=torch.arange(4) + place), packed) for place in range(5)]
    for place, (encoding, sequence) in enumerate(prefetch(batches, board)):
        assert encoding["ids"].device == sequence.data.device == board.torch_device
        assert encoding["ids"].tolist() == (torch.arange(4) + place).tolist()
        torch.testing.assert_close(sequence.data.cpu(), packed.data)


def test_a_batch_copied_ahead_in_inference_mode_may_be_trained_on(board):
    weight = torch.ones(3, 1, device=board.torch_device, requires_grad=True)
    batches = iter(prefetch(batches_of(4), board))
    with torch.inference_mode():
        next(batches)
    (next(batches) @ weight).sum().backward()
    assert weight.grad.flatten().tolist() == [4.0, 4.0, 4.0]


def test_a_batch_may_be_kept(board):
    kept = list(prefetch(batches_of(9), board))
    assert [one.mean().item() for one in kept] == list(range(9))


def test_the_loader_is_not_read_further_than_asked(board):
    source = Source(batches_of(20))
    stream = iter(prefetch(source, board, depth=3))
    assert source.read == 0
    next(stream)
    assert source.read == 3
    next(stream)
    assert source.read == 4
    stream.close()


def test_the_loaders_error_comes_after_the_batches_before_it(board):
    source = Source(batches_of(3), ValueError("bad record"))
    stream = iter(prefetch(source, board, depth=4))
    assert [next(stream).mean().item() for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="bad record"):
        next(stream)
    assert source.closed == 1


def test_an_interruption_is_not_held_back(board):
    stream = iter(prefetch(Source(batches_of(1), KeyboardInterrupt()), board))
    with pytest.raises(KeyboardInterrupt):
        next(stream)


def test_a_break_closes_the_loader_and_frees_the_buffers(board, monkeypatch):
    pinned: list[weakref.ref] = []
    pin = accelhal.Device.pin_memory

    def watched(device, tensor):
        result = pin(device, tensor)
        pinned.append(weakref.ref(result))
        return result

    monkeypatch.setattr(accelhal.Device, "pin_memory", watched)
    source = Source(batches_of(20))
    before = board.memory_allocated()
    for _ in prefetch(source, board):
        break
    del _
    assert source.closed == 1
    assert pinned
    gc.collect()
    assert not [one for one in pinned if one() is not None]
    assert board.memory_allocated() == before


def test_a_program_that_never_waits_holds_few_batches(board):
    """Each batch is read when the work on the one three before it is done."""
    done = []
    for batch in prefetch([torch.ones(16, 64)] * 12, board, depth=2):
        if len(done) >= 4:
            assert done[-4].query()
        for _ in range(20):  # much slower than the copies
            batch.sum()
        done.append(board.Event())
        done[-1].record(board.current_stream())
    assert len(done) == 12


@pytest.mark.parametrize("name", ["cpu", "plain"])
def test_on_the_host_batches_pass_through(name, mock_boards, fresh_registry):
    if name == "plain":
        mock_boards(count=1, mode="plain")
        name = "mock:0"
    batches = batches_of(3)
    source = Source(batches)
    for mine, theirs in zip(prefetch(source, name), batches, strict=True):
        assert mine is theirs
    for _ in prefetch(source, name):
        break
    assert source.closed == 2


def test_a_copy_that_hangs_is_waited_for_within_the_limit(board, mock_fault):
    mock_fault("hang", after=1)
    with pytest.raises(DeviceTimeoutError, match=r"an earlier batch within 0\.2 s"):
        list(prefetch(batches_of(9), board, timeout=0.2))


def test_a_lost_board_raises_and_the_loader_is_closed(board, mock_fault):
    mock_fault("lost", after=3)
    source = Source(batches_of(9))
    with pytest.raises((DeviceLostError, RuntimeError)) as caught:
        list(prefetch(source, board))
    assert board.classify_error(caught.value).label == "device_lost"
    assert source.closed == 1


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [({"depth": 0}, "depth must be"), ({"depth": 1.5}, "depth"), ({"timeout": 0}, "timeout")],
)
def test_misuse_is_named(arguments, reason):
    with pytest.raises(UsageError, match=reason):
        prefetch([], "cpu", **arguments)
