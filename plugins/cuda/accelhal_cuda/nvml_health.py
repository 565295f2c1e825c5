"""The health of a board: NVML has none of its own, what it counts and asks for is judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from accelhal.drivers.readings import NotReportedError
from accelhal.facts import HealthCheck, HealthReport, HealthStatus, Link, MemoryErrors
from accelhal_cuda.nvml import field
from accelhal_cuda.nvml_figures import named_reasons, throttle_bits

_RECOVERY_ACTION = 230
"""NVML_FI_DEV_GET_GPU_RECOVERY_ACTION"""

_RECOVERY_ACTIONS = {
    1: "reset the board",
    2: "reboot the host",
    3: "drain its links",
    4: "drain it and reset it",
    5: "recover the IMEX domain",
    6: "reset the bus",
    7: "restart the system",
}
"""nvmlDeviceGpuRecoveryAction_t"""

_HARDWARE_REASONS = 0x8 | 0x40 | 0x80


def judge(handle: Any, errors: MemoryErrors, links: Sequence[Link]) -> HealthReport:
    """The report of a board that answers: the worst of its checks."""
    checks = [HealthCheck("bus", HealthStatus.OK, "present"), *_memory_checks(errors)]
    checks += _told(_recovery_check, handle) + _told(_throttle_check, handle)
    down = [link.number for link in links if link.up is False]
    if down:
        numbers = ", ".join(map(str, down))
        checks.append(HealthCheck("link", HealthStatus.FAILED, f"NVLink {numbers} down"))
    elif links:
        checks.append(HealthCheck("link", HealthStatus.OK, f"{len(links)} NVLinks up"))
    return HealthReport.of(checks)


def silent(error: Exception) -> HealthReport:
    """The report of a board that does not answer."""
    check = HealthCheck("bus", HealthStatus.FAILED, type(error).__name__, str(error))
    return HealthReport(HealthStatus.FAILED, (check,))


def _memory_checks(errors: MemoryErrors) -> list[HealthCheck]:
    """Uncorrected errors since load are a failure; a repair wants a reset, or a new board."""
    checks = []
    if errors.uncorrected is not None:
        status = HealthStatus.FAILED if errors.uncorrected else HealthStatus.OK
        checks.append(HealthCheck("ecc", status, f"{errors.uncorrected} uncorrected"))
    if errors.repair_failed:
        detail = "the board is out of spare rows: replace it"
        checks.append(HealthCheck("row_remap", HealthStatus.FAILED, "failed", detail))
    elif errors.repair_pending:
        detail = "a reset of the board finishes the repair"
        checks.append(HealthCheck("row_remap", HealthStatus.DEGRADED, "pending", detail))
    elif errors.repair_pending is not None:
        checks.append(HealthCheck("row_remap", HealthStatus.OK, "none"))
    return checks


def _recovery_check(handle: Any) -> HealthCheck:
    action = field(handle, _RECOVERY_ACTION)
    if action == 0:
        return HealthCheck("recovery", HealthStatus.OK, "none")
    text = _RECOVERY_ACTIONS.get(action, f"action {action}")
    return HealthCheck("recovery", HealthStatus.FAILED, text, "the driver asks for it")


def _throttle_check(handle: Any) -> HealthCheck:
    reasons = throttle_bits(handle)
    status = HealthStatus.DEGRADED if reasons & _HARDWARE_REASONS else HealthStatus.OK
    return HealthCheck("throttle", status, ", ".join(named_reasons(reasons)) or "none")


def _told(check: Callable[[Any], HealthCheck], handle: Any) -> list[HealthCheck]:
    try:
        return [check(handle)]
    except NotReportedError:
        return []
