"""One reading of a board: sensors, health, memory errors, and the processes on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum


@dataclass(frozen=True)
class Telemetry:
    """One reading of a board's sensors. None means "not reported"; `reasons` says why.

    Units: degrees Celsius, watts, percent (0 to 100), MHz, bytes.
    """

    temperature: float | None = None
    memory_temperature: float | None = None
    power: float | None = None
    power_limit: float | None = None
    utilization: float | None = None
    memory_bandwidth_utilization: float | None = None
    core_clock: float | None = None
    memory_clock: float | None = None
    memory_used: int | None = None
    memory_total: int | None = None
    throttle_reasons: tuple[str, ...] | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)


class HealthStatus(str, Enum):
    """UNKNOWN is the answer wherever a state cannot be seen."""

    OK = "ok"
    DEGRADED = "degraded"
    FAILED = "failed"
    UNKNOWN = "unknown"


_SEVERITY = (HealthStatus.OK, HealthStatus.UNKNOWN, HealthStatus.DEGRADED, HealthStatus.FAILED)
"""Mildest first."""


@dataclass(frozen=True)
class HealthCheck:
    """One looked-at aspect of a board ("ecc", "link", "throttle")."""

    name: str
    status: HealthStatus
    value: str | None = None
    detail: str = ""


@dataclass(frozen=True)
class HealthReport:
    """A board's health: the worst of its checks, or UNKNOWN with the reason."""

    status: HealthStatus
    checks: tuple[HealthCheck, ...] = ()
    reason: str = ""

    @classmethod
    def of(cls, checks: Iterable[HealthCheck]) -> HealthReport:
        """The report of one or more checks: UNKNOWN is graver than OK, and than nothing else."""
        looked_at = tuple(checks)
        return cls(max((check.status for check in looked_at), key=_SEVERITY.index), looked_at)


@dataclass(frozen=True)
class MemoryErrors:
    """Errors of a board's memory and their repair. None means "not reported"; `reasons` says why.

    Attributes:
        corrected: errors that were corrected, since the driver was loaded.
        uncorrected: errors that were not, since the driver was loaded.
        corrected_total: the same over the board's life.
        uncorrected_total: the same over the board's life.
        repaired: rows remapped, or pages retired or isolated.
        repair_pending: True where a reset must finish a repair.
        repair_failed: True where the board is out of spare memory.
        reasons: field -> why it is None; "*" for all.
    """

    corrected: int | None = None
    uncorrected: int | None = None
    corrected_total: int | None = None
    uncorrected_total: int | None = None
    repaired: int | None = None
    repair_pending: bool | None = None
    repair_failed: bool | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ProcessMemory:
    """Memory that one process of the host holds on a board, in bytes."""

    pid: int
    used: int | None
