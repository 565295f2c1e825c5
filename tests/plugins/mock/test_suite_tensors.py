"""Tensors of python mode, one behaviour a test: factories, placement, views, memory."""

import copy
import gc
import pickle

import pytest
import torch


@pytest.fixture(autouse=True)
def boards(mock_boards):
    return mock_boards(count=4, memory="64MiB", mode="python")


def ones(*size, device="mock:1", **options):
    return torch.ones(*size, device=device, **options)


def test_ones():
    x = ones(3)
    assert str(x.device) == "mock:1"
    assert x.device != torch.device("mock:0")
    assert x.cpu().sum() == 3
    assert repr(x) == "tensor([1., 1., 1.], device='mock:1')"


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.zeros(2, 2, device="mock"),
        lambda: torch.full((2,), 3.0, device="mock:2"),
        lambda: torch.arange(5, device="mock:1"),
        lambda: torch.randn(4, device="mock:1"),
        lambda: torch.eye(3, device="mock:1"),
        lambda: torch.tensor([1, 2], device="mock:3"),
        lambda: torch.linspace(0, 1, 5, device="mock:1"),
        lambda: torch.randperm(5, device="mock:1"),
        lambda: torch.randint(0, 5, (3,), device="mock:1"),
        lambda: torch.tril_indices(3, 3, device="mock:1"),
        lambda: torch.triu_indices(3, 3, device="mock:1"),
        lambda: torch.empty_like(ones(2)),
        lambda: ones(2).new_zeros(3),
        lambda: torch.scalar_tensor(1.0, device="mock:1"),
        lambda: torch.hann_window(4, device="mock:1"),
        lambda: torch.as_tensor([1.0], device="mock:1"),
        lambda: torch.zeros_like(torch.ones(2), device="mock:1"),
        lambda: torch.empty_strided((2, 2), (1, 2), device="mock:1"),
    ],
)
def test_factories(make):
    assert make().device.type == "mock"


def test_mixed_boards_raise_torchs_error():
    message = (
        "Expected all tensors to be on the same device, but found at least two devices, "
        "mock:0 and mock:1!"
    )
    with pytest.raises(RuntimeError, match=message):
        ones(3, device="mock:0") + ones(3)


@pytest.mark.parametrize("host_first", [False, True])
def test_board_and_host_mixed_raise_torchs_error(host_first):
    operands = [torch.ones(3), ones(3)] if host_first else [ones(3), torch.ones(3)]
    with pytest.raises(RuntimeError, match=r"all tensors to be on the same device.*cpu!"):
        torch.add(*operands)


def test_mixed_in_matmul_names_the_argument():
    message = (
        r"Expected all tensors to be on the same device, but got mat2 is on cpu, different from "
        r"other tensors on mock:1 \(when checking argument in method wrapper_MOCK__mm\)"
    )
    with pytest.raises(RuntimeError, match=message):
        ones(2, 2) @ torch.ones(2, 2)


def test_a_scalar_tensor_of_the_host_may_be_mixed_in():
    assert (ones(3) * torch.tensor(2.0)).tolist() == [2.0, 2.0, 2.0]


def test_a_scalar_tensor_of_the_host_may_not_enter_a_product_of_matrices():
    with pytest.raises(RuntimeError, match="same device"):
        torch.cat([ones(2), torch.tensor(2.0)])


def test_host_indices_and_masks_may_index_a_board_tensor():
    x = torch.arange(4.0, device="mock:1")
    assert x[torch.tensor([3, 1])].tolist() == [3.0, 1.0]
    x[torch.tensor([0])] = torch.tensor(7.0)
    assert x[torch.tensor([True, False, False, True])].tolist() == [7.0, 3.0]


def test_wrong_index():
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        ones(3, device="mock:9")


def test_copies_between_devices():
    x = torch.arange(6.0).view(2, 3).to("mock:1")
    y = x.t().to("mock:2")
    assert y.device.index == 2
    assert torch.equal(y.cpu(), torch.arange(6.0).view(2, 3).t())
    assert x.to("mock:1") is x
    assert x.to("mock:1", torch.float64).dtype is torch.float64
    assert x.to("meta").device.type == "meta"


