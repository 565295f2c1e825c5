"""Which CNDev call each figure is read from."""

from __future__ import annotations

from collections.abc import Mapping

from accelhal_cambricon.cndev_health import OTHER_SYSTEM, SYSTEMS

_MEMORY = "cndevGetMemoryUsageV2, cndevGetMemoryUsage"
_HEALTH = "cndevGetCardHealthStateV2, cndevGetCardHealthState"
_INSTANCES = "cndevGetAllMluInstanceInfo, cndevGetAllSMluInstanceInfo"
_SHARED = "of sMLU cndevGetAllSMluInstanceInfo"
_SLICE = f"of MIM cndevGetAllMluInstanceInfo, {_SHARED}"
_POWER = "cndevGetDevicePowerInfo, cndevGetPowerInfo"
_ECC = "cndevGetMemEccCounter"
_OVER = "cndevGetOverTemperatureInfo"
_REPAIR = "cndevGetRepairStatus, cndevGetRetiredPagesStatus"

SOURCES: Mapping[str, str] = {
    "BoardInfo.name": "cndevGetCardNameStringByDevId, cndevGetCardNameString",
    "BoardInfo.index": "place in cndevGetDeviceHandleByIndex",
    "BoardInfo.uuid": f"cndevGetUUID; {_SLICE}",
    "BoardInfo.serial": "cndevGetCardSN",
    "BoardInfo.pci": "cndevGetPCIeInfoV2, cndevGetPCIeInfo",
    "BoardInfo.total_memory": f"{_MEMORY}; {_SLICE}",
    "BoardInfo.numa_node": "cndevGetNUMANodeIdByDevId",
    "Telemetry.temperature": "cndevGetTemperatureInfo",
    "Telemetry.memory_temperature": "cndevGetTemperatureInfo",
    "Telemetry.power": _POWER,
    "Telemetry.power_limit": f"{_POWER}, cndevGetPowerManagementLimitation",
    "Telemetry.utilization": "cndevGetDeviceUtilizationInfo",
    "Telemetry.core_clock": "cndevGetFrequencyInfo",
    "Telemetry.memory_used": f"{_MEMORY}; {_SHARED}",
    "Telemetry.memory_total": f"{_MEMORY}; {_SLICE}",
    "Telemetry.throttle_reasons": "cndevGetPerformanceThrottleReason",
    "BoardDetails.part_number": "cndevGetCardPartNumber",
    "BoardDetails.firmware": "cndevGetVersionInfo",
    "BoardDetails.node": "cndevDeviceGetMinorNumber",
    "BoardDetails.slowdown_temperature": f"cndevDeviceGetFieldValues 52, {_OVER}",
    "BoardDetails.shutdown_temperature": f"cndevDeviceGetFieldValues 53, {_OVER}",
    "BoardDetails.default_power_limit": f"cndevGetPowerManagementDefaultLimitation, {_POWER}",
    "BoardDetails.max_core_clock": "cndevGetFrequencyInfo",
    "BoardDetails.cpu_affinity": "cndevGetDeviceAffinity",
    "BoardDetails.ecc": "cndevGetEccMode",
    "BoardDetails.compute_mode": "cndevGetComputeMode",
    "BoardDetails.partitioned": "cndevGetMimMode, cndevGetSMLUMode",
    "MemoryErrors.corrected": f"{_ECC}, cndevGetECCInfo",
    "MemoryErrors.uncorrected": f"{_ECC}, cndevGetECCInfo",
    "MemoryErrors.corrected_total": _ECC,
    "MemoryErrors.uncorrected_total": _ECC,
    "MemoryErrors.repaired": "cndevGetRemappedRowsV2, cndevGetRemappedRows, cndevGetRetiredPages",
    "MemoryErrors.repair_pending": _REPAIR,
    "MemoryErrors.repair_failed": _REPAIR,
    "PcieLink.generation": "cndevGetCurrentPCIInfo",
    "PcieLink.max_generation": "cndevGetMaxPCIInfo",
    "PcieLink.lanes": "cndevGetCurrentPCIInfo",
    "PcieLink.max_lanes": "cndevGetMaxPCIInfo",
    "PcieLink.replays": "cndevGetPcieReplayCounter",
    "PcieLink.received": "cndevGetPCIethroughputV2",
    "PcieLink.sent": "cndevGetPCIethroughputV2",
    "Link.peer": "cndevGetMLULinkRemoteInfo",
    "Link.up": "cndevGetMLULinkStatusV2, cndevGetMLULinkStatus",
    "Link.version": "cndevGetMLULinkVersion",
    "Link.bandwidth": "cndevGetMLULinkSpeedInfo",
    "Link.number": "place below cndevGetMLULinkPortNumber",
    "Link.errors": "cndevGetMLULinkErrorCounter, cndevGetMLULinkEventCounter, "
    "cndevGetMLULinkCounter",
    **{
        f"HealthReport.{check}": _HEALTH
        for check in ("health", "device", "overall", *SYSTEMS.values(), OTHER_SYSTEM)
    },
    "HealthReport.ecc": f"{_ECC}, cndevGetECCInfo",
    "HealthReport.repair": _REPAIR,
    "HealthReport.throttle": "cndevGetPerformanceThrottleReason",
    "HealthReport.answers": "any call that fails",
    "ProcessMemory.pid": "cndevGetProcessInfo",
    "ProcessMemory.used": "cndevGetProcessInfo",
    "Partition.profile": _INSTANCES,
    "Partition.total_memory": _INSTANCES,
    "Partition.compute_share": f"{_INSTANCES}; of MIM cndevGetCoreCount too",
    "relation": "cndevTopologyGetRelationship",
    "versions.driver": "cndevGetDriverVersion, cndevGetVersionInfo",
    "versions.library": "cndevGetLibVersion",
}
"""Figure, named as in `Management.sources` -> the calls, in the order they are tried."""
