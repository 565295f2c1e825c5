"""Broken: loading, signatures, capabilities, identity, processes."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import torch
from accelhal_mock.management import SimulatedManagement
from accelhal_mock.runtime import PythonRuntime
from testing.conformance.broken import specs
from testing.conformance.broken.backend import OnBrokenBackend

from accelhal.facts import BoardKey, DeviceProperties, Location, ProcessMemory
from accelhal.spi import Support

SPECS = "testing.conformance.broken.specs"

# ---- loading


class SpecImportsTorch(OnBrokenBackend):
    """The spec's module imports torch."""

    spec_location = "testing.conformance.broken.heavy_spec:SPEC"
    tasks = frozenset({"import_spec"})
    fails = frozenset({"spec_import_takes_neither_torch_nor_the_vendor"})


class ProbeImportsTorch(OnBrokenBackend):
    """The probe imports torch."""

    spec_location = f"{SPECS}:PROBE_IMPORTS"
    tasks = frozenset({"import_spec"})
    fails = frozenset({"probe_imports_neither_torch_nor_the_vendor"})


class ProbeOpensTheDriver(OnBrokenBackend):
    """The probe loads a driver library, as one that creates a context does."""

    spec_location = f"{SPECS}:PROBE_OPENS"
    tasks = frozenset({"import_spec"})
    fails = frozenset({"probe_touches_nothing"})


class ProbeWithoutReason(OnBrokenBackend):
    """The probe gives no reason."""

    spec_changes: ClassVar[Mapping[str, Any]] = {"probe": specs.SILENT.probe}
    fails = frozenset({"probe_is_sound", "probe_survives_an_empty_host"})


# ---- signatures


class ParameterRenamed(OnBrokenBackend):
    """A parameter has another name than in the interface."""

    fails = frozenset({"runtime_signatures_are_the_interface_s"})

    class Runtime(PythonRuntime):
        def synchronize(self, device: int) -> None:
            super().synchronize(device)


class DefaultChanged(OnBrokenBackend):
    """A default differs from the interface's."""

    fails = frozenset({"runtime_signatures_are_the_interface_s"})

    class Runtime(PythonRuntime):
        def create_event(
            self, index: int, enable_timing: bool = True, blocking: bool = False
        ) -> Any:
            return super().create_event(index, enable_timing, blocking)


class MemoryFigureIsAFloat(OnBrokenBackend):
    """memory_allocated returns a float."""

    fails = frozenset({"memory_figures_have_exact_types"})

    class Runtime(PythonRuntime):
        def memory_allocated(self, index: int) -> int:
            return float(super().memory_allocated(index))  # type: ignore[return-value]


class MemoryInfoIsAList(OnBrokenBackend):
    """mem_get_info returns a list."""

    fails = frozenset({"memory_info_has_exact_types"})

    class Runtime(PythonRuntime):
        def mem_get_info(self, index: int) -> tuple[int, int]:
            return list(super().mem_get_info(index))  # type: ignore[return-value]


class GraphLimitIsText(OnBrokenBackend):
    """graph_limit returns a str."""

    fails = frozenset({"graph_limit_has_the_exact_type"})

    class Runtime(PythonRuntime):
        def graph_limit(self, index: int) -> int | None:
            return "unlimited"  # type: ignore[return-value]


class ProcessesAreNumbers(OnBrokenBackend):
    """Management names processes by their number alone."""

    fails = frozenset({"management_has_exact_types"})

    class Management(SimulatedManagement):
        def processes(self, board: BoardKey) -> Sequence[ProcessMemory]:
            return [os.getpid()]  # type: ignore[list-item]


# ---- capabilities


class NoOpForAnAbsentCapability(OnBrokenBackend):
    """float32_precision is not declared, and its calls do nothing."""

    fails = frozenset({"undeclared_capabilities_do_not_work"})

    class Runtime(PythonRuntime):
        def get_float32_precision(self, index: int) -> str:
            return "ieee"

        def set_float32_precision(self, index: int, precision: str) -> None:
            """Nothing happens."""