def test_in_place_on_views():
    x = torch.zeros(4, 4, device="mock:1")
    x[1].add_(3)
    x[:, 2] = 7
    x[0, 0] = 1
    assert x.sum().item() == 1 + 3 * 3 + 7 * 4


def test_in_place_changes_of_shape():
    x = torch.arange(6.0, device="mock:1").view(2, 3)
    x.t_()
    assert x.shape == (3, 2)
    assert x.stride() == (1, 3)
    x.unsqueeze_(0)
    assert x.shape == (1, 3, 2)
    x.squeeze_(0)
    assert x.tolist() == torch.arange(6.0).view(2, 3).t().tolist()
    x.resize_(2, 2)
    assert x.shape == (2, 2)


def test_resize_takes_memory():
    x = torch.zeros(4, device="mock:1")
    before = torch.mock.memory_allocated(1)
    x.resize_(4096)
    assert torch.mock.memory_allocated(1) == before - 512 + 4096 * 4
    x.fill_(1.0)
    assert x.sum().item() == 4096


def test_set_data():
    x = torch.zeros(2, device="mock:1")
    x.data = ones(2)
    assert x.sum().item() == 2


@pytest.mark.xfail(
    strict=True,
    reason="a host tensor cannot become a board's in place; PrivateUse1 boards raise it too",
)
def test_set_data_across_devices():
    x = torch.zeros(2)
    x.data = ones(2)
    assert x.device.type == "mock"


def test_values_for_the_host():
    assert ones(2).sum().item() == 2.0
    assert bool(ones(1))
    assert ones(2).tolist() == [1.0, 1.0]
    assert [float(value) for value in ones(2)] == [1.0, 1.0]
    assert f"{ones(1).sum():.2f}" == "1.00"
    assert int(ones(1)) == 1


def test_numpy_raises_torchs_error():
    with pytest.raises(TypeError, match=r"can't convert mock:1 device type tensor to numpy\. Use"):
        ones(2).numpy()
    numpy = pytest.importorskip("numpy")
    with pytest.raises(TypeError, match="copy the tensor to host memory first"):
        numpy.asarray(ones(2))
    assert ones(2).numpy(force=True).tolist() == [1.0, 1.0]


def test_out_argument():
    out = torch.empty(3, device="mock:1")
    assert torch.add(ones(3), 1, out=out) is out
    assert out.tolist() == [2.0, 2.0, 2.0]
    out = torch.empty(0, device="mock:1")
    torch.add(ones(3), 1, out=out)
    assert out.shape == (3,)
    assert out.tolist() == [2.0, 2.0, 2.0]


def test_memory_is_counted_once_for_all_views():
    gc.collect()
    before = torch.mock.memory_allocated(1)
    x = ones(1024)
    v, y = x[10:], x.view(2, 512)
    assert torch.mock.memory_allocated(1) - before == 4096
    z = x + 1
    assert torch.mock.memory_allocated(1) - before == 8192
    del x, z
    assert torch.mock.memory_allocated(1) - before == 4096
    del v, y
    assert torch.mock.memory_allocated(1) == before
    assert torch.mock.max_memory_allocated(1) >= before + 8192


def test_out_of_memory_leaves_the_board_usable():
    with pytest.raises(torch.OutOfMemoryError, match=r"Tried to allocate 80\.00 MiB"):
        torch.empty(80 << 20, dtype=torch.uint8, device="mock:1")
    assert torch.mock.memory_allocated(1) == 0
    assert ones(3).sum().item() == 3


def test_vendor_named_method_and_flag():
    x = torch.ones(2).mock(1)
    assert x.is_mock
    assert x.device == torch.device("mock:1")
    assert x.get_device() == 1
    assert not x.is_cuda
    assert not x.is_cpu


def test_storage():
    x = ones(4)
    storage = x.untyped_storage()
    assert storage.device == torch.device("mock:1")
    assert storage.nbytes() == 16
    assert storage.data_ptr() == x.data_ptr() != 0
    assert x[1:].untyped_storage() is storage


