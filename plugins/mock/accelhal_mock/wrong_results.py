"""A fault's wrong bit, put into a result."""

from __future__ import annotations

import torch

from accelhal_mock.simulation import BitFlip


def flip_bit(values: torch.Tensor, flip: BitFlip) -> None:
    """Flip one bit of one element of host values; nothing where there is none."""
    if values.numel() == 0:
        return
    element, bit = flip.place(values.numel(), 8 * values.element_size())
    offset = values.storage_offset()
    for size, stride in zip(reversed(values.shape), reversed(values.stride()), strict=True):
        element, place = divmod(element, size)
        offset += place * stride
    cell = values.as_strided((1,), (1,), offset)
    if cell.dtype is torch.bool:
        cell.logical_not_()
    else:
        cell.view(torch.uint8)[bit // 8].bitwise_xor_(1 << bit % 8)
