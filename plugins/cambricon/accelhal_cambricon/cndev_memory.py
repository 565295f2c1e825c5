"""A board's memory: how much of it, its errors, and their repair."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from accelhal.drivers.readings import NotReportedError, Once, collect, first
from accelhal.facts import MemoryErrors
from accelhal_cambricon.cndev import Cndev, flag, number
from accelhal_cambricon.cndev_state_structs import (
    MemoryEcc,
    OldEcc,
    OldRemappedRows,
    RemappedRows,
    RepairStatus,
    RetiredPages,
    RetirementStatus,
)
from accelhal_cambricon.cndev_structs import Memory, OldMemory

MEBIBYTE = 1 << 20
"""The header says MB; cnmon prints MiB, and Cambricon's mlu-exporter multiplies by 1024 * 1024."""

_CAUSES = (0, 1)
"""cndevRetirePageCauseEnum_t: several corrected errors, one uncorrected."""

_CORRECTED = ("SramEccSbeCounter", "DramEccSbeCounter")
_UNCORRECTED = ("SramEccDbeCounter", "SramEccParityCounter", "DramEccDbeCounter")
"""Ends of cndevMemEccCounter_t's names, which begin "volatile" (since load) or "aggregate"."""


@dataclass(frozen=True)
class MemoryUse:
    """One reading, in bytes."""

    total: int
    used: int


def read_memory(cndev: Cndev, handle: int) -> MemoryUse:
    """The board's own memory; its virtual one is not counted."""
    found: Any = first(
        lambda: cndev.read("cndevGetMemoryUsageV2", Memory, handle),
        lambda: cndev.read("cndevGetMemoryUsage", OldMemory, handle),
    )
    total, used = (number(found, f"physicalMemory{name}") for name in ("Total", "Used"))
    if not 0 <= used <= total or total == 0:
        raise NotReportedError(f"the driver answered {used} MiB used of {total}")
    return MemoryUse(total * MEBIBYTE, used * MEBIBYTE)


def memory_errors(cndev: Cndev, handle: int) -> MemoryErrors:
    """Counts of newer boards, else of older ones, which keep none over their life."""
    counters = Once(lambda: cndev.read("cndevGetMemEccCounter", MemoryEcc, handle))
    old = Once(lambda: cndev.read("cndevGetECCInfo", OldEcc, handle))
    repair = Once(lambda: cndev.read("cndevGetRepairStatus", RepairStatus, handle))
    retired = Once(lambda: cndev.read("cndevGetRetiredPagesStatus", RetirementStatus, handle))

    def total(which: str, names: tuple[str, ...]) -> int:
        return sum(number(counters(), which + name) for name in names)

    def pending() -> bool:
        return flag(repair(), "isPending") or flag(repair(), "isRetirePending")

    return collect(
        MemoryErrors,
        {
            "corrected": lambda: first(
                partial(total, "volatile", _CORRECTED), lambda: number(old(), "correctedError")
            ),
            "uncorrected": lambda: first(
                partial(total, "volatile", _UNCORRECTED), lambda: number(old(), "uncorrectedError")
            ),
            "corrected_total": partial(total, "aggregate", _CORRECTED),
            "uncorrected_total": partial(total, "aggregate", _UNCORRECTED),
            "repaired": partial(_repaired, cndev, handle),
            "repair_pending": lambda: first(pending, lambda: flag(retired(), "isPending")),
            "repair_failed": lambda: first(
                lambda: flag(repair(), "isFailure"), lambda: flag(retired(), "isFailure")
            ),
        },
    )


def _repaired(cndev: Cndev, handle: int) -> int:
    """Rows remapped, or on boards that have no spare rows pages retired."""

    def rows() -> int:
        found = cndev.read("cndevGetRemappedRowsV2", RemappedRows, handle)
        return number(found, "correctCounts") + number(found, "uncorrectCounts")

    def old_rows() -> int:
        found = cndev.read("cndevGetRemappedRows", OldRemappedRows, handle)
        return number(found, "correctRows") + number(found, "uncorrectRows")

    def pages() -> int:
        lists = (
            cndev.read("cndevGetRetiredPages", RetiredPages, handle, cause=cause)
            for cause in _CAUSES
        )
        return sum(number(found, "pageCount") for found in lists)

    return first(rows, old_rows, pages)
