"""Host memory that boards copy from and to: pinned buffers, and what is under way in them."""

from __future__ import annotations

import weakref
from typing import Any

import torch

from accelhal_mock.simulation import HostBuffer


class PinnedStorage(torch.UntypedStorage):
    """Page-locked host memory: an ordinary CPU storage, turned into one in place.

    Attributes:
        buffer: the copies under way in it.
        watched: tensors over it whose uses are checked while a copy is under way.
    """

    buffer: HostBuffer
    watched: list[weakref.ref[torch.Tensor]]

    def is_pinned(self, device: Any = "") -> bool:
        """True."""
        return True


def pin(tensor: torch.Tensor) -> torch.Tensor:
    """Turn a fresh CPU tensor's memory into pinned memory; returns the tensor."""
    storage: Any = tensor.untyped_storage()
    storage.__class__ = PinnedStorage
    storage.buffer = HostBuffer(f"pinned memory at {storage.data_ptr():#x}")
    storage.watched = []
    return tensor


def pinned_storage(tensor: torch.Tensor) -> PinnedStorage | None:
    """The pinned storage under a host tensor, or None where its memory is pageable."""
    storage = tensor.untyped_storage()
    return storage if isinstance(storage, PinnedStorage) else None


def poison(values: torch.Tensor) -> None:
    """Overwrite host values with ones that show: NaN, -1, or the largest of an unsigned type."""
    if values.is_floating_point() or values.is_complex():
        values.fill_(float("nan"))
    elif values.dtype is torch.bool:
        values.fill_(True)
    else:
        values.fill_(-1 if values.dtype.is_signed else torch.iinfo(values.dtype).max)
