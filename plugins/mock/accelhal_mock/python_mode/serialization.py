"""Checkpoints: a board's storage carries its board's name, and comes back to a board or the host.

torch.load(map_location="mock:1") fails hard (a segmentation fault) for a device type that has
neither an allocator nor a deserializer, so the deserializer is always registered.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from accelhal_mock.python_mode.installed import found_installation
from accelhal_mock.python_mode.storage import BoardStorage
from accelhal_mock.python_mode.tensor import BoardTensor, board_devices, storage_key, wrap

_PRIORITY = 5
"""Before torch's own entries, which start at 10."""


def register_serialization() -> None:
    """Let torch.save name the boards, and torch.load find them."""
    torch.serialization.register_package(_PRIORITY, _location, _restore)


def rebuild_tensor(
    storage: Any, storage_offset: int, size: Sequence[int], stride: Sequence[int]
) -> BoardTensor | None:
    """The tensor over a loaded storage of a board; None for storages elsewhere."""
    untyped = storage._untyped_storage
    if not isinstance(untyped, BoardStorage):
        return None
    host = torch.empty(0, dtype=storage.dtype).set_(untyped, storage_offset, size, stride)
    memory = untyped.board_memory
    return wrap(host, memory.board, memory, storage_key(host))


def _location(storage: Any) -> str | None:
    return str(storage.board_device) if isinstance(storage, BoardStorage) else None


def _restore(storage: Any, location: str) -> Any:
    installation = found_installation()
    if installation is None or location.partition(":")[0] != installation.name:
        return None
    machine = installation.machine
    index = torch.device(location).index
    index = machine.current_device() if index is None else index
    if index >= len(machine.boards):
        raise RuntimeError(
            f"Attempting to deserialize object on {installation.name.upper()} device {index} but "
            f"torch.{installation.name}.device_count() is {len(machine.boards)}. Please use "
            "torch.load with map_location to map your storages to an existing device."
        )
    board = machine.board(index)
    memory = board.memory.allocate(storage.nbytes())
    stream = board.current_stream()
    stream.launch("copy from host", board.host_copy_cost(storage.nbytes()), (), (memory,))
    storage.__class__ = BoardStorage
    storage.board_memory = memory
    storage.board_device = board_devices[index]
    return storage
