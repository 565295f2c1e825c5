"""Which part of the simulation each figure comes from."""

from __future__ import annotations

from collections.abc import Mapping

_ECC = "faults ecc_corrected, ecc_uncorrected"
_REMAP = "fault row_remap_pending"
_LANES = "profile, fault pcie_width_drop"
_LINK = "profile, fault link_down"
_SLICES = "slices that `cut` made"

SOURCES: Mapping[str, str] = {
    "BoardInfo.name": "profile",
    "BoardInfo.index": "place in the machine",
    "BoardInfo.uuid": "made of place and profile",
    "BoardInfo.serial": "made of place and profile",
    "BoardInfo.pci": "made of the place",
    "BoardInfo.total_memory": "capacity of the simulated memory",
    "BoardInfo.numa_node": "place, profile",
    "BoardInfo.driver": '"simulated"',
    "Telemetry.temperature": "simulated sensors",
    "Telemetry.power": "simulated sensors",
    "Telemetry.power_limit": "profile",
    "Telemetry.utilization": "simulated sensors",
    "Telemetry.memory_bandwidth_utilization": "fault hang",
    "Telemetry.core_clock": "simulated sensors",
    "Telemetry.memory_clock": "profile",
    "Telemetry.memory_used": "simulated memory",
    "Telemetry.memory_total": "capacity of the simulated memory",
    "Telemetry.throttle_reasons": "faults thermal_throttle, power_cap",
    "BoardDetails.slowdown_temperature": "profile",
    "BoardDetails.default_power_limit": "profile",
    "BoardDetails.max_core_clock": "profile",
    "BoardDetails.max_memory_clock": "profile",
    "BoardDetails.ecc": "always on",
    "BoardDetails.partitioned": _SLICES,
    "MemoryErrors.corrected": _ECC,
    "MemoryErrors.uncorrected": _ECC,
    "MemoryErrors.repair_pending": _REMAP,
    "PcieLink.generation": "profile",
    "PcieLink.max_generation": "profile",
    "PcieLink.lanes": _LANES,
    "PcieLink.max_lanes": "profile",
    "PcieLink.received": "fault hang",
    "PcieLink.sent": "fault hang",
    "Link.peer": "profile: every board reaches every other",
    "Link.up": _LINK,
    "Link.lanes": _LANES,
    "HealthReport.bus": "fault lost",
    "HealthReport.ecc": _ECC,
    "HealthReport.row_remap": _REMAP,
    "HealthReport.throttle": "faults thermal_throttle, power_cap",
    "HealthReport.pcie": _LANES,
    "HealthReport.link": _LINK,
    "HealthReport.progress": "fault hang",
    "ProcessMemory.pid": "this process, and those that a test adds",
    "ProcessMemory.used": "simulated memory",
    "Partition.profile": _SLICES,
    "Partition.total_memory": _SLICES,
    "Partition.compute_share": _SLICES,
    "relation": f"{_LINK}; NUMA node",
    "versions.driver": "version of accelhal-mock",
}
"""Figure, named as in `Management.sources` -> what simulates it."""
