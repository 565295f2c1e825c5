"""Memory of boards, in the shape of torch.cuda.memory."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from accelhal_mock.python_mode.devices import board_of
from accelhal_mock.python_mode.installed import current_installation


def memory_allocated(device: Any = None) -> int:
    """Bytes held by tensors."""
    return board_of(device).memory.allocated()


def max_memory_allocated(device: Any = None) -> int:
    """Largest `memory_allocated` since the last reset, in bytes."""
    return board_of(device).memory.peak_allocated()


def memory_reserved(device: Any = None) -> int:
    """Bytes held by the caching allocator."""
    return board_of(device).memory.reserved()


def max_memory_reserved(device: Any = None) -> int:
    """Largest `memory_reserved` since the last reset, in bytes."""
    return board_of(device).memory.peak_reserved()


def memory_stats(device: Any = None) -> OrderedDict[str, int]:
    """All figures of the caching allocator, under torch.cuda's names."""
    return OrderedDict(board_of(device).memory.statistics())


def nested_memory_stats(device: Any = None) -> dict[str, Any]:
    """The same figures as nested dictionaries."""
    nested: dict[str, Any] = {}
    for name, figure in memory_stats(device).items():
        *path, last = name.split(".")
        place = nested
        for part in path:
            place = place.setdefault(part, {})
        place[last] = figure
    return nested


def reset_peak_memory_stats(device: Any = None) -> None:
    """Lower the peaks to the present figures."""
    board_of(device).memory.reset_peaks()


def reset_accumulated_memory_stats(device: Any = None) -> None:
    """Count what is allocated and freed from here."""
    board_of(device).memory.reset_accumulated()


def memory_snapshot(device: Any = None) -> list[dict[str, Any]]:
    """Segments of the caching allocator and their blocks, of all boards when None."""
    boards = current_installation().machine.boards if device is None else (board_of(device),)
    return [segment for board in boards for segment in board.memory.snapshot()]


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """(free, total) bytes of a board."""
    return board_of(device).memory.mem_get_info()


def empty_cache() -> None:
    """Return unused cached memory of all boards to the driver."""
    for board in current_installation().machine.boards:
        board.memory.empty_cache()


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    """Cap this process at a share of a board's memory.

    Raises:
        TypeError: the fraction is no float.
        ValueError: it is not from 0 to 1.
    """
    if not isinstance(fraction, float):
        raise TypeError("Invalid type for fraction argument, must be `float`")
    if not 0 <= fraction <= 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    board_of(device).memory.set_fraction(fraction)


def get_per_process_memory_fraction(device: Any = None) -> float:
    """The cap as a share of a board's memory."""
    return board_of(device).memory.fraction
