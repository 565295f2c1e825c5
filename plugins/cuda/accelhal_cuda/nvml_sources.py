"""Which NVML call each figure is read from."""

from __future__ import annotations

from collections.abc import Mapping

SOURCES: Mapping[str, str] = {
    "BoardInfo.name": "nvmlDeviceGetName",
    "BoardInfo.uuid": "nvmlDeviceGetUUID",
    "BoardInfo.serial": "nvmlDeviceGetSerial",
    "BoardInfo.pci": "nvmlDeviceGetPciInfo",
    "BoardInfo.total_memory": "nvmlDeviceGetMemoryInfo",
    "BoardInfo.numa_node": "nvmlDeviceGetMemoryAffinity",
    "Telemetry.temperature": "nvmlDeviceGetTemperatureV, nvmlDeviceGetTemperature",
    "Telemetry.memory_temperature": "nvmlDeviceGetFieldValues 82",
    "Telemetry.power": "nvmlDeviceGetPowerUsage",
    "Telemetry.power_limit": "nvmlDeviceGetEnforcedPowerLimit",
    "Telemetry.utilization": "nvmlDeviceGetUtilizationRates",
    "Telemetry.memory_bandwidth_utilization": "nvmlDeviceGetUtilizationRates",
    "Telemetry.core_clock": "nvmlDeviceGetClockInfo",
    "Telemetry.memory_clock": "nvmlDeviceGetClockInfo",
    "Telemetry.memory_used": "nvmlDeviceGetMemoryInfo",
    "Telemetry.memory_total": "nvmlDeviceGetMemoryInfo",
    "Telemetry.throttle_reasons": "nvmlDeviceGetCurrentClocksEventReasons, "
    "nvmlDeviceGetCurrentClocksThrottleReasons",
    "BoardDetails.part_number": "nvmlDeviceGetBoardPartNumber",
    "BoardDetails.firmware": "nvmlDeviceGetVbiosVersion",
    "BoardDetails.node": "nvmlDeviceGetMinorNumber",
    "BoardDetails.slowdown_temperature": "nvmlDeviceGetTemperatureThreshold",
    "BoardDetails.shutdown_temperature": "nvmlDeviceGetTemperatureThreshold",
    "BoardDetails.default_power_limit": "nvmlDeviceGetPowerManagementDefaultLimit",
    "BoardDetails.max_core_clock": "nvmlDeviceGetMaxClockInfo",
    "BoardDetails.max_memory_clock": "nvmlDeviceGetMaxClockInfo",
    "BoardDetails.cpu_affinity": "nvmlDeviceGetCpuAffinity",
    "BoardDetails.ecc": "nvmlDeviceGetEccMode",
    "BoardDetails.persistence": "nvmlDeviceGetPersistenceMode",
    "BoardDetails.compute_mode": "nvmlDeviceGetComputeMode",
    "BoardDetails.partitioned": "nvmlDeviceGetMigMode",
    "MemoryErrors.corrected": "nvmlDeviceGetTotalEccErrors",
    "MemoryErrors.uncorrected": "nvmlDeviceGetTotalEccErrors",
    "MemoryErrors.corrected_total": "nvmlDeviceGetTotalEccErrors",
    "MemoryErrors.uncorrected_total": "nvmlDeviceGetTotalEccErrors",
    "MemoryErrors.repaired": "nvmlDeviceGetRemappedRows, nvmlDeviceGetRetiredPages",
    "MemoryErrors.repair_pending": "nvmlDeviceGetRemappedRows, "
    "nvmlDeviceGetRetiredPagesPendingStatus",
    "MemoryErrors.repair_failed": "nvmlDeviceGetRemappedRows",
    "PcieLink.generation": "nvmlDeviceGetCurrPcieLinkGeneration",
    "PcieLink.max_generation": "nvmlDeviceGetMaxPcieLinkGeneration",
    "PcieLink.lanes": "nvmlDeviceGetCurrPcieLinkWidth",
    "PcieLink.max_lanes": "nvmlDeviceGetMaxPcieLinkWidth",
    "PcieLink.replays": "nvmlDeviceGetPcieReplayCounter",
    "PcieLink.received": "nvmlDeviceGetPcieThroughput",
    "PcieLink.sent": "nvmlDeviceGetPcieThroughput",
    "Link.up": "nvmlDeviceGetNvLinkState",
    "Link.peer": "nvmlDeviceGetNvLinkRemotePciInfo",
    "Link.version": "nvmlDeviceGetNvLinkVersion",
    "Link.errors": "nvmlDeviceGetNvLinkErrorCounter",
}
"""Field of accelhal.facts -> the calls, in the order they are tried."""
