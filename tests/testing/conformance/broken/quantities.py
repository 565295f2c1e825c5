"""Broken: memory, out of memory, element types, health, collectives."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, ClassVar

import torch
from accelhal_mock.management import SimulatedManagement
from accelhal_mock.runtime import PythonRuntime
from testing.conformance.broken.backend import OnBrokenBackend
from testing.conformance.broken.events import OnTheHostsClock
from torch.overrides import TorchFunctionMode

from accelhal.errors import ErrorKind
from accelhal.facts import (
    BoardKey,
    DeviceProperties,
    HealthReport,
    HealthStatus,
    MemoryStats,
    SupportedDtypes,
    Telemetry,
)
from accelhal.runtimes.cpu import CpuRuntime
from accelhal.spi import Support

# ---- memory


class MemoryInfoSwapped(OnBrokenBackend):
    """mem_get_info answers (total, free)."""

    fails = frozenset({"free_and_used_make_the_total[first]"})

    class Runtime(PythonRuntime):
        def mem_get_info(self, index: int) -> tuple[int, int]:
            free, total = super().mem_get_info(index)
            return total, free


class MemoryInfoInKibibytes(OnBrokenBackend):
    """mem_get_info answers in KiB."""

    fails = frozenset({"totals_agree[first]"})

    class Runtime(PythonRuntime):
        def mem_get_info(self, index: int) -> tuple[int, int]:
            free, total = super().mem_get_info(index)
            return free // 1024, total // 1024


class TotalMemoryInMebibytes(OnBrokenBackend):
    """The properties tell the total in MiB; mem_get_info, which would tell too, is absent."""

    fails = frozenset({"total_memory_is_in_bytes[first]"})
    also = frozenset({"health"})  # the board tells its own total

    class Runtime(PythonRuntime):
        def properties(self, index: int) -> DeviceProperties:
            found = super().properties(index)
            assert found.total_memory is not None, "simulated boards tell it"
            return replace(found, total_memory=found.total_memory >> 20, integrated=True)

        def capabilities(self, index: int) -> Mapping[str, Support]:
            found = dict(super().capabilities(index))
            del found["memory_info"]
            return found

        def mem_get_info(self, index: int) -> tuple[int, int]:
            raise NotImplementedError


class StatsResetThePeak(OnBrokenBackend):
    """Asking for memory_stats resets the peak."""

    fails = frozenset({"getters_keep_the_peak[memory_stats]"})

    class Runtime(PythonRuntime):
        def memory_stats(self, index: int) -> MemoryStats:
            found = super().memory_stats(index)
            self.reset_peak_memory_stats(index)
            return found


class ResetKeepsThePeak(OnBrokenBackend):
    """reset_peak_memory_stats does nothing."""

    fails = frozenset({"reset_lowers_the_peak[first]"})

    class Runtime(PythonRuntime):
        def reset_peak_memory_stats(self, index: int) -> None:
            """The peak stays."""


class CacheIsNotEmptied(OnBrokenBackend):
    """empty_cache does nothing."""

    fails = frozenset({"empty_cache_returns_unused_memory_only[first]"})

    class Runtime(PythonRuntime):
        def empty_cache(self, index: int) -> None:
            """The cache stays full."""


class FractionIsIgnored(OnBrokenBackend):
    """set_per_process_memory_fraction does nothing."""

    fails = frozenset({"memory_fraction_caps_the_process[first]"})

    class Runtime(PythonRuntime):
        def set_per_process_memory_fraction(self, index: int, fraction: float) -> None:
            """There is no cap."""


class ReservedIsTooLow(OnBrokenBackend):
    """memory_reserved counts half of what tensors hold."""

    fails = frozenset({"reserved_is_not_below_allocated"})

    class Runtime(PythonRuntime):
        def memory_reserved(self, index: int) -> int:
            return super().memory_allocated(index) // 2


# ---- out of memory


class OutOfMemoryIsUnknown(OnBrokenBackend):
    """Exhausted memory is of unknown kind."""

    fails = frozenset({"huge_allocation_is_classified_as_out_of_memory"})

    class Runtime(PythonRuntime):
        def classify_error(self, error: BaseException) -> ErrorKind:
            found = super().classify_error(error)
            return ErrorKind.UNKNOWN if found is ErrorKind.OUT_OF_MEMORY else found


class EverythingIsOutOfMemory(OnBrokenBackend):
    """Every RuntimeError is taken for exhausted memory."""

    fails = frozenset({"other_errors_are_not_out_of_memory"})

    class Runtime(PythonRuntime):
        def classify_error(self, error: BaseException) -> ErrorKind:
            if isinstance(error, RuntimeError):
                return ErrorKind.OUT_OF_MEMORY
            return super().classify_error(error)


# ---- element types


class ListsATypeThatDoesNotMultiply(OnBrokenBackend):
    """bool is listed for computing."""

    fails = frozenset({"compute_dtypes_multiply[first]"})

    class Runtime(PythonRuntime):
        def supported_dtypes(self, index: int) -> SupportedDtypes:
            found = super().supported_dtypes(index)
            return replace(found, compute=found.compute | {torch.bool})


class MultipliesIntegers(OnTheHostsClock, OnBrokenBackend):
    """Nothing is broken: integers are listed for computing, and their products are exact."""

    class Runtime(CpuRuntime):
        def __init__(self, device_type: str) -> None:
            super().__init__()

        def supported_dtypes(self, index: int) -> SupportedDtypes:
            found = super().supported_dtypes(index)
            return replace(found, compute=found.compute | {torch.int8, torch.int64})


class IeeeIsOnlySaid(OnBrokenBackend):
    """A float32 precision is kept and read back, and products are reduced in any case."""

    fails = frozenset({"ieee_precision_is_kept"})

    def working(self) -> AbstractContextManager[Any]:
        return _ReducedProducts()

    class Runtime(PythonRuntime):
        precision = "tf32"

        def capabilities(self, index: int) -> Mapping[str, Support]:
            return {**super().capabilities(index), "float32_precision": Support.NATIVE}

        def get_float32_precision(self, index: int) -> str:
            return self.precision

        def set_float32_precision(self, index: int, precision: str) -> None:
            if precision not in ("ieee", "tf32"):
                raise ValueError(precision)
            self.precision = precision


class _ReducedProducts(TorchFunctionMode):
    """Factors of a board's float32 products lose half their bits."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in (torch.Tensor.matmul, torch.Tensor.__matmul__, torch.matmul):
            args = tuple(
                factor.bfloat16().float()
                if factor.dtype is torch.float32 and factor.device.type != "cpu"
                else factor
                for factor in args
            )
        return func(*args, **(kwargs or {}))