class DeclaredCapabilityIsMissing(OnBrokenBackend):
    """Pinned memory is declared, and cannot be had."""

    fails = frozenset({"declared_capabilities_work"})
    also = frozenset({"memory"})

    class Runtime(PythonRuntime):
        def pin_memory(self, index: int, tensor: torch.Tensor) -> torch.Tensor:
            raise RuntimeError("no pinned memory")


class UnknownCapability(OnBrokenBackend):
    """A capability is declared that the interface does not know."""

    fails = frozenset({"declared_capabilities_are_known"})

    class Runtime(PythonRuntime):
        def capabilities(self, index: int) -> Mapping[str, Support]:
            return {**super().capabilities(index), "teleport": Support.NATIVE}


# ---- identity


class CountsTooFew(OnBrokenBackend):
    """One of torch's devices is not counted."""

    fails = frozenset({"runtime_counts_what_torch_counts"})

    class Runtime(PythonRuntime):
        def device_count(self) -> int:
            return super().device_count() - 1


class CountsTooMany(OnBrokenBackend):
    """An index beyond torch's devices is accepted."""

    fails = frozenset({"every_counted_device_computes", "runtime_counts_what_torch_counts"})
    # Every rule that looks at all devices meets the one that is not there.
    also = frozenset({"streams", "random_numbers", "processes", "health", "signatures", "memory"})

    class Runtime(PythonRuntime):
        def device_count(self) -> int:
            return super().device_count() + 1


class BoardChangesBetweenProcesses(OnBrokenBackend):
    """The board's key holds the process id."""

    child_setup = (
        "from testing.conformance.broken.facts import BoardChangesBetweenProcesses as Broken\n"
        "Broken.register()\n"
    )
    tasks = frozenset({"identify"})
    fails = frozenset({"board_keys_are_stable_across_processes"})
    also = frozenset({"health"})  # management knows the boards by their true keys

    class Runtime(PythonRuntime):
        def locate(self, index: int) -> Location:
            return Location(BoardKey("mock", "logic-id", f"{os.getpid()}-{index}"))


class PropertiesChange(OnBrokenBackend):
    """A property is another one each time."""

    fails = frozenset({"properties_do_not_change"})

    class Runtime(PythonRuntime):
        asked = 0

        def properties(self, index: int) -> DeviceProperties:
            self.asked += 1
            return replace(super().properties(index), arch=f"revision-{self.asked}")


class Nameless(OnBrokenBackend):
    """The properties hold no name."""

    fails = frozenset({"properties_name_the_device", "property_fields_have_exact_types"})

    class Runtime(PythonRuntime):
        def properties(self, index: int) -> DeviceProperties:
            return replace(super().properties(index), name="")


class OneThreadAlone(OnBrokenBackend):
    """Only the thread that opened the backend can wait for a device."""

    fails = frozenset({"every_counted_device_computes_in_a_new_thread"})

    class Runtime(PythonRuntime):
        def __init__(self, device_type: str) -> None:
            super().__init__(device_type)
            self.opened_by = threading.get_ident()

        def synchronize(self, index: int) -> None:
            if threading.get_ident() != self.opened_by:
                raise RuntimeError("invalid device context")
            super().synchronize(index)


# ---- processes


class DevicesShareABoard(OnBrokenBackend):
    """Every device is said to be on the first board: a pickled one comes back as device 0."""

    fails = frozenset({"devices_unpickle_to_themselves", "boards_differ"})
    also = frozenset({"health"})  # the second device is asked about, and the first board answers

    class Runtime(PythonRuntime):
        def locate(self, index: int) -> Location:
            return super().locate(0)


class ImportSpoilsForks(OnBrokenBackend):
    """Importing the plugin makes forked children end."""

    child_setup = "import os; os.register_at_fork(after_in_child=lambda: os._exit(3))"
    tasks = frozenset({"fork"})
    fails = frozenset({"fork_is_safe_until_first_use", "fork_after_use_works_or_says_so"})
