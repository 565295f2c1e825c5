"""What a board's page of `nvidia-smi -q` says of errors of its memory and their repair."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from accelhal.drivers.printed import count
from accelhal.drivers.readings import NotReportedError, first, or_none
from accelhal.facts import MemoryErrors
from accelhal_cuda.evidence import words
from accelhal_cuda.evidence.pages import Page, node, value

_VOLATILE = ("ecc_errors/volatile", "ECC Errors/Volatile")
_AGGREGATE = ("ecc_errors/aggregate", "ECC Errors/Aggregate")
_TOTALS = {
    True: ("single_bit/total", "Single Bit/Total"),
    False: ("double_bit/total", "Double Bit/Total"),
}
"""Corrected or not -> where boards before Ampere count all kinds of memory together."""

_ROWS = (
    ("remapped_rows/remapped_row_corr", "Remapped Rows/Correctable Error"),
    ("remapped_rows/remapped_row_unc", "Remapped Rows/Uncorrectable Error"),
)
_PAGES = (
    (
        "retired_pages/multiple_single_bit_retirement/retired_count",
        "Retired Pages/Single Bit ECC",
    ),
    ("retired_pages/double_bit_retirement/retired_count", "Retired Pages/Double Bit ECC"),
)
_ROWS_PENDING = ("remapped_rows/remapped_row_pending", "Remapped Rows/Pending")
_PAGES_PENDING = (
    "retired_pages/pending_retirement",
    "retired_pages/pending_blacklist",
    "Retired Pages/Pending Page Blacklist",
    "Retired Pages/Pending Page Retirement",
)
_PARTS_PENDING = (
    ("ecc_errors/channel_repair_pending", "ECC Errors/Channel Repair Pending"),
    ("ecc_errors/tpc_repair_pending", "ECC Errors/TPC Repair Pending"),
)
_REMAPPING_FAILED = (
    "remapped_rows/remapped_row_failure",
    "Remapped Rows/Remapping Failure Occurred",
)
_UNREPAIRABLE = ("ecc_errors/unrepairable_memory", "ECC Errors/Unrepairable Memory")


def memory_errors(page: Page) -> MemoryErrors | None:
    """Ampere and later boards remap rows, earlier ones retire pages; the first known counts."""
    rows_pending = partial(value, page, _ROWS_PENDING, words.yes_no)
    pages_pending = partial(value, page, _PAGES_PENDING, words.yes_no)
    remapping_failed = partial(value, page, _REMAPPING_FAILED, words.yes_no)
    pending = (_ROWS_PENDING, _PAGES_PENDING, *_PARTS_PENDING)
    return words.gathered(
        MemoryErrors,
        {
            "corrected": partial(_errors, page, _VOLATILE, corrected=True),
            "uncorrected": partial(_errors, page, _VOLATILE, corrected=False),
            "corrected_total": partial(_errors, page, _AGGREGATE, corrected=True),
            "uncorrected_total": partial(_errors, page, _AGGREGATE, corrected=False),
            "repaired": lambda: first(partial(_sum, page, _ROWS), partial(_sum, page, _PAGES)),
            "repair_pending": lambda: _any(page, pending) or first(rows_pending, pages_pending),
            "repair_failed": lambda: _any(page, (_UNREPAIRABLE,)) or remapping_failed(),
        },
    )


def _errors(page: Page, scope: Sequence[str], *, corrected: bool) -> int:
    """All errors of a kind, whatever the memory; None where one memory does not tell."""
    found = node(page, scope)
    if found is None:
        raise NotReportedError(words.NOT_SHOWN)
    if node(found, _TOTALS[corrected]) is not None:
        return value(found, _TOTALS[corrected], count)
    counters = [part for part in found.parts if _is_counter(part.name, corrected)]
    if not counters:
        raise NotReportedError(words.NOT_SHOWN)
    return sum(part.read(count) for part in counters)


def _is_counter(label: str, corrected: bool) -> bool:
    """Whether it counts such errors ("sram_correctable", "SRAM Uncorrectable Parity")."""
    kind = "correctable" if corrected else "uncorrectable"
    return kind in label.casefold().replace("_", " ").split(" ")


def _sum(page: Page, counters: Iterable[Sequence[str]]) -> int:
    return sum(value(page, paths, count) for paths in counters)


def _any(page: Page, flags: Iterable[Sequence[str]]) -> bool:
    return any(or_none(partial(value, page, paths, words.yes_no)) for paths in flags)
