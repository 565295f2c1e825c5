"""Operators of torch's CUDA builds, as recorded from the declarations that torch ships."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from accelhal.runtimes.operator_record import OperatorSupport, read_records

SUPPORT = OperatorSupport(records=partial(read_records, Path(__file__).parent))
