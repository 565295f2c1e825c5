"""Figures that NVML gives in more than one way, or in its own words."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pynvml

from accelhal.drivers import readings
from accelhal.drivers.readings import NotReportedError, first
from accelhal.errors import DeviceError, DeviceNotFoundError
from accelhal.facts import BoardInfo, BoardKey
from accelhal_cuda.driver_words import COMPUTE_MODES, THROTTLE_REASONS
from accelhal_cuda.nvml import ask, bits

SOURCE = "NVML"

_FABRIC_STATES = ("N/A", "Not Started", "In Progress", "Completed")
"""nvmlGpuFabricState_t, in the words of nvidia-smi"""

_NODE_WORDS = 16
"""64-bit words for a bit of each NUMA node; Linux knows at most 1024 (CONFIG_NODES_SHIFT)."""

_SCOPE_NODE = 0
"""NVML_AFFINITY_SCOPE_NODE"""


def board_count() -> int:
    """How many boards the driver has, without slices.

    Raises:
        DeviceError: it does not say.
    """
    try:
        return ask(pynvml.nvmlDeviceGetCount)
    except NotReportedError as error:
        raise DeviceError(
            f"cuda: the driver does not count its boards: {error}",
            backend="cuda",
            operation="boards",
            hint="nvidia-smi shows whether driver and boards are well",
        ) from None


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
    for index in range(or_none(pynvml.nvmlDeviceGetMaxMigDeviceCount, parent) or 0):
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
    """Of the chip, by the call that every release has; it is deprecated since 13.0.

    Its successor costs nvidia-ml-py twice the time, and a sampler asks each second.
    """
    sensor = pynvml.NVML_TEMPERATURE_GPU
    return first(
        lambda: ask(pynvml.nvmlDeviceGetTemperature, handle, sensor),
        lambda: ask(pynvml.nvmlDeviceGetTemperatureV, handle, sensor),
    )


def throttle_bits(handle: Any) -> int:
    """Bits of nvmlClocksEventReasons*; releases before 535 call them throttle reasons."""
    return first(
        lambda: ask(pynvml.nvmlDeviceGetCurrentClocksEventReasons, handle),
        lambda: ask(pynvml.nvmlDeviceGetCurrentClocksThrottleReasons, handle),
    )


def named_reasons(reasons: int) -> tuple[str, ...]:
    """The bits in words."""
    return tuple(name for bit, name in THROTTLE_REASONS.items() if reasons & bit)


def compute_mode(handle: Any) -> str:
    """Who may use the board at once."""
    mode = ask(pynvml.nvmlDeviceGetComputeMode, handle)
    if mode >= len(COMPUTE_MODES):
        raise NotReportedError(f"nvmlDeviceGetComputeMode answered {mode}")
    return COMPUTE_MODES[mode]


def fabric(handle: Any) -> str:
    """State of the board's registration with the NVSwitch fabric, and what failed in it."""
    found = first(
        lambda: _fabric(pynvml.nvmlDeviceGetGpuFabricInfoV, handle, pynvml.c_nvmlGpuFabricInfoV_t),
        lambda: _fabric(pynvml.nvmlDeviceGetGpuFabricInfo, handle, pynvml.c_nvmlGpuFabricInfo_t),
    )
    state = found.state & 0xFF  # a byte in nvml.h, a word in nvidia-ml-py
    if state == pynvml.NVML_GPU_FABRIC_STATE_NOT_SUPPORTED:
        raise NotReportedError("the board is on no NVSwitch fabric")
    if state >= len(_FABRIC_STATES):
        raise NotReportedError(f"nvmlDeviceGetGpuFabricInfo answered state {state}")
    failed = state == pynvml.NVML_GPU_FABRIC_STATE_COMPLETED and found.status
    return _FABRIC_STATES[state] + (f", {pynvml.NVMLError(found.status)}" if failed else "")


def _fabric(function: Callable[..., Any], handle: Any, kind: Callable[[], Any]) -> Any:
    found = kind()
    ask(function, handle, ctypes.byref(found))
    return found


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
