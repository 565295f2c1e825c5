"""Group: a plugin's methods have the interface's signatures and return its types, exactly."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Mapping

import pytest
import torch

from accelhal.errors import ErrorKind
from accelhal.facade import Device
from accelhal.facts import (
    BoardDetails,
    BoardInfo,
    BoardKey,
    DeviceProperties,
    HealthReport,
    Link,
    Location,
    MemoryErrors,
    MemoryStats,
    Partition,
    PcieLink,
    ProcessMemory,
    SupportedDtypes,
    Telemetry,
)
from accelhal.spi import Management, Runtime, Support
from accelhal.testing.suite.base import SuiteBase
from accelhal.testing.suite.requirements import requires

Parameter = tuple[str, str, object]

_OF_A_BOARD: Mapping[str, type] = {
    "telemetry": Telemetry,
    "health": HealthReport,
    "details": BoardDetails,
    "memory_errors": MemoryErrors,
    "pcie": PcieLink,
}
"""Management method that takes a board -> what it returns."""

_SEVERAL_OF_A_BOARD: Mapping[str, type] = {
    "links": Link,
    "processes": ProcessMemory,
    "partitions": Partition,
}
"""Management method that takes a board -> what it returns any number of."""


class Signatures(SuiteBase):
    """Names, kinds and defaults of parameters are compared, and types of what is returned."""

    def test_runtime_signatures_are_the_interface_s(self) -> None:
        """Every Runtime method has the names, kinds and defaults of accelhal.spi.Runtime."""
        _compare(type(self.runtime), Runtime)

    def test_management_signatures_are_the_interface_s(self) -> None:
        """Every Management method has the names, kinds and defaults of accelhal.spi.Management."""
        assert self.management, "opened in its driver process"
        start = self.spec.open_management
        assert start is not None
        _compare(type(start()), Management)  # the plugin's own class, not what asks the process

    def test_management_has_exact_types(self) -> None:
        """Management answers accelhal's own classes, and versions as text."""
        management = self.management
        for name, version in management.versions().items():
            _text(version, f"versions()[{name!r}]", optional=False)
        for board in management.boards():
            _exactly(board, BoardInfo, "boards")
            if board.key is None:
                continue
            for name, wanted in _OF_A_BOARD.items():
                _exactly(getattr(management, name)(board.key), wanted, name)
            for name, wanted in _SEVERAL_OF_A_BOARD.items():
                for number, each in enumerate(getattr(management, name)(board.key)):
                    _exactly(each, wanted, f"{name}()[{number}]")

    def test_graph_limit_has_the_exact_type(self, device: Device) -> None:
        """graph_limit returns None or an int above 0."""
        found = self.runtime.graph_limit(device.index)
        _whole(found, "graph_limit")
        assert found is None or found > 0, f"graph_limit is {found}: None says that there is none"

    def test_identity_has_exact_types(self, device: Device) -> None:
        """Counts and indices are int, devices torch.device, facts accelhal's own classes."""
        runtime, index = self.runtime, device.index
        _exactly(runtime.device_count(), int, "device_count")
        _exactly(runtime.current_device(), int, "current_device")
        _exactly(runtime.torch_device(index), torch.device, "torch_device")
        _exactly(runtime.properties(index), DeviceProperties, "properties")
        _exactly(runtime.locate(index), Location, "locate")

    def test_property_fields_have_exact_types(self, device: Device) -> None:
        """Texts are str and sizes int: None where something is not reported, never ""."""
        found = device.properties
        for name in ("name", "vendor", "arch", "uuid", "pci"):
            _text(
                getattr(found, name), f"properties.{name}", optional=name not in ("name", "vendor")
            )
        for name in ("total_memory", "compute_units"):
            _whole(getattr(found, name), f"properties.{name}")
        key = device.location.key
        if key is not None:
            _exactly(key, BoardKey, "locate().key")
            _text(key.value, "locate().key.value", optional=False)

    def test_capabilities_have_exact_types(self, device: Device) -> None:
        """Capabilities map names to Support."""
        found = self.runtime.capabilities(device.index)
        assert isinstance(found, Mapping), f"capabilities returns a {type(found).__name__}"
        for name, support in found.items():
            _exactly(name, str, "a capability's name")
            _exactly(support, Support, f"capabilities()[{name!r}]")

    def test_dtypes_have_exact_types(self, device: Device) -> None:
        """Supported dtypes are three frozen sets of torch.dtype."""
        found = self.runtime.supported_dtypes(device.index)
        _exactly(found, SupportedDtypes, "supported_dtypes")
        for name in ("storage", "compute", "autocast"):
            dtypes = getattr(found, name)
            _exactly(dtypes, frozenset, f"supported_dtypes().{name}")
            assert all(isinstance(dtype, torch.dtype) for dtype in dtypes), f"{name}: {dtypes}"

    @requires("memory_info")
    def test_memory_info_has_exact_types(self, device: Device) -> None:
        """mem_get_info returns a tuple of two int."""
        found = self.runtime.mem_get_info(device.index)
        _exactly(found, tuple, "mem_get_info")
        assert [type(part) for part in found] == [int, int], f"mem_get_info returns {found!r}"

    @requires("memory_stats")
    def test_memory_figures_have_exact_types(self, device: Device) -> None:
        """Memory figures are int; fields of memory_stats are int or None."""
        runtime, index = self.runtime, device.index
        _exactly(runtime.memory_allocated(index), int, "memory_allocated")
        _exactly(runtime.max_memory_allocated(index), int, "max_memory_allocated")
        stats = runtime.memory_stats(index)
        _exactly(stats, MemoryStats, "memory_stats")
        for name, value in vars(stats).items():
            _whole(value, f"memory_stats().{name}")

    @requires("caching_allocator")
    def test_cache_figures_have_exact_types(self, device: Device) -> None:
        """Figures of the caching allocator are int."""
        runtime, index = self.runtime, device.index
        _exactly(runtime.memory_reserved(index), int, "memory_reserved")
        _exactly(runtime.max_memory_reserved(index), int, "max_memory_reserved")

    @requires("peer_access")
    def test_peer_access_has_the_exact_type(self, device: Device, devices: list[Device]) -> None:
        """can_access_peer returns a bool."""
        _exactly(
            self.runtime.can_access_peer(device.index, devices[-1].index), bool, "can_access_peer"
        )

    @requires("float32_precision")
    def test_float32_precision_has_the_exact_type(self, device: Device) -> None:
        """get_float32_precision returns a str."""
        _exactly(self.runtime.get_float32_precision(device.index), str, "get_float32_precision")

    @requires("autocast")
    def test_autocast_is_a_context(self, device: Device) -> None:
        """Autocast returns a context manager, for one dtype or more."""
        dtypes = self.runtime.supported_dtypes(device.index).autocast
        assert dtypes, "autocast is declared, but supported_dtypes() lists no dtype for it"
        found = self.runtime.autocast(device.index, next(iter(dtypes)))
        assert isinstance(found, contextlib.AbstractContextManager), f"autocast returns {found!r}"

    def test_rng_state_is_bytes_on_the_host(self, device: Device) -> None:
        """get_rng_state returns a uint8 tensor on the host."""
        state = self.runtime.get_rng_state(device.index)
        assert isinstance(state, torch.Tensor), f"get_rng_state returns a {type(state).__name__}"
        assert (state.dtype, state.device.type) == (torch.uint8, "cpu"), (
            f"get_rng_state returns {state.dtype} on {state.device}"
        )

    @pytest.mark.parametrize("error", [RuntimeError("x"), KeyError(1), SystemExit(1)], ids=repr)
    def test_classify_error_returns_a_kind(self, error: BaseException) -> None:
        """classify_error returns an ErrorKind for any exception, and never raises."""
        _exactly(self.runtime.classify_error(error), ErrorKind, "classify_error")


