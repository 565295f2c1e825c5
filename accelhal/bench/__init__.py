"""Benchmarks of real models on a device: throughput, latency and peak memory over batch sizes.

Importing this package does not import torch; `run()` does, after the device was opened.
"""

from accelhal.bench.catalogue import BUILT_IN as BUILT_IN, QUICK as QUICK
from accelhal.bench.results import (
    BenchResult as BenchResult,
    ModelResult as ModelResult,
    Row as Row,
    RowStatus as RowStatus,
)
from accelhal.bench.sweep import run as run
from accelhal.bench.workload import Workload as Workload
