"""The faults that NVIDIA's driver, NVML and the CUDA runtime number: faults.json."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from accelhal.spi.fault_tables import FaultTables, read_faults

FAULTS = FaultTables(partial(read_faults, Path(__file__).with_suffix(".json")))
