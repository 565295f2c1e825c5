"""Inference mode tells ordinary tensors from its own; boards draw the same line as the host."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

VIEWS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "slice": lambda x: x[2:5],
    "view": lambda x: x.view(2, 4),
    "transpose": lambda x: x.view(2, 4).t(),
    "split": lambda x: x.split(4)[1],
    "detach": lambda x: x.detach(),
    "real": lambda x: x.to(torch.complex64).real,
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("made_inside", [False, True], ids=["ordinary", "inference"])
def test_views_are_of_their_bases_kind(
    mock_boards: Callable[..., list[str]],
    view: Callable[[torch.Tensor], torch.Tensor],
    made_inside: bool,
) -> None:
    def facts(where: str) -> tuple[bool, list[float], object]:
        with torch.inference_mode(made_inside):
            base = torch.arange(8.0, device=where)
        with torch.inference_mode():
            seen = view(base)
            seen.add_(1)
        version = None if made_inside else base._version
        return seen.is_inference(), base.cpu().tolist(), version

    (board,) = mock_boards(count=1)
    assert facts(board) == facts("cpu")


def test_an_inference_tensor_can_be_copied_without_waiting(
    mock_boards: Callable[..., list[str]],
) -> None:
    (board,) = mock_boards(count=1, mode="python")
    with torch.inference_mode():
        pinned = torch.arange(4.0).pin_memory()
        moved = pinned.to(board, non_blocking=True)
        assert pinned.is_inference()
        assert moved.cpu().tolist() == [0, 1, 2, 3]
        pinned.fill_(7)  # nothing is under way any more