def _compare(found: type, reference: type) -> None:
    """Fail with every method whose parameters differ."""
    differing = []
    for name, method in inspect.getmembers(reference, inspect.isfunction):
        if name.startswith("_"):
            continue
        theirs, ours = _parameters(getattr(found, name)), _parameters(method)
        if theirs != ours:
            differing.append(f"{name}{_shown(theirs)} should be {name}{_shown(ours)}")
    assert not differing, f"{found.__name__}: {'; '.join(differing)}"


def _parameters(method: object) -> list[Parameter]:
    signature = inspect.signature(method)  # type: ignore[arg-type]
    return [(p.name, str(p.kind.description), p.default) for p in signature.parameters.values()]


def _shown(parameters: list[Parameter]) -> str:
    parts = [
        f"{name} ({kind})" + ("" if default is inspect.Parameter.empty else f" = {default!r}")
        for name, kind, default in parameters
    ]
    return f"({', '.join(parts)})"


def _exactly(value: object, wanted: type, where: str) -> None:
    assert type(value) is wanted, (
        f"{where} returns a {type(value).__name__} ({value!r}), not a {wanted.__name__}"
    )


def _whole(value: object, where: str) -> None:
    assert value is None or type(value) is int, f"{where} is {value!r}, not an int or None"


def _text(value: object, where: str, *, optional: bool) -> None:
    if not (optional and value is None):
        _exactly(value, str, where)
        assert value, f"{where} is empty: None says that it is not reported"
