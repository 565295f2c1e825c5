"""Board tensors whose shape or memory an operator changed in place follow their host values."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch.utils._mode_utils import no_dispatch

from accelhal_mock.python_mode.tensor import BoardTensor, storage_key


def follow_host(tensor: BoardTensor, operands: Iterable[BoardTensor]) -> None:
    """Give a board tensor the shape and the memory that its host values have now.

    Raises:
        torch.OutOfMemoryError: the values have grown, and the board has no room for them.
    """
    host = tensor._host
    key = storage_key(host)
    if key != tensor._key:  # aten::set_: other memory was put under it
        tensor._key = key
        for operand in operands:
            if operand._key == key and operand is not tensor:
                tensor._memory = operand._memory
                break
        else:
            tensor._memory = tensor._board.memory.allocate(host.untyped_storage().nbytes())
    nbytes = host.untyped_storage().nbytes()
    if nbytes != tensor._memory.nbytes:
        tensor._memory.resize(nbytes)
    if (
        tensor.size() != host.size()
        or tensor.stride() != host.stride()
        or tensor.storage_offset() != host.storage_offset()
    ):
        _set_shape(tensor, host)


def _set_shape(tensor: torch.Tensor, host: torch.Tensor) -> None:
    """Let the meta kernel of `set_` change the sizes of the wrapper, below all dispatch."""
    with no_dispatch():
        before = torch._C._meta_in_tls_dispatch_include()
        torch._C._set_meta_in_tls_dispatch_include(True)
        try:
            torch.ops.aten.set_.source_Storage_storage_offset(
                tensor,
                torch.Tensor.untyped_storage(tensor),
                host.storage_offset(),
                host.size(),
                host.stride(),
            )
        finally:
            torch._C._set_meta_in_tls_dispatch_include(before)
