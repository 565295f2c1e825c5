"""A chip's figures that DCMI gives in more than one way, or in its own words."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial

from accelhal.drivers.library import roomy
from accelhal.drivers.readings import NotReportedError, first
from accelhal.errors import DeviceNotFoundError
from accelhal.facts import ProcessMemory
from accelhal.host import Host, pci
from accelhal.host.cpu_list import parse_cpu_list
from accelhal_ascend import dcmi as calls
from accelhal_ascend.dcmi import Address, Dcmi, Function, known, text_of
from accelhal_ascend.dcmi_boards import Board, logic_id
from accelhal_ascend.dcmi_memory import Memory
from accelhal_ascend.dcmi_structs import (
    PowerInfo,
    ProcessMemoryInfo,
    SensorInfo,
    SuperPod,
    Utilization,
)

DDR_CLOCK, HBM_CLOCK, CORE_CLOCK, MAX_CORE_CLOCK = 1, 6, 7, 9
"""dcmi_freq_type"""

_CORES, _DDR_BANDWIDTH, _HBM_BANDWIDTH, _CHIP = 2, 5, 10, 13
"""DCMI_UTILIZATION_RATE_*"""

_THERMAL_THRESHOLDS = 9
"""dcmi_manager_sensor_id: where the clock is lowered, and where the chip turns itself off."""

_WHY_SLOW = (8, 9)
_RATED_POWER = (8, 10)
_SUPER_POD = (12, 1)
"""Main and sub command of dcmi_get_device_info."""

_REASONS = {
    0: "idle",
    2: "thermal",
    3: "software_current",
    4: "hardware_current",
    5: "power_brake",
    8: "voltage_drop",
    10: "power_cap",
}
"""Bits of the AI core's slow-down causes; "current" is the electrical design point."""

_MCU_POWER = Function("dcmi_mcu_get_power_info", None)
_PHYSICAL_ID = Function("dcmi_get_device_phyid_from_logicid", "dcmiv2_get_chip_phy_id_by_dev_id")
_COMPONENT = Function(
    "dcmi_get_device_component_static_version", "dcmiv2_get_device_component_static_version"
)
_FIRMWARE = 0
"""The first of dcmi_component_type, whose version npu-smi prints as the firmware's."""

_MAX_PROCESSES = 128
"""The call has no length argument; drivers write at most 32 entries, headers advise 64."""

CARD_FIGURE = "it is the card's, and reported with the card's first chip"


def utilization(dcmi: Dcmi, address: Address) -> int:
    """Percent of time that any unit of the chip worked; that of its AI cores on older drivers.

    The AI cores' own rate reads 0 while a profiler runs.
    """
    rate = partial(_rate, dcmi, address)
    return first(
        lambda: _percent(dcmi.read(calls.ALL_UTILIZATION, address, Utilization).npu_util),
        lambda: rate(_CHIP),
        lambda: rate(_CORES),
    )


def memory_bandwidth(
    dcmi: Dcmi, address: Address, memory: Memory, in_virtual_machine: Callable[[], bool]
) -> int:
    """Percent of the memory's bandwidth in use."""
    rate = partial(_rate, dcmi, address)
    if memory.bandwidth is None:
        return rate(_DDR_BANDWIDTH)
    value = first(lambda: _percent(memory.bandwidth or 0), lambda: rate(_HBM_BANDWIDTH))
    if value == 0 and in_virtual_machine():
        raise NotReportedError("in a virtual machine the driver answers 0 whatever the traffic")
    return value


def memory_clock(dcmi: Dcmi, address: Address, memory: Memory) -> int:
    """MHz."""
    kind = DDR_CLOCK if memory.bandwidth is None else HBM_CLOCK
    return memory.clock or dcmi.number(calls.FREQUENCY, address, kind)


def _rate(dcmi: Dcmi, address: Address, kind: int) -> int:
    return _percent(dcmi.number(calls.UTILIZATION, address, kind))


def _percent(value: int) -> int:
    if value > 100:
        raise NotReportedError(f"the driver answered {value} %")
    return value


def power(dcmi: Dcmi, board: Board) -> float:
    """Watts; of a 310P by the card's MCU. DCMI counts 0.1 W."""
    if board.shares_card:
        raise NotReportedError(CARD_FIGURE)
    own = partial(dcmi.number, calls.POWER, board.address, kind=ctypes.c_int)
    return first(own, partial(_card_power, dcmi, board.address)) / 10