def test_storage_resize_frees_and_takes_memory():
    x = ones(1024)
    before = torch.mock.memory_allocated(1)
    x.untyped_storage().resize_(0)
    assert torch.mock.memory_allocated(1) == before - 4096
    x.untyped_storage().resize_(4096)
    assert torch.mock.memory_allocated(1) == before
    assert x.fill_(2.0).sum().item() == 2048


def test_share_memory_returns_the_tensor():
    x = ones(4)
    assert x.share_memory_() is x
    assert x.is_shared()


def test_foreach():
    assert torch._foreach_add([ones(2)], 1)[0].device == torch.device("mock:1")


def test_sparse_results_are_refused():
    with pytest.raises(NotImplementedError, match="dense tensors alone"):
        ones(2, 2).to_sparse()


def test_sorting_selecting_joining():
    x = torch.randn(5, device="mock:1")
    for result in (
        x.sort()[0],
        x.topk(2)[1],
        torch.where(x > 0)[0],
        x[x > 0],
        torch.cat([x, x]),
        torch.stack([x, x]).unbind()[0],
    ):
        assert result.device == torch.device("mock:1")


def test_fft_and_linear_algebra():
    x = torch.randn(4, 4, device="mock:1")
    host = x.cpu()
    assert torch.allclose(torch.fft.fft(x).cpu(), torch.fft.fft(host))
    assert torch.allclose(torch.fft.fft(x).conj().cpu(), torch.fft.fft(host).conj())
    assert torch.allclose(torch.linalg.svd(x)[1].cpu(), torch.linalg.svd(host)[1])
    assert torch.allclose(torch.linalg.solve(x, x).cpu(), torch.eye(4), atol=1e-5)
    assert torch.allclose(torch.einsum("ij,jk->ik", x, x).cpu(), host @ host)


@pytest.mark.xfail(strict=True, reason="values of another device: board tensors are a subclass")
def test_type_is_exactly_tensor():
    assert type(ones(2)) is torch.Tensor


def test_parameters():
    p = torch.nn.Parameter(ones(2))
    assert isinstance(p, torch.nn.Parameter)
    assert p.is_leaf
    assert p.requires_grad


def test_parameter_repr():
    assert repr(torch.nn.Parameter(ones(1))) == (
        "Parameter containing:\ntensor([1.], device='mock:1', requires_grad=True)"
    )


def test_assert_close_compares_devices():
    torch.testing.assert_close(ones(2), ones(2))
    with pytest.raises(AssertionError, match="device"):
        torch.testing.assert_close(ones(2), torch.ones(2))


def test_pickle():
    x = pickle.loads(pickle.dumps(ones(2)))
    assert x.device == torch.device("mock:1")
    assert x.tolist() == [1.0, 1.0]


def test_deepcopy_keeps_sharing():
    x = torch.arange(4.0, device="mock:1")
    a, b = copy.deepcopy([x, x[1:]])
    a[1] = 7
    assert b.tolist() == [7.0, 2.0, 3.0]
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_deepcopy_refuses_tensors_with_history():
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(ones(2, requires_grad=True) * 2)


def test_inference_mode():
    with torch.inference_mode():
        x = torch.nn.functional.linear(ones(2, 3), ones(4, 3), ones(4))
        assert x.device == torch.device("mock:1")
        assert x.cpu().tolist() == [[4.0] * 4] * 2
        assert x.reshape(8).contiguous().to("cpu", torch.float64).sum() == 32


def test_default_device():
    torch.set_default_device("mock:1")
    try:
        assert torch.ones(2).device == torch.device("mock:1")
        assert torch.nn.Linear(2, 2).weight.device == torch.device("mock:1")
    finally:
        torch.set_default_device(None)


def test_device_as_context():
    with torch.device("mock:2"):
        assert torch.zeros(2).device == torch.device("mock:2")


def test_pinning_a_board_tensor_is_refused():
    assert not ones(2).is_pinned()
    with pytest.raises(RuntimeError, match="only dense CPU tensors can be pinned"):
        ones(2).pin_memory()