class AutocastWithoutDtypes(OnBrokenBackend):
    """autocast is declared, and supported_dtypes lists none for it."""

    fails = frozenset({"autocast_is_a_context", "declared_capabilities_work"})

    class Runtime(PythonRuntime):
        def supported_dtypes(self, index: int) -> SupportedDtypes:
            return replace(super().supported_dtypes(index), autocast=frozenset())


class AutocastDoesNotCast(OnBrokenBackend):
    """autocast is a context that changes nothing."""

    fails = frozenset({"autocast_dtypes_are_used"})

    class Runtime(PythonRuntime):
        def autocast(self, index: int, dtype: torch.dtype) -> Any:
            return torch.autocast(self.device_type, dtype=dtype, enabled=False)


# ---- health


class HealthRaises(OnBrokenBackend):
    """Management raises where it is asked for health."""

    fails = frozenset({"management_health_does_not_raise"})
    also = frozenset({"signatures"})  # a type that nobody gets to see

    class Management(SimulatedManagement):
        def health(self, board: BoardKey) -> HealthReport:
            raise OSError("the driver is silent")


class HealthIsBlind(OnBrokenBackend):
    """Every board is OK, seen or not."""

    fails = frozenset(
        {
            "ok_rests_on_checks",
            "unseen_board_is_not_ok",
            "injected_fault_shows_at_the_next_look",
        }
    )

    class Management(SimulatedManagement):
        def health(self, board: BoardKey) -> HealthReport:
            return HealthReport(HealthStatus.OK)


class TemperatureInKelvin(OnBrokenBackend):
    """Temperatures are in kelvin."""

    fails = frozenset({"sensors_are_in_their_units"})

    class Management(SimulatedManagement):
        def telemetry(self, board: BoardKey) -> Telemetry:
            found = super().telemetry(board)
            return replace(found, temperature=(found.temperature or 0) + 273.15)


class SilentSensor(OnBrokenBackend):
    """A sensor is not reported, and no reason given."""

    fails = frozenset({"telemetry_answers_for_every_device"})

    class Management(SimulatedManagement):
        def telemetry(self, board: BoardKey) -> Telemetry:
            return replace(super().telemetry(board), power=None)


# ---- collectives


class UnknownCollectiveLibrary(OnBrokenBackend):
    """torch.distributed does not have the named library."""

    spec_changes: ClassVar[Mapping[str, Any]] = {"distributed_backend": "xccl9"}
    tasks = frozenset({"collective_backends"})
    fails = frozenset({"collective_library_is_known"})
