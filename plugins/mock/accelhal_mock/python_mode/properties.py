"""What torch's device module tells of a board, from its profile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from accelhal_mock.python_mode.devices import board_of
from accelhal_mock.simulation import Board

_TYPES_OF_EVERY_BOARD = frozenset(
    {
        torch.bool,
        torch.uint8,
        torch.int8,
        torch.int16,
        torch.int32,
        torch.int64,
        torch.float32,
        torch.float64,
        torch.complex64,
        torch.complex128,
    }
)
_TYPES_OF_SOME = (torch.float16, torch.bfloat16)


@dataclass(frozen=True)
class BoardProperties:
    """Properties of a board, by the names of torch.cuda.

    Attributes:
        name: the board's product name.
        total_memory: bytes.
        multi_processor_count: compute units; 0 where the profile does not say.
        major: of the compute capability; 0 where the board has none.
        minor: of the compute capability.
        uuid: stable name of the board.
        is_integrated: False.
        gcnArchName: architecture name.
    """

    name: str
    total_memory: int
    multi_processor_count: int
    major: int
    minor: int
    uuid: str
    is_integrated: bool
    gcnArchName: str  # noqa: N815  (torch.cuda's spelling)


def get_device_properties(device: Any = None) -> BoardProperties:
    """All properties of a board."""
    board = board_of(device)
    major, minor = _capability(board)
    return BoardProperties(
        name=board.profile.product,
        total_memory=board.memory.capacity,
        multi_processor_count=board.profile.compute_units or 0,
        major=major,
        minor=minor,
        uuid=board.uuid,
        is_integrated=False,
        gcnArchName=board.profile.arch or "",
    )


def get_device_name(device: Any = None) -> str:
    """The board's product name."""
    return board_of(device).profile.product


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """Compute capability; (0, 0) for boards that have none."""
    return _capability(board_of(device))


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether the current board has units for bfloat16."""
    return torch.bfloat16 in supported_dtypes()


def get_amp_supported_dtype() -> list[torch.dtype]:
    """Element types that autocast can run in on the current board."""
    return [dtype for dtype in _TYPES_OF_SOME if dtype in supported_dtypes()]


def supported_dtypes(device: Any = None) -> frozenset[torch.dtype]:
    """Element types that the board stores."""
    missing = board_of(device).profile.unsupported
    found = {dtype for dtype in _TYPES_OF_SOME if str(dtype).removeprefix("torch.") not in missing}
    return _TYPES_OF_EVERY_BOARD | found


def _capability(board: Board) -> tuple[int, int]:
    """From an architecture named as NVIDIA does: "sm_80" is (8, 0)."""
    family, _, number = (board.profile.arch or "").partition("_")
    if family != "sm" or not number.isdigit():
        return 0, 0
    return int(number[:-1]), int(number[-1])
