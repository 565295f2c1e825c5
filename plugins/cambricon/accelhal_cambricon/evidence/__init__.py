"""Readers of cnmon's output. The driver library is read live; these read what was captured."""

from accelhal_cambricon.evidence.details import DETAILS
from accelhal_cambricon.evidence.processes import PROCESSES
from accelhal_cambricon.evidence.table import TABLE

READERS = (TABLE, PROCESSES, DETAILS)
