"""Broken: what is told of memory, and what asking for it changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from accelhal_mock import installation
from accelhal_mock.management import SimulatedManagement
from accelhal_mock.runtime import PythonRuntime
from testing.conformance.broken.backend import OnBrokenBackend

from accelhal.facts import BoardInfo, MemoryStats, Telemetry


class FiguresInBits(OnBrokenBackend):
    """Every figure of the process's memory is in bits."""

    fails = frozenset({"allocating_raises_the_allocated_figure"})

    class Runtime(PythonRuntime):
        def memory_allocated(self, index: int) -> int:
            return 8 * super().memory_allocated(index)

        def max_memory_allocated(self, index: int) -> int:
            return 8 * super().max_memory_allocated(index)

        def memory_reserved(self, index: int) -> int:
            return 8 * super().memory_reserved(index)

        def max_memory_reserved(self, index: int) -> int:
            return 8 * super().max_memory_reserved(index)

        def memory_stats(self, index: int) -> MemoryStats:
            return MemoryStats(
                allocated=self.memory_allocated(index),
                peak_allocated=self.max_memory_allocated(index),
                reserved=self.memory_reserved(index),
                peak_reserved=self.max_memory_reserved(index),
            )


class PeakIsASum(OnBrokenBackend):
    """max_memory_allocated sums what was allocated since the reset."""

    fails = frozenset({"peak_is_not_a_sum"})

    class Runtime(PythonRuntime):
        def max_memory_allocated(self, index: int) -> int:
            peak = super().max_memory_allocated(index)
            return peak + 2 * (peak - self.memory_allocated(index))


class ResetForgetsWhatIsHeld(OnBrokenBackend):
    """After reset_peak_memory_stats the peak is counted from 0, whatever is held."""

    fails = frozenset({"reset_lowers_the_peak[first]", "reset_lowers_the_peak[second]"})

    class Runtime(PythonRuntime):
        def __init__(self, device_type: str) -> None:
            super().__init__(device_type)
            self.forgotten: dict[int, int] = {}

        def reset_peak_memory_stats(self, index: int) -> None:
            super().reset_peak_memory_stats(index)
            self.forgotten[index] = self.memory_allocated(index)

        def max_memory_allocated(self, index: int) -> int:
            return super().max_memory_allocated(index) - self.forgotten.get(index, 0)


class ReservedPeakStays(OnBrokenBackend):
    """reset_peak_memory_stats resets the peak of allocated memory alone."""

    fails = frozenset({"reset_lowers_the_reserved_peak"})

    class Runtime(PythonRuntime):
        def __init__(self, device_type: str) -> None:
            super().__init__(device_type)
            self.peaks: dict[int, int] = {}

        def max_memory_reserved(self, index: int) -> int:
            peak = max(self.peaks.get(index, 0), super().max_memory_reserved(index))
            self.peaks[index] = peak
            return peak

        def reset_peak_memory_stats(self, index: int) -> None:
            self.max_memory_reserved(index)
            super().reset_peak_memory_stats(index)


class StatsTellAnotherPeak(OnBrokenBackend):
    """memory_stats tells twice the peak of what is reserved."""

    fails = frozenset({"stats_agree_with_the_single_figures"})

    class Runtime(PythonRuntime):
        def memory_stats(self, index: int) -> MemoryStats:
            found = super().memory_stats(index)
            return replace(found, peak_reserved=2 * (found.peak_reserved or 0))


class AskingEmptiesTheCache(OnBrokenBackend):
    """mem_get_info empties the cache, so as to answer with the most."""

    fails = frozenset({"getters_keep_the_cache[mem_get_info]"})

    class Runtime(PythonRuntime):
        def mem_get_info(self, index: int) -> tuple[int, int]:
            installation.machine().board(index).memory.empty_cache()
            return super().mem_get_info(index)


class PinsOnceMore(OnBrokenBackend):
    """pin_memory copies what is pinned already."""

    fails = frozenset({"pinned_memory_holds_the_values"})

    class Runtime(PythonRuntime):
        def pin_memory(self, index: int, tensor: torch.Tensor) -> torch.Tensor:
            return super().pin_memory(index, tensor.clone())


class BoardMemoryInMebibytes(OnBrokenBackend):
    """Management tells all memory in MiB."""

    fails = frozenset({"boards_tell_their_memory_in_bytes", "telemetry_is_of_the_board_asked_for"})

    class Management(SimulatedManagement):
        def boards(self) -> Sequence[BoardInfo]:
            return [
                replace(board, total_memory=(board.total_memory or 0) >> 20)
                for board in super().boards()
            ]

        def telemetry(self, board: Any) -> Telemetry:
            found = super().telemetry(board)
            return replace(
                found,
                memory_used=(found.memory_used or 0) >> 20,
                memory_total=(found.memory_total or 0) >> 20,
            )
