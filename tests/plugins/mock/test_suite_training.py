"""Modules, autograd and optimizers of python mode, against the same on the CPU."""

import copy
import threading

import pytest
import torch
from torch import nn
from torch.nn import functional

BOARD = "mock:1"


@pytest.fixture(autouse=True)
def boards(mock_boards):
    return mock_boards(count=4, memory="64MiB", mode="python")


def small_net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.LayerNorm(8), nn.Linear(8, 2))


def same_on_both(module, *inputs, atol=1e-6):
    """Run forward and backward on the CPU and on a board, and compare results and gradients."""
    twin = copy.deepcopy(module).to(BOARD)
    on_board = [value.detach().to(BOARD).requires_grad_(value.requires_grad) for value in inputs]
    results = []
    for net, values in ((module, inputs), (twin, on_board)):
        output = net(*values)
        output = output[0] if isinstance(output, tuple) else output
        output.pow(2).sum().backward()
        gradients = [p.grad for p in net.parameters() if p.grad is not None]
        gradients += [value.grad for value in values if value.grad is not None]
        results.append([output.detach(), *gradients])
    host, board = results
    assert len(host) == len(board)
    for a, b in zip(host, board, strict=True):
        assert str(b.device) == BOARD
        torch.testing.assert_close(b.cpu(), a, atol=atol, rtol=1e-4)


def test_module_to_keeps_parameters_as_cuda_does():
    net = small_net()
    weight = net[0].weight
    net.to(BOARD)
    assert net[0].weight is weight
    assert str(weight.device) == BOARD
    assert isinstance(weight, nn.Parameter)
    net.cpu()
    assert net[0].weight.device.type == "cpu"


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("SGD", {}),
        ("SGD", {"momentum": 0.9}),
        ("AdamW", {}),
        ("Adam", {"foreach": True}),
        ("AdamW", {"fused": True}),
        ("Adam", {"amsgrad": True}),
    ],
)
def test_optimizers(name, options):
    host = small_net()
    board = copy.deepcopy(host).to(BOARD)
    x, target = torch.randn(16, 4), torch.randint(0, 2, (16,))
    pairs = [
        (net, getattr(torch.optim, name)(net.parameters(), lr=0.1, **options), device)
        for net, device in ((host, "cpu"), (board, BOARD))
    ]
    for _ in range(3):
        for net, optimizer, device in pairs:
            optimizer.zero_grad()
            functional.cross_entropy(net(x.to(device)), target.to(device)).backward()
            optimizer.step()
    for a, b in zip(board.parameters(), host.parameters(), strict=True):
        assert str(a.grad.device) == BOARD
        torch.testing.assert_close(a.detach().cpu(), b.detach(), atol=1e-6, rtol=1e-5)


def test_convolution_batch_norm_pooling():
    net = nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.MaxPool2d(2), nn.Flatten(), nn.Dropout(0.0)
    )
    same_on_both(net, torch.randn(2, 3, 8, 8, requires_grad=True), atol=1e-4)


@pytest.mark.parametrize("cell", [nn.LSTM, nn.GRU, nn.RNN])
@pytest.mark.parametrize("bias", [True, False])
def test_recurrent_layers(cell, bias):
    same_on_both(cell(3, 4, bias=bias), torch.randn(5, 2, 3, requires_grad=True))


def test_packed_sequences():
    net = nn.LSTM(3, 4).to(BOARD)
    packed = nn.utils.rnn.pack_padded_sequence(torch.randn(5, 2, 3, device=BOARD), [5, 3])
    output, _ = nn.utils.rnn.pad_packed_sequence(net(packed)[0])
    output.sum().backward()
    assert str(net.weight_ih_l0.grad.device) == BOARD


def test_transformer_layer():
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    same_on_both(layer, torch.randn(2, 5, 8, requires_grad=True), atol=1e-5)


def test_transformer_layer_in_inference_takes_the_fused_way():
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True).eval()
    twin = copy.deepcopy(layer).to(BOARD)
    x = torch.randn(2, 5, 8)
    with torch.no_grad():
        torch.testing.assert_close(twin(x.to(BOARD)).cpu(), layer(x), atol=1e-5, rtol=1e-4)


def test_embedding():
    same_on_both(nn.Embedding(10, 4), torch.tensor([1, 2, 1]))


def test_attention():
    q = torch.randn(2, 2, 4, 8, device=BOARD, requires_grad=True)
    functional.scaled_dot_product_attention(q, q, q).sum().backward()
    assert str(q.grad.device) == BOARD


def test_gradients_flow_between_boards():
    x = torch.ones(3, device="mock:0", requires_grad=True)
    y = torch.ones(3, device="mock:2", requires_grad=True)
    ((x.to("mock:1") * 2) + y.to("mock:1")).sum().backward()
    assert x.grad.device.index == 0
    assert x.grad.tolist() == [2.0, 2.0, 2.0]
    assert y.grad.device.index == 2


