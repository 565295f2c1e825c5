"""Benchmarks of real models on a device: throughput, latency and peak memory over batch sizes.

Importing this package does not import torch; `run()` does, after the device was opened.
"""

from accelhal.bench.catalogue import BUILT_IN as BUILT_IN
from accelhal.bench.catalogue import QUICK as QUICK
from accelhal.bench.results import BenchResult as BenchResult
from accelhal.bench.results import ModelResult as ModelResult
from accelhal.bench.results import Row as Row
from accelhal.bench.results import RowStatus as RowStatus
from accelhal.bench.sweep import run as run
from accelhal.bench.workload import Workload as Workload
