"""Frozen facts that cross every boundary: plain data with units, no behaviour, no torch."""

from __future__ import annotations

from accelhal.facts.boards import (
    BoardDetails as BoardDetails,
    BoardInfo as BoardInfo,
    BoardKey as BoardKey,
    KeySource as KeySource,
    Location as Location,
    Partition as Partition,
    VendorCommands as VendorCommands,
)
from accelhal.facts.devices import (
    DeviceProperties as DeviceProperties,
    MemoryStats as MemoryStats,
    SupportedDtypes as SupportedDtypes,
)
from accelhal.facts.evidence import (
    BoardReading as BoardReading,
    BoardRelation as BoardRelation,
    Evidence as Evidence,
)
from accelhal.facts.findings import (
    Finding as Finding,
    FindingState as FindingState,
)
from accelhal.facts.hosts import (
    HostFacts as HostFacts,
)
from accelhal.facts.links import (
    Link as Link,
    PcieLink as PcieLink,
    Relation as Relation,
)
from accelhal.facts.probes import (
    DEFECTS as DEFECTS,
    Probe as Probe,
    ProbeStatus as ProbeStatus,
)
from accelhal.facts.sensors import (
    HealthCheck as HealthCheck,
    HealthReport as HealthReport,
    HealthStatus as HealthStatus,
    MemoryErrors as MemoryErrors,
    ProcessMemory as ProcessMemory,
    Telemetry as Telemetry,
)