def test_hooks():
    x = torch.ones(3, device=BOARD, requires_grad=True)
    seen = []
    x.register_hook(lambda gradient: seen.append(gradient.device))
    (x * 2).sum().backward()
    assert list(map(str, seen)) == [BOARD]


def test_custom_function():
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(context, x):
            context.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(context, gradient):
            assert str(context.saved_tensors[0].device) == BOARD
            return gradient * 2

    x = torch.ones(3, device=BOARD, requires_grad=True)
    Double.apply(x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


def test_anomaly_detection():
    with pytest.warns(UserWarning, match="Anomaly"):
        detection = torch.autograd.detect_anomaly()
    x = torch.ones(3, device=BOARD, requires_grad=True)
    with (
        detection,
        pytest.warns(UserWarning, match="Error detected"),
        pytest.raises(RuntimeError, match="returned nan"),
    ):
        (x * 0 / 0).sum().backward()


def test_backward_in_a_thread():
    errors = []

    def work():
        try:
            x = torch.ones(3, device=BOARD, requires_grad=True)
            (x * 2).sum().backward()
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(30)
    assert errors == []
    assert not thread.is_alive()


def test_func_transforms():
    x = torch.arange(6.0, device=BOARD).view(3, 2)
    assert torch.func.grad(lambda v: (v**2).sum())(x).tolist() == (2 * x).tolist()
    assert torch.vmap(lambda v: v * 2)(x).tolist() == (2 * x).tolist()
    net = nn.Linear(2, 2).to(BOARD)
    output = torch.func.functional_call(net, dict(net.named_parameters()), (x,))
    assert torch.equal(output, net(x))


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpointing(reentrant):
    from torch.utils.checkpoint import checkpoint

    net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)).to(BOARD)
    x = torch.ones(2, 4, device=BOARD, requires_grad=True)
    checkpoint(net, x, use_reentrant=reentrant).sum().backward()
    assert str(x.grad.device) == BOARD


def test_clip_grad_norm():
    net = nn.Linear(2, 2).to(BOARD)
    net(torch.ones(1, 2, device=BOARD)).sum().backward()
    assert str(nn.utils.clip_grad_norm_(net.parameters(), 1.0).device) == BOARD


def test_autocast():
    net = nn.Linear(4, 4).to(BOARD)
    x = torch.ones(2, 4, device=BOARD)
    with torch.autocast("mock", dtype=torch.bfloat16):
        y = net(x)
        s = torch.softmax(y, -1)
        assert (y + x).dtype is torch.float32
    y.sum().backward()
    assert y.dtype is torch.bfloat16
    assert s.dtype is torch.float32
    assert net.weight.grad.dtype is torch.float32
    assert net(x).dtype is torch.float32


def test_autocast_leaves_the_host_alone_and_refuses_unsafe_losses():
    with torch.autocast("mock", dtype=torch.float16):
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype is torch.float32
        p = torch.full((2,), 0.5, device=BOARD)
        with pytest.raises(RuntimeError, match="unsafe to autocast"):
            functional.binary_cross_entropy(p, p)


def test_grad_scaler():
    net = nn.Linear(4, 4).to(BOARD)
    before = net.weight.detach().clone()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("mock", init_scale=1024.0)
    scaler.scale(net(torch.ones(2, 4, device=BOARD)).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 1024.0
    torch.testing.assert_close(net.weight.grad, torch.full_like(before, 2.0))
    scaler.scale(net(torch.full((2, 4), float("inf"), device=BOARD)).sum()).backward()
    after = net.weight.detach().clone()
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 512.0
    assert torch.equal(net.weight, after)


def test_meta_modules_are_made_on_the_board():
    with torch.device("meta"):
        net = nn.Linear(3, 2)
    net.to_empty(device=BOARD)
    net.reset_parameters()
    assert str(net.weight.device) == BOARD
    assert net(torch.ones(1, 3, device=BOARD)).shape == (1, 2)


@pytest.mark.xfail(
    strict=True,
    reason="DataParallel needs torch._C._scatter, which CPU builds of torch do not have",
)
def test_data_parallel():
    net = nn.DataParallel(nn.Linear(2, 2).to("mock:0"), device_ids=[0, 1])
    assert net(torch.ones(4, 2, device="mock:0")).device == torch.device("mock:0")


def test_dataloader_pins_memory():
    data = torch.utils.data.TensorDataset(torch.ones(8, 2))
    loader = torch.utils.data.DataLoader(data, batch_size=4, pin_memory=True)
    (batch,) = next(iter(loader))
    assert batch.is_pinned()
    assert torch.ones(3).pin_memory().is_pinned()
    assert not torch.ones(3).is_pinned()


def test_dataloader_with_a_worker_process():
    data = torch.utils.data.TensorDataset(torch.ones(8, 2))
    loader = torch.utils.data.DataLoader(data, batch_size=4, num_workers=1, timeout=60)
    (batch,) = next(iter(loader))
    assert str(batch.to(BOARD).device) == BOARD


def test_profiler_sees_the_operators():
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities) as profile:
        torch.ones(3, device=BOARD) + 1
    assert any(event.name == "aten::add" for event in profile.events())
