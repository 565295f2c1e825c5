"""Operators of torch's CUDA builds, as recorded from the declarations that torch ships."""

from __future__ import annotations

from pathlib import Path

from accelhal.runtimes.operator_record import (
    OperatorRecord,
    OperatorSupport,
    read_record,
)

RELEASES = ("2.13.0",)
"""Recorded releases of torch, newest first."""


def _records() -> tuple[OperatorRecord, ...]:
    folder = Path(__file__).parent
    return tuple(read_record(folder / f"torch-{release}.json") for release in RELEASES)


SUPPORT = OperatorSupport(records=_records)