def _card_power(dcmi: Dcmi, address: Address) -> int:
    if address.chip > 0:
        raise NotReportedError(CARD_FIGURE)
    found = roomy(ctypes.c_int)
    dcmi.ask(_MCU_POWER, address.card, found)
    return known(int(found[0]))


def rated_power(dcmi: Dcmi, board: Board) -> float:
    """Watts; DCMI counts mW: 150000 to 600000 documented of a chip, 949200 seen of an A3 card."""
    if board.shares_card:
        raise NotReportedError(CARD_FIGURE)
    return known(dcmi.info(board.address, _RATED_POWER, PowerInfo).soc_rated_power) / 1000


def throttle_reasons(dcmi: Dcmi, address: Address) -> tuple[str, ...]:
    """Why the AI cores' clock is lowered; a bit of no known meaning by its number."""
    bits = int(dcmi.info(address, _WHY_SLOW, ctypes.c_ulonglong))
    if bits == (1 << 64) - 1:
        raise NotReportedError("the driver answered no reasons")
    return tuple(_REASONS.get(n, f"bit_{n}") for n in range(64) if bits >> n & 1)


def temperature_limits(dcmi: Dcmi, address: Address) -> tuple[int, int]:
    """Degrees Celsius: where the clock is lowered, and where the chip turns itself off."""
    try:
        found = dcmi.read(calls.SENSOR, address, SensorInfo, _THERMAL_THRESHOLDS)
    except DeviceNotFoundError as error:  # of sensors, the code means the sensor
        raise NotReportedError(error.message) from None
    lowered, off = found.temp
    if not 0 < lowered <= off:
        raise NotReportedError(f"the driver answered thresholds of {lowered} and {off} degrees")
    return lowered, off


def physical_id(dcmi: Dcmi, address: Address) -> int:
    """N of /dev/davinciN."""
    number = roomy(ctypes.c_uint)
    dcmi.ask(_PHYSICAL_ID, logic_id(dcmi, address), number)
    return known(int(number[0]))


def firmware(dcmi: Dcmi, address: Address) -> str:
    """Version of the chip's firmware; the call is slow, and not for every user."""
    found = ctypes.create_string_buffer(256)
    dcmi.ask_board(_COMPONENT, address, _FIRMWARE, found, ctypes.c_uint(256))
    return text_of(found.raw)


def cpu_affinity(dcmi: Dcmi, board: Board, host: Host) -> tuple[int, ...]:
    """CPUs near the board, by the driver's word, else by the kernel's."""

    def told() -> tuple[int, ...]:
        text, length = ctypes.create_string_buffer(256), ctypes.c_int(256)
        dcmi.ask_board(calls.CPUS, board.address, text, ctypes.byref(length))
        return _cpus(text_of(text.raw))

    def listed() -> tuple[int, ...]:
        path = f"{pci.BUS}/{board.info.pci}/local_cpulist"
        return _cpus(host.read_text(path) or "")

    return first(told, listed)


def _cpus(text: str) -> tuple[int, ...]:
    found = parse_cpu_list(text)
    if not found:
        raise NotReportedError(f"{text!r} is no list of CPUs")
    return found


def super_pod(dcmi: Dcmi, address: Address) -> str:
    """Which super pod the chip belongs to, in the driver's numbers."""
    found = dcmi.info(address, _SUPER_POD, SuperPod)
    return f"super pod {known(found.super_pod_id)}, server {known(found.server_index)}"


def processes(dcmi: Dcmi, address: Address) -> list[ProcessMemory]:
    """Who holds memory on the chip: process ids of the host."""
    found, count = roomy(ProcessMemoryInfo, _MAX_PROCESSES), roomy(ctypes.c_int)
    dcmi.ask_board(calls.PROCESSES, address, found, count)
    entries = found[: max(0, min(count[0], _MAX_PROCESSES))]
    return [
        ProcessMemory(entry.proc_id, _bytes_or_none(entry.proc_mem_usage))
        for entry in entries
        if entry.proc_id > 0
    ]


def _bytes_or_none(count: int) -> int | None:
    return None if count > _MAX_BYTES else count


_MAX_BYTES = 1 << 50
