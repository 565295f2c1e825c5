"""How a board's health is judged: NVML has no word for it, what it counts and asks for has."""

from __future__ import annotations

from collections.abc import Collection

from accelhal.facts import HealthCheck, HealthReport, HealthStatus, MemoryErrors
from accelhal_cuda.driver_words import RECOVERY_ACTIONS

_HARDWARE_REASONS = frozenset({"hardware_slowdown", "hardware_thermal", "power_brake"})


def memory_checks(errors: MemoryErrors) -> list[HealthCheck]:
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


def recovery_check(action: int) -> HealthCheck:
    """Whatever the driver asks for, until it is done the board is not fit for work."""
    text = RECOVERY_ACTIONS.get(action, f"action {action}")
    if action == 0:
        return HealthCheck("recovery", HealthStatus.OK, text)
    return HealthCheck("recovery", HealthStatus.FAILED, text, "the driver asks for it")


def throttle_check(reasons: Collection[str]) -> HealthCheck:
    """Slowed by the hardware itself is not healthy; by a limit that was set, or idle, is.

    Args:
        reasons: names of THROTTLE_REASONS.
    """
    slowed = not _HARDWARE_REASONS.isdisjoint(reasons)
    status = HealthStatus.DEGRADED if slowed else HealthStatus.OK
    return HealthCheck("throttle", status, ", ".join(reasons) or "none")


def unreachable(value: str, detail: str = "") -> HealthReport:
    """The report of a board that does not answer."""
    check = HealthCheck("bus", HealthStatus.FAILED, value, detail)
    return HealthReport(HealthStatus.FAILED, (check,))
