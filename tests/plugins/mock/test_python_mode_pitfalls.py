"""Known traps of a torch device made in Python, each with the test that shows it is avoided."""

import copy
import gc
import io
import weakref

import pytest
import torch
from torch import nn


@pytest.fixture(autouse=True)
def boards(mock_boards):
    return mock_boards(count=4, memory="64MiB", mode="python")


def test_1_the_python_guard_counts_one_device():
    """Without a single-threaded engine a backward pass on a second board ends the process."""
    x = torch.ones(3, device="mock:3", requires_grad=True)
    (x * 2).sum().backward()
    assert str(x.grad.device) == "mock:3"
    assert torch._C._is_multithreading_enabled()
    (torch.ones(3, requires_grad=True) * 2).sum().backward()


def test_2_kernels_are_found_where_the_python_key_is_excluded():
    """torch.tensor(device=) calls below Python: a boxed fallback fails there."""
    for data in ([1.0, 2.0], 3, [[True], [False]], []):
        x = torch.tensor(data, device="mock:1")
        assert str(x.device) == "mock:1"
        assert x.tolist() == data
    assert torch.tensor([1.0], device="mock:1", requires_grad=True).requires_grad


def test_3_changes_of_shape_in_place_reach_the_wrapper():
    x = torch.arange(6.0, device="mock:1").view(2, 3)
    x.t_()
    assert (x.shape, x.stride()) == ((3, 2), (1, 3))
    out = torch.empty(0, device="mock:1")
    torch.mul(x, 2, out=out)
    assert out.tolist() == (x * 2).tolist()
    x.set_(torch.ones(4, device="mock:1"))
    assert x.tolist() == [1.0] * 4
    x.data = torch.zeros(2, device="mock:1")
    assert x.tolist() == [0.0] * 2


def test_4_lazy_conjugation_and_negation_are_mirrored():
    host = torch.tensor([1 + 2j, 3 - 1j])
    x = host.to("mock:1")
    assert x.conj().is_conj()
    for change in (
        lambda v: v.conj(),
        lambda v: v.conj().imag,
        lambda v: v.conj() * 2,
        lambda v: v.conj().real + v.imag,
        lambda v: torch.fft.ifft(torch.fft.fft(v).conj()),
        lambda v: v.conj().view(2, 1) @ v.view(1, 2),
    ):
        torch.testing.assert_close(change(x).cpu(), change(host).resolve_conj().resolve_neg())
    assert copy.deepcopy(x.conj()).cpu().tolist() == host.conj().tolist()
    file = io.BytesIO()
    torch.save(x.conj().resolve_conj(), file)


@pytest.mark.parametrize("cell", [nn.LSTM, nn.GRU, nn.LSTMCell, nn.GRUCell])
@pytest.mark.parametrize("bias", [True, False])
def test_5_fused_cells_are_there(cell, bias):
    torch.manual_seed(0)
    host = cell(3, 4, bias=bias)
    board = copy.deepcopy(host).to("mock:1")
    x = torch.randn(5, 2, 3) if cell in (nn.LSTM, nn.GRU) else torch.randn(2, 3)
    results = []
    for net, values in ((host, x), (board, x.to("mock:1"))):
        output = net(values)
        output = output[0] if isinstance(output, tuple) else output
        output.pow(2).sum().backward()
        results.append([output, *(p.grad for p in net.parameters())])
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(b.detach().cpu(), a.detach())


def test_6_loading_to_a_board_needs_a_deserializer():
    """Without one torch.load(map_location="mock:1") ends the process."""
    file = io.BytesIO()
    torch.save({"w": torch.ones(3)}, file)
    for weights_only in (True, False):
        file.seek(0)
        loaded = torch.load(file, map_location="mock:1", weights_only=weights_only)
        assert str(loaded["w"].device) == "mock:1"


def test_7_no_cycle_keeps_memory_until_a_collection():
    """Memory figures must not depend on when Python collects its garbage."""
    net = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 4)).to("mock:1")
    optimizer = torch.optim.AdamW(net.parameters())
    target = torch.zeros(8, dtype=torch.long, device="mock:1")

    def step():
        optimizer.zero_grad()
        x = torch.ones(8, 16, device="mock:1")
        parts = torch.cat(x.split(4)).unbind(1)
        loss = nn.functional.cross_entropy(net(torch.stack(parts, 1)), target)
        loss.backward()
        torch._foreach_add([x, x], 1)
        optimizer.step()

    step()
    gc.collect()
    gc.disable()
    try:
        held = torch.mock.memory_allocated(1)
        for _ in range(3):
            step()
            assert torch.mock.memory_allocated(1) == held
        seen = weakref.ref(torch.ones(1, device="mock:1") + 1)
        assert seen() is None
    finally:
        gc.enable()


def test_8_streams_follow_torchs_own_class():
    """Later optimizers ask torch.accelerator.current_stream().is_capturing()."""
    stream = torch.accelerator.current_stream()
    assert isinstance(stream, torch.Stream)
    assert stream.is_capturing() is False
    for name in ("query", "record_event", "synchronize", "wait_event", "wait_stream"):
        assert name in vars(torch.mock.Stream)
    for name in ("elapsed_time", "query", "record", "synchronize", "wait"):
        assert name in vars(torch.mock.Event)
    torch.optim.Adam([torch.ones(1, device="mock:1", requires_grad=True)]).step()


def test_9_one_operation_counts_once():
    """Fault counters see an operator as the program wrote it, not its parts."""
    import accelhal_mock

    x = torch.ones(3, device="mock:1")
    stream = torch.mock.current_stream(1).simulated
    before = stream.epoch
    x + x
    x.add_(1)
    torch.add(x, 1, out=torch.empty(3, device="mock:1"))
    x.view(3, 1).t()
    assert stream.epoch == before + 3
    accelhal_mock.clear()


def test_10_names_are_checked_before_torch_takes_them():
    """A capital letter would rename the device type to one that never parses."""
    from accelhal_mock import machine, python_mode

    from accelhal.errors import BackendIncompatibleError

    with pytest.raises(BackendIncompatibleError, match="held by 'mock'"):
        python_mode.install(machine(), "other")
