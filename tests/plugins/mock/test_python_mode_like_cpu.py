"""Small programs that must give on a board what they give on the processor."""

from __future__ import annotations

import io

import pytest

torch = pytest.importorskip("torch")


@pytest.mark.parametrize(
    "make",
    [
        lambda x: torch.empty_like(x, device="cpu"),
        lambda x: torch.zeros_like(x, device="cpu"),
        lambda x: torch.rand_like(x, device="cpu"),
        lambda x: torch.empty_like(x, device="cpu", pin_memory=True),
        lambda x: x.new_zeros(2, device="cpu"),
        lambda x: x.new_full((2,), 3.0, device="cpu"),
        lambda x: x.new_empty(2, device="cpu"),
    ],
)
def test_a_tensor_like_one_of_a_board_is_made_on_the_host_when_asked(mock_boards, make):
    (board,) = mock_boards(count=1)
    x = torch.ones(3, device=board)
    before = torch.mock.memory_allocated()
    assert make(x).device.type == "cpu"
    assert torch.mock.memory_allocated() == before


def test_a_lazily_conjugated_tensor_is_saved_with_its_values(mock_boards):
    (board,) = mock_boards(count=1)
    x = torch.tensor([1 + 2j, 3 - 1j])
    file = io.BytesIO()
    torch.save([x.to(board).conj(), x.to(board).conj().imag], file)
    file.seek(0)
    conjugated, imaginary = torch.load(file)
    assert conjugated.tolist() == [1 - 2j, 3 + 1j]
    assert imaginary.tolist() == [-2.0, 1.0]


def test_data_has_a_version_counter_of_its_own(mock_boards):
    (board,) = mock_boards(count=1)
    x = torch.ones(3, device=board, requires_grad=True)
    y = (x * x).sum()
    x.data.mul_(2)  # autograd does not see it, on the processor either
    y.backward()
    assert x.grad.tolist() == [4.0, 4.0, 4.0]


def test_foreach_copy_takes_tensors_from_anywhere(mock_boards):
    (board, other) = mock_boards(count=2)
    targets = [torch.zeros(2, device=board) for _ in range(3)]
    sources = [torch.ones(2), torch.full((2,), 2.0, device=other), torch.full((2,), 3.0).to(board)]
    torch._foreach_copy_(targets, sources)
    assert [target.tolist() for target in targets] == [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]


def test_a_hessian_is_that_of_the_processor(mock_boards):
    (board,) = mock_boards(count=1)
    x = torch.tensor([1.0, -2.0, 3.0])

    def cubes(v):
        return (v**3).sum()

    found = torch.func.hessian(cubes)(x.to(board))
    torch.testing.assert_close(found.cpu(), torch.func.hessian(cubes)(x))
