"""Figures that NVML gives in more than one way, or in its own words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pynvml

from accelhal.drivers import readings
from accelhal.drivers.readings import NotReportedError, first
from accelhal.errors import DeviceNotFoundError
from accelhal.facts import BoardInfo, BoardKey
from accelhal_cuda.nvml import ask, bits

SOURCE = "NVML"

_REASONS = {
    0x1: "idle",
    0x2: "application_clocks",
    0x4: "power_cap",
    0x8: "hardware_slowdown",
    0x10: "sync_boost",
    0x20: "thermal",
    0x40: "hardware_thermal",
    0x80: "power_brake",
    0x100: "display_clock",
    0x200: "board_limit",
    0x400: "reliability",
}
"""Bits of nvmlClocksEventReasons*."""

_COMPUTE_MODES = ("default", "exclusive_thread", "prohibited", "exclusive_process")
"""nvmlComputeMode_t"""

_NODE_WORDS = 16
"""64-bit words for a bit of each NUMA node; Linux knows at most 1024 (CONFIG_NODES_SHIFT)."""

_SCOPE_NODE = 0
"""NVML_AFFINITY_SCOPE_NODE"""


def board_info(
    handle: Any, key: BoardKey, index: int | None, parent: BoardInfo | None = None
) -> BoardInfo:
    """What NVML says of a board, or of a slice of `parent`."""
    pci = parent.pci if parent else address(ask(pynvml.nvmlDeviceGetPciInfo, handle))
    return BoardInfo(
        key=key,
        vendor="NVIDIA",
        name=ask(pynvml.nvmlDeviceGetName, handle),
        backend="cuda",
        source=SOURCE,
        index=index,
        uuid=key.value,
        serial=None if parent else or_none(pynvml.nvmlDeviceGetSerial, handle),
        pci=pci,
        total_memory=memory(handle).total,
        numa_node=parent.numa_node if parent else numa_node(handle),
        parent=parent.key if parent else None,
    )


def address(pci: Any) -> str:
    """NVML writes eight digits of domain, the kernel as many as needed and four at least."""
    return f"{pci.domain:04x}:{pci.bus:02x}:{pci.device:02x}.0"


def numa_node(handle: Any) -> int | None:
    """The node near the board; None where the driver names none or several."""
    near = or_none(pynvml.nvmlDeviceGetMemoryAffinity, handle, _NODE_WORDS, _SCOPE_NODE)
    nodes = bits(near) if near is not None else ()
    return nodes[0] if len(nodes) == 1 else None


def slice_handles(parent: Any) -> Iterator[Any]:
    """Handles of the MIG slices, none where MIG is off."""
    mode = or_none(pynvml.nvmlDeviceGetMigMode, parent)
    if not mode or not mode[0]:
        return
    for index in range(ask(pynvml.nvmlDeviceGetMaxMigDeviceCount, parent)):
        try:
            yield ask(pynvml.nvmlDeviceGetMigDeviceHandleByIndex, parent, index)
        except DeviceNotFoundError:
            continue  # numbers may have gaps


def memory(handle: Any) -> Any:
    """Version 2 counts what the driver keeps for itself apart; before release 510 there is 1."""
    return first(
        lambda: ask(pynvml.nvmlDeviceGetMemoryInfo, handle, pynvml.nvmlMemory_v2),
        lambda: ask(pynvml.nvmlDeviceGetMemoryInfo, handle),
    )


def temperature(handle: Any) -> int:
    """Of the chip; releases before 570 lack the newer call."""
    sensor = pynvml.NVML_TEMPERATURE_GPU
    return first(
        lambda: ask(pynvml.nvmlDeviceGetTemperatureV, handle, sensor),
        lambda: ask(pynvml.nvmlDeviceGetTemperature, handle, sensor),
    )


def throttle_bits(handle: Any) -> int:
    """Bits of nvmlClocksEventReasons*; releases before 535 call them throttle reasons."""
    return first(
        lambda: ask(pynvml.nvmlDeviceGetCurrentClocksEventReasons, handle),
        lambda: ask(pynvml.nvmlDeviceGetCurrentClocksThrottleReasons, handle),
    )


def named_reasons(reasons: int) -> tuple[str, ...]:
    """The bits in words."""
    return tuple(name for bit, name in _REASONS.items() if reasons & bit)


def compute_mode(handle: Any) -> str:
    """Who may use the board at once."""
    mode = ask(pynvml.nvmlDeviceGetComputeMode, handle)
    if mode >= len(_COMPUTE_MODES):
        raise NotReportedError(f"nvmlDeviceGetComputeMode answered {mode}")
    return _COMPUTE_MODES[mode]


def retired(handle: Any) -> int:
    """Pages retired, for either cause."""
    return sum(
        len(ask(pynvml.nvmlDeviceGetRetiredPages, handle, cause))
        for cause in (
            pynvml.NVML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS,
            pynvml.NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR,
        )
    )


def or_none(function: Callable[..., Any], *arguments: Any) -> Any:
    """What NVML answers, None where it has no such figure."""
    return readings.or_none(partial(ask, function, *arguments))
