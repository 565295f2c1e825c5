"""Broken: a method ignores its index, and is about the first board whichever is asked for."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from accelhal_mock import installation
from accelhal_mock.management import SimulatedManagement
from accelhal_mock.runtime import PythonRuntime
from testing.conformance.broken.backend import OnBrokenBackend

from accelhal.facts import BoardKey, HealthReport, Link, SupportedDtypes, Telemetry
from accelhal.spi import Support


def ignoring_the_index(method: str) -> type[PythonRuntime]:
    """A runtime whose method always takes index 0."""
    honest = getattr(PythonRuntime, method)

    @functools.wraps(honest)
    def of_the_first(self: PythonRuntime, index: int, *arguments: Any, **named: Any) -> Any:
        return honest(self, 0, *arguments, **named)

    return type("Runtime", (PythonRuntime,), {method: of_the_first})


# ---- identity, capabilities, element types


class PropertiesOfTheFirst(OnBrokenBackend):
    """properties ignores its index."""

    fails = frozenset({"uuids_differ", "uuid_key_is_the_device_s_uuid"})
    Runtime = ignoring_the_index("properties")


class TorchDeviceOfTheFirst(OnBrokenBackend):
    """torch_device ignores its index."""

    fails = frozenset({"torch_device_round_trips"})
    # Tensors meant for the second board are made on the first.
    also = frozenset(
        {
            "capabilities",
            "current_device",
            "streams",
            "events",
            "memory",
            "random_numbers",
            "graphs",
            "health",
        }
    )
    Runtime = ignoring_the_index("torch_device")


class CapabilitiesOfTheFirst(OnBrokenBackend):
    """The second board cannot cap memory; capabilities says that it can, as the first does."""

    fails = frozenset({"declared_capabilities_work"})
    also = frozenset({"memory"})

    class Runtime(PythonRuntime):
        def set_per_process_memory_fraction(self, index: int, fraction: float) -> None:
            if index:
                raise RuntimeError("this board has no cap")
            super().set_per_process_memory_fraction(index, fraction)


class CapabilityOfTheSecondIsNotDeclared(OnBrokenBackend):
    """The second board has capped memory, and capabilities does not say so."""

    fails = frozenset({"undeclared_capabilities_do_not_work"})

    class Runtime(PythonRuntime):
        def capabilities(self, index: int) -> Mapping[str, Support]:
            found = dict(super().capabilities(index))
            if index:
                del found["memory_fraction"]
            return found


class DtypesOfTheFirst(OnBrokenBackend):
    """The second board is said to multiply bool, which no board does."""

    fails = frozenset({"compute_dtypes_multiply[second]"})

    class Runtime(PythonRuntime):
        def supported_dtypes(self, index: int) -> SupportedDtypes:
            found = super().supported_dtypes(index)
            return replace(found, compute=found.compute | {torch.bool}) if index else found


# ---- streams


class SynchronizesTheFirst(OnBrokenBackend):
    """synchronize ignores its index."""

    fails = frozenset({"device_synchronize_waits_for_all_streams[second]"})
    also = frozenset({"events"})  # times are asked for before they are there
    Runtime = ignoring_the_index("synchronize")


class StreamOfTheFirst(OnBrokenBackend):
    """create_stream ignores its index."""

    fails = frozenset({"stream_belongs_to_its_device"})
    also = frozenset({"events", "graphs", "capabilities"})  # it is refused
    Runtime = ignoring_the_index("create_stream")


class CurrentStreamOfTheFirst(OnBrokenBackend):
    """current_stream ignores its index."""

    fails = frozenset({"stream_belongs_to_its_device", "with_makes_the_stream_current[second]"})
    Runtime = ignoring_the_index("current_stream")


class DefaultStreamOfTheFirst(OnBrokenBackend):
    """default_stream ignores its index."""

    fails = frozenset(
        {"stream_belongs_to_its_device", "first_current_stream_is_the_default_one[second]"}
    )
    Runtime = ignoring_the_index("default_stream")


# ---- memory


class MemoryOfTheFirst(OnBrokenBackend):
    """memory_allocated ignores its index."""

    fails = frozenset({"figures_are_per_device"})
    Runtime = ignoring_the_index("memory_allocated")


class PeakOfTheFirst(OnBrokenBackend):
    """max_memory_allocated ignores its index."""

    fails = frozenset({"figures_are_per_device"})
    Runtime = ignoring_the_index("max_memory_allocated")


class ReservedOfTheFirst(OnBrokenBackend):
    """memory_reserved ignores its index."""

    fails = frozenset({"figures_are_per_device"})
    Runtime = ignoring_the_index("memory_reserved")


class PeakReservedOfTheFirst(OnBrokenBackend):
    """max_memory_reserved ignores its index."""

    fails = frozenset({"figures_are_per_device"})
    Runtime = ignoring_the_index("max_memory_reserved")


class StatsOfTheFirst(OnBrokenBackend):
    """memory_stats ignores its index."""

    fails = frozenset({"figures_are_per_device"})
    Runtime = ignoring_the_index("memory_stats")


class ResetsTheFirst(OnBrokenBackend):
    """reset_peak_memory_stats ignores its index."""

    fails = frozenset({"reset_lowers_the_peak[second]", "resetting_one_peak_keeps_another"})
    Runtime = ignoring_the_index("reset_peak_memory_stats")


class EmptiesTheFirst(OnBrokenBackend):
    """empty_cache ignores its index."""

    fails = frozenset({"empty_cache_returns_unused_memory_only[second]"})

    class Runtime(PythonRuntime):
        def empty_cache(self, index: int) -> None:
            installation.machine().board(0).memory.empty_cache()


class FreeMemoryOfTheFirst(OnBrokenBackend):
    """mem_get_info ignores its index."""

    fails = frozenset({"free_memory_is_per_device"})
    Runtime = ignoring_the_index("mem_get_info")


class LeastFreeMemory(OnBrokenBackend):
    """mem_get_info answers for the board with the least free memory."""

    fails = frozenset({"free_memory_is_per_device"})

    class Runtime(PythonRuntime):
        def mem_get_info(self, index: int) -> tuple[int, int]:
            honest = super().mem_get_info
            return min(honest(each) for each in range(self.device_count()))


class CapsTheFirst(OnBrokenBackend):
    """set_per_process_memory_fraction ignores its index."""

    fails = frozenset({"memory_fraction_caps_the_process[second]", "memory_fraction_is_per_device"})
    Runtime = ignoring_the_index("set_per_process_memory_fraction")


class CapsEveryBoard(OnBrokenBackend):
    """set_per_process_memory_fraction caps all boards."""

    fails = frozenset({"memory_fraction_is_per_device"})

    class Runtime(PythonRuntime):
        def set_per_process_memory_fraction(self, index: int, fraction: float) -> None:
            for each in range(self.device_count()):
                super().set_per_process_memory_fraction(each, fraction)


# ---- random numbers


class SeedsTheFirst(OnBrokenBackend):
    """manual_seed ignores its index."""

    fails = frozenset({"same_seed_gives_the_same_numbers", "generators_are_per_device"})
    Runtime = ignoring_the_index("manual_seed")


class StateOfTheFirst(OnBrokenBackend):
    """get_rng_state ignores its index."""

    fails = frozenset({"state_round_trips[second]", "drawing_moves_the_state[second]"})
    Runtime = ignoring_the_index("get_rng_state")


class RestoresTheFirst(OnBrokenBackend):
    """set_rng_state ignores its index."""

    fails = frozenset({"state_round_trips[second]", "generators_are_per_device"})
    Runtime = ignoring_the_index("set_rng_state")


# ---- graphs


class CapturesTheFirst(OnBrokenBackend):
    """capture_graph ignores its index."""

    fails = frozenset({"replay_recomputes_from_new_input[second]"})
    Runtime = ignoring_the_index("capture_graph")


# ---- health


class HealthOfTheFirst(OnBrokenBackend):
    """Every board is as healthy as the first."""

    fails = frozenset({"injected_fault_is_one_board_s"})

    class Management(SimulatedManagement):
        def health(self, board: BoardKey) -> HealthReport:
            return super().health(_first(self))


class TelemetryOfTheFirst(OnBrokenBackend):
    """Every board shows the first one's sensors."""

    fails = frozenset({"telemetry_is_of_the_board_asked_for"})

    class Management(SimulatedManagement):
        def telemetry(self, board: BoardKey) -> Telemetry:
            return super().telemetry(_first(self))


class LinksOfTheFirst(OnBrokenBackend):
    """Every board shows the first one's link, which leads to the second."""

    fails = frozenset({"links_lead_to_other_boards"})

    class Management(SimulatedManagement):
        def links(self, board: BoardKey) -> Sequence[Link]:
            return [Link("mesh", self.boards()[1].key, True)]


def _first(management: SimulatedManagement) -> BoardKey:
    key = management.boards()[0].key
    assert key is not None, "simulated boards have keys"
    return key
