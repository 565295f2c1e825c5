"""A board's figures that CNDev gives in more than one way, or in its own words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn

from accelhal.drivers.readings import NotReportedError, Once, collect, first, in_range
from accelhal.errors import AccelhalError, message_of
from accelhal.facts import BoardDetails, ProcessMemory, Telemetry
from accelhal_cambricon.cndev import Cndev, dotted, flag, number, text_of, written
from accelhal_cambricon.cndev_memory import read_memory
from accelhal_cambricon.cndev_structs import (
    Affinity,
    Count,
    FieldValue,
    Frequency,
    OldPower,
    OverTemperature,
    PartNumber,
    Power,
    PowerLimit,
    Process,
    State,
    Temperatures,
    ThreeNumbers,
    ThrottleReasons,
    Utilization,
    Versions,
)

SLOWDOWN_TEMPERATURE, SHUTDOWN_TEMPERATURE = 52, 53
"""cndevFieldTemperatureSlowDown, cndevFieldTemperatureShutDown"""

_MEMBERS = ("dVal", "uiVal", "ulVal", "ullVal", "siVal", "slVal", "sllVal")
"""cndevFieldValuesTypeNum_t -> the member of the union that holds the value."""

_REASONS = {
    "tdp": "board_limit",
    "powerSetting": "power_cap",
    "clockSetting": "application_clocks",
    "frequencyLocked": "clock_locked",
    "powerBrake": "power_brake",
    "thermalSlowdown": "thermal",
}
"""Fields of cndevPerformanceThrottleReason_t."""

COMPUTE_MODES = ("default", "exclusive", "prohibited")
"""cndevComputeModeEnum_t"""

_WORD_BITS = 32
_KIBIBYTE = 1 << 10


def telemetry(cndev: Cndev, handle: int) -> Telemetry:
    """The board's sensors."""
    heat = Once(lambda: cndev.read("cndevGetTemperatureInfo", Temperatures, handle))
    power = Once(lambda: read_power(cndev, handle))
    memory = Once(partial(read_memory, cndev, handle))
    return collect(
        Telemetry,
        {
            "temperature": lambda: first(
                lambda: number(heat(), "chip"), lambda: number(heat(), "board")
            ),
            "memory_temperature": lambda: number(heat(), "memory"),
            "power": lambda: number(power(), "usage"),
            "power_limit": lambda: first(
                lambda: number(power(), "cap"),
                partial(_limit, cndev, handle, "cndevGetPowerManagementLimitation"),
            ),
            "utilization": lambda: number(
                cndev.read("cndevGetDeviceUtilizationInfo", Utilization, handle),
                "averageCoreUtilization",
            ),
            "core_clock": lambda: number(
                cndev.read("cndevGetFrequencyInfo", Frequency, handle), "boardFreq"
            ),
            "memory_clock": _no_memory_clock,
            "memory_used": lambda: memory().used,
            "memory_total": lambda: memory().total,
            "throttle_reasons": partial(throttle_reasons, cndev, handle),
        },
    )


def details(cndev: Cndev, handle: int, partitioned: Callable[[], bool]) -> BoardDetails:
    """What of the board changes seldom or never."""
    limits = Once(lambda: cndev.read("cndevGetOverTemperatureInfo", OverTemperature, handle))

    def threshold(field: int, name: str) -> float:
        return first(lambda: field_value(cndev, handle, field), lambda: number(limits(), name))

    def part_number() -> str:
        found = cndev.read("cndevGetCardPartNumber", PartNumber, handle)
        return text_of(written(found, "partNumber"))

    return collect(
        BoardDetails,
        {
            "part_number": part_number,
            "firmware": lambda: dotted(
                written(cndev.read("cndevGetVersionInfo", Versions, handle), "mcu")
            ),
            "node": lambda: cndev.numbers("cndevDeviceGetMinorNumber", 1, handle)[0],
            "slowdown_temperature": partial(threshold, SLOWDOWN_TEMPERATURE, "underClockTemp"),
            "shutdown_temperature": partial(threshold, SHUTDOWN_TEMPERATURE, "powerOffTemp"),
            "default_power_limit": lambda: first(
                partial(_limit, cndev, handle, "cndevGetPowerManagementDefaultLimitation"),
                partial(_design_power, cndev, handle),
            ),
            "max_core_clock": partial(_max_core_clock, cndev, handle),
            "cpu_affinity": partial(_cpu_affinity, cndev, handle),
            "ecc": lambda: flag(cndev.read_pair("cndevGetEccMode", State, handle)[0], "value"),
            "compute_mode": partial(_compute_mode, cndev, handle),
            "partitioned": partitioned,
        },
    )


