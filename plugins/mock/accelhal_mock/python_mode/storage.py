"""The storage of a board tensor: the host's bytes under another device's name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from accelhal_mock.simulation import Allocation


class BoardStorage(torch.UntypedStorage):
    """The storage under a board tensor. An ordinary CPU storage is turned into one in place.

    torch keeps one Python object for a storage as long as the storage lives, so whoever asks any
    of its tensors sees this class and its memory.
    """

    board_memory: Allocation
    board_device: torch.device

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        """The board."""
        return self.board_device

    @property
    def is_cuda(self) -> bool:
        """False: the boards are no CUDA devices."""
        return False

    def get_device(self) -> int:
        """Index of the board."""
        return self.board_device.index or 0

    def resize_(self, size: int) -> BoardStorage:
        """Change the size in bytes; the board's memory follows."""
        self.board_memory.resize(size)
        super().resize_(size)
        return self

    def cpu(self) -> torch.UntypedStorage:
        """A copy on the host, complete when this returns."""
        board = self.board_memory.board
        stream = board.current_stream()
        cost = board.host_copy_cost(self.nbytes())
        stream.launch("copy to host", cost, (self.board_memory,))
        stream.synchronize()
        return torch.UntypedStorage(self.nbytes()).copy_(self, False)

    def is_shared(self) -> bool:
        """True, as torch says of storages on boards."""
        return True

    def share_memory_(self) -> BoardStorage:
        """Return it: other processes reach boards through their own drivers."""
        return self

    def is_pinned(self, device: Any = None) -> bool:
        """False: it is not host memory."""
        return False


def board_storage(host: torch.Tensor, memory: Allocation, device: torch.device) -> BoardStorage:
    """The storage of a board tensor's host values, shown as the board's."""
    storage: Any = host.untyped_storage()
    if type(storage) is not BoardStorage:
        storage.__class__ = BoardStorage
        storage.board_memory = memory
        storage.board_device = device
    found: BoardStorage = storage
    return found
