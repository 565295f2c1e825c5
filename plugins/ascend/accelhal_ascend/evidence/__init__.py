"""Readers of npu-smi's output. The driver library is read live; these read what was captured."""

from accelhal_ascend.evidence.listing import LISTING
from accelhal_ascend.evidence.mapping import MAPPING
from accelhal_ascend.evidence.pages import CARD_PAGES, CHIP_PAGES
from accelhal_ascend.evidence.processes import PROCESSES
from accelhal_ascend.evidence.table import TABLE
from accelhal_ascend.evidence.topology import TOPOLOGY
from accelhal_ascend.evidence.version import VERSION

READERS = (TABLE, PROCESSES, MAPPING, LISTING, TOPOLOGY, VERSION, CARD_PAGES, CHIP_PAGES)
