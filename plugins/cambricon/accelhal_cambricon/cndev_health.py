"""The health of a board: the driver's own verdict, its incidents, errors and clocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from accelhal.drivers.readings import NotReportedError, first, or_none
from accelhal.errors import AccelhalError, DeviceTimeoutError, message_of
from accelhal.facts import HealthCheck, HealthReport, HealthStatus, MemoryErrors
from accelhal_cambricon.cndev import Cndev, number, text_of
from accelhal_cambricon.cndev_figures import throttle_reasons
from accelhal_cambricon.cndev_state_structs import Health, Incident, OldHealth
from accelhal_cambricon.cndev_structs import INCIDENTS

VERDICTS = {0: (HealthStatus.FAILED, "in problem"), 1: (HealthStatus.OK, "good")}
"""cndevHealthStateEnum_t"""

_RESULTS = {
    0: (HealthStatus.OK, "pass"),
    10: (HealthStatus.DEGRADED, "warn"),
    20: (HealthStatus.FAILED, "fail"),
}
"""cndevHealthResult_t"""

DRIVER_STATES = {
    0: (HealthStatus.DEGRADED, "starting"),
    1: (HealthStatus.DEGRADED, "bring-up"),
    2: (HealthStatus.DEGRADED, "booting"),
    3: (HealthStatus.DEGRADED, "late start"),
    4: (HealthStatus.OK, "running"),
    5: (HealthStatus.FAILED, "boot error"),
    6: (HealthStatus.DEGRADED, "in reset"),
    7: (HealthStatus.FAILED, "reset error"),
}
"""cndevDriverHealthStateEnum_t"""

SYSTEMS = {
    1: "pcie",
    2: "link",
    4: "pmu",
    8: "mcu",
    16: "memory",
    32: "thermal",
    64: "power",
    128: "driver",
}
"""What an incident concerns: cndevHealthSystem_t; NCS is the unit of the MLU-Link ports."""

OTHER_SYSTEM = "incident"
"""What a later release may add to them."""

INCIDENT_NAMES = (
    *("OK", "UNKNOWN", "INTERNAL", "XID_ERROR", "PCIE_REPLAY_RATE", "PCIE_GENERATION"),
    *("PCIE_WIDTH", "LOW_BANDWIDTH", "HIGH_LATENCY", "MLULINK_DOWN", "MLULINK_REPLAY"),
    *("MLULINK_ERROR_THRESHOLD", "MLULINK_CRC_ERROR_THRESHOLD", "DIE2DIE_CRC_ERROR_THRESHOLD"),
    *("SBE_VIOLATION", "DBE_VIOLATION", "SBE_THRESHOLD_VIOLATION", "DBE_THRESHOLD_VIOLATION"),
    *("ROW_REMAP_FAILURE", "PENDING_ROW_REMAP", "ADDRESSSWAP_FAILURE", "PENDING_ADDRESSSWAP"),
    *("REPAIR_FAILURE", "PENDING_PAGE_REPAIR", "PENDING_PAGE_RETIREMENTS"),
    *("PAGE_REPAIR_RESOURCE_THRESHOLD", "TEMP_VIOLATION", "THERMAL_VIOLATION"),
    *("DEVICE_COUNT_MISMATCH", "DRIVER_ERROR", "DEVSYS_ERROR"),
)
"""cndevHealthError_t without CNDEV_FR_, by number."""

_PROTECTION = frozenset({"thermal", "power_brake"})
"""Reasons of a lowered clock that are the hardware's own protection."""


def judge(cndev: Cndev, handle: int, errors: Callable[[], MemoryErrors]) -> HealthReport:
    """The worst of what was looked at; a board that does not answer has failed."""
    checks: list[HealthCheck] = []
    try:
        for check in _checks(cndev, handle, errors):
            checks.append(check)  # kept where a later call fails
    except AccelhalError as error:
        return silent(error, checks)
    return HealthReport.of(checks)


def silent(error: AccelhalError, seen: list[HealthCheck]) -> HealthReport:
    """The report of a board that stopped answering after these checks."""
    value = "not ready" if isinstance(error, DeviceTimeoutError) else type(error).__name__
    failed = HealthCheck("answers", HealthStatus.FAILED, value, message_of(error))
    return HealthReport.of([*seen, failed])


def _checks(cndev: Cndev, handle: int, errors: Callable[[], MemoryErrors]) -> Iterator[HealthCheck]:
    try:
        found: Any = first(
            lambda: cndev.read("cndevGetCardHealthStateV2", Health, handle),
            lambda: cndev.read("cndevGetCardHealthState", OldHealth, handle),
        )
    except NotReportedError as reason:
        yield HealthCheck("device", HealthStatus.UNKNOWN, None, str(reason))
    else:
        yield from _told(found)
    yield from _memory_checks(errors())
    yield from _throttle_check(cndev, handle)


def _told(found: Health | OldHealth) -> Iterator[HealthCheck]:
    """What the driver says of the board; old releases say only whether it is good."""
    yield _verdict("health", found, "health", VERDICTS)
    for check, field, verdicts in (
        ("device", "deviceState", VERDICTS),
        ("driver", "driverState", DRIVER_STATES),
    ):
        told = _verdict(check, found, field, verdicts)
        if told.value is not None:
            yield told
    if isinstance(found, Health):
        yield _verdict("overall", found, "overallHealth", _RESULTS)
        count = or_none(partial(number, found, "incident_count")) or 0
        for incident in found.incidents[: min(count, INCIDENTS)]:
            yield _incident(incident)


def _verdict(
    check: str,
    found: Health | OldHealth | Incident,
    field: str,
    verdicts: dict[int, tuple[HealthStatus, str]],
) -> HealthCheck:
    try:
        state = number(found, field)
    except NotReportedError as reason:
        return HealthCheck(check, HealthStatus.UNKNOWN, None, str(reason))
    status, value = verdicts.get(state, (HealthStatus.UNKNOWN, f"state {state}"))
    return HealthCheck(check, status, value)


def _incident(incident: Incident) -> HealthCheck:
    code = incident.error.code
    name = INCIDENT_NAMES[code] if 0 <= code < len(INCIDENT_NAMES) else f"incident {code}"
    status = _verdict("", incident, "health", _RESULTS).status
    text = or_none(lambda: text_of(incident.error.msg)) or ""
    return HealthCheck(SYSTEMS.get(incident.system, OTHER_SYSTEM), status, name, text)


def _memory_checks(errors: MemoryErrors) -> Iterator[HealthCheck]:
    """Uncorrected errors are a failure; a repair wants a reset, or a new board."""
    if errors.uncorrected is not None:
        status = HealthStatus.FAILED if errors.uncorrected else HealthStatus.OK
        yield HealthCheck("ecc", status, f"{errors.uncorrected} uncorrected")
    if errors.repair_failed:
        detail = "the board is out of spare memory: replace it"
        yield HealthCheck("repair", HealthStatus.FAILED, "failed", detail)
    elif errors.repair_pending:
        detail = "a reset of the board finishes the repair"
        yield HealthCheck("repair", HealthStatus.DEGRADED, "pending", detail)


def _throttle_check(cndev: Cndev, handle: int) -> Iterator[HealthCheck]:
    reasons = or_none(partial(throttle_reasons, cndev, handle))
    if reasons is not None:
        status = HealthStatus.DEGRADED if _PROTECTION & set(reasons) else HealthStatus.OK
        yield HealthCheck("throttle", status, ", ".join(reasons) or "none")