def read_power(cndev: Cndev, handle: int) -> Any:
    """Watts: `usage` and `cap` under both names."""
    return first(
        lambda: cndev.read("cndevGetDevicePowerInfo", Power, handle),
        lambda: cndev.read("cndevGetPowerInfo", OldPower, handle),
    )


def _design_power(cndev: Cndev, handle: int) -> int:
    found = read_power(cndev, handle)
    return number(found, "tdp" if isinstance(found, Power) else "thermalDesignPower")


def _limit(cndev: Cndev, handle: int, name: str) -> int:
    return number(cndev.read(name, PowerLimit, handle), "powerLimit")


def _no_memory_clock() -> NoReturn:
    raise NotReportedError("the driver gives the memory's transfer rate, not its clock")


def throttle_reasons(cndev: Cndev, handle: int) -> tuple[str, ...]:
    """Why the clock is lowered."""
    found = cndev.read("cndevGetPerformanceThrottleReason", ThrottleReasons, handle)
    return tuple(word for field, word in _REASONS.items() if flag(found, field))


def field_value(cndev: Cndev, handle: int, field: int, scope: int = 0) -> float:
    """One figure of the call for many; its entry has a code of its own.

    Args:
        cndev: the library.
        handle: the board.
        field: cndevFieldIdNum_t.
        scope: the link or core, of figures that are one's.
    """
    name = "cndevDeviceGetFieldValues"
    found = cndev.read(name, FieldValue, before=(handle, 1), fieldId=field, scopeId=scope)
    code = written(found, "ret")
    if code != 0:
        cndev.library.refuse(f"{name}, field {field},", code)
    kind = written(found, "valueType")
    if not 0 <= kind < len(_MEMBERS):
        raise NotReportedError(f"{name} answered a value of no known type for field {field}")
    return float(getattr(written(found, "value"), _MEMBERS[kind]))


def _max_core_clock(cndev: Cndev, handle: int) -> int:
    """The end of the range that the clock may be set to."""
    found = cndev.read("cndevGetFrequencyInfo", Frequency, handle)
    return max(written(found, "boardFreqArange"))  # type: ignore[no-any-return]


def _cpu_affinity(cndev: Cndev, handle: int) -> tuple[int, ...]:
    # Drivers fill in as many words as the host has CPUs: what is left must read 0.
    found = cndev.read("cndevGetDeviceAffinity", Affinity, handle, blank=0)
    cpus = tuple(
        _WORD_BITS * place + bit
        for place, word in enumerate(found.cpuAffinityBitMap)
        if word
        for bit in range(_WORD_BITS)
        if word >> bit & 1
    )
    if not cpus:
        raise NotReportedError("the driver names no CPUs")
    return cpus


def _compute_mode(cndev: Cndev, handle: int) -> str:
    mode = number(cndev.read("cndevGetComputeMode", State, handle), "value")
    if not 0 <= mode < len(COMPUTE_MODES):
        raise NotReportedError(f"cndevGetComputeMode answered {mode}")
    return COMPUTE_MODES[mode]


def processes(cndev: Cndev, handle: int) -> list[ProcessMemory]:
    """Who holds memory on the board: process ids of the host."""
    return [
        ProcessMemory(entry.pid, _bytes_or_none(entry))
        for entry in cndev.read_list("cndevGetProcessInfo", Process, handle)
        if 0 < entry.pid < 1 << 31
    ]


def _bytes_or_none(entry: Process) -> int | None:
    try:
        used = number(entry, "physicalMemoryUsed") * _KIBIBYTE
        return int(in_range("memory_used", used))
    except NotReportedError:
        return None


def driver_version(cndev: Cndev, handles: Sequence[int]) -> str:
    """The driver's; older releases tell it with a board, any that answers."""

    def of_board(handle: int) -> str:
        try:
            found = cndev.read("cndevGetVersionInfo", Versions, handle)
        except AccelhalError as error:
            raise NotReportedError(message_of(error)) from None
        return dotted(written(found, "driver"))

    alone = partial(_driver_version_alone, cndev)
    return first(alone, *(partial(of_board, handle) for handle in handles))


def _driver_version_alone(cndev: Cndev) -> str:
    return dotted(cndev.numbers("cndevGetDriverVersion", 3))


def library_version(cndev: Cndev) -> str:
    """That of libcndev.so."""
    return dotted(written(cndev.read("cndevGetLibVersion", ThreeNumbers), "numbers"))


def core_count(cndev: Cndev, handle: int) -> int:
    """MLU cores of the whole board."""
    return number(cndev.read("cndevGetCoreCount", Count, handle), "number")
