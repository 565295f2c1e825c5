"""Operators of torch_npu, as recorded from its releases."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from accelhal.runtimes.operator_record import OperatorSupport, read_records

SUPPORT = OperatorSupport(records=partial(read_records, Path(__file__).parent))
