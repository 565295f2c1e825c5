"""The health of a board that NVML reaches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from accelhal.drivers.readings import NotReportedError
from accelhal.facts import HealthCheck, HealthReport, HealthStatus, Link, MemoryErrors
from accelhal_cuda.health_rules import (
    memory_checks,
    recovery_check,
    throttle_check,
    unreachable,
)
from accelhal_cuda.nvml import field
from accelhal_cuda.nvml_figures import named_reasons, throttle_bits

_RECOVERY_ACTION = 230
"""NVML_FI_DEV_GET_GPU_RECOVERY_ACTION"""


def judge(handle: Any, errors: MemoryErrors, links: Sequence[Link]) -> HealthReport:
    """The report of a board that answers: the worst of its checks."""
    checks = [HealthCheck("bus", HealthStatus.OK, "present"), *memory_checks(errors)]
    checks += _told(lambda: recovery_check(field(handle, _RECOVERY_ACTION)))
    checks += _told(lambda: throttle_check(named_reasons(throttle_bits(handle))))
    down = [link.number for link in links if link.up is False]
    if down:
        numbers = ", ".join(map(str, down))
        checks.append(HealthCheck("link", HealthStatus.FAILED, f"NVLink {numbers} down"))
    elif links:
        checks.append(HealthCheck("link", HealthStatus.OK, f"{len(links)} NVLinks up"))
    return HealthReport.of(checks)


def silent(error: Exception) -> HealthReport:
    """The report of a board that does not answer."""
    return unreachable(type(error).__name__, str(error))


def _told(check: Callable[[], HealthCheck]) -> list[HealthCheck]:
    try:
        return [check()]
    except NotReportedError:
        return []
