"""Which DCMI call, or file of the kernel, each figure is read from.

The names are the first generation's; on Ascend 950 it is the dcmiv2_ call of the same meaning.
"""

from __future__ import annotations

from collections.abc import Mapping

_INFO = "dcmi_get_device_info"
_MEMORY = "dcmi_get_device_hbm_info, dcmi_get_device_memory_info_v3"
_RATE = "dcmi_get_device_utilization_rate"
_ECC = "dcmi_get_device_ecc_info"
_PROCESSES = "dcmi_get_device_resource_info"
_VNPUS = f"{_INFO} (52, 0), (52, 1)"
_SYSFS = "/sys/bus/pci/devices"

SOURCES: Mapping[str, str] = {
    "BoardInfo.name": "dcmi_get_device_chip_info_v2, dcmi_get_device_chip_info",
    "BoardInfo.index": "dcmi_get_device_logic_id",
    "BoardInfo.tool_id": "dcmi_get_card_list",
    "BoardInfo.uuid": "dcmi_get_device_die_v2",
    "BoardInfo.serial": "dcmi_get_card_elabel_v2, dcmi_get_device_elabel_info",
    "BoardInfo.pci": "dcmi_get_device_pcie_info_v2, dcmi_get_device_pcie_info",
    "BoardInfo.total_memory": _MEMORY,
    "BoardInfo.numa_node": f"{_SYSFS}: numa_node",
    "BoardInfo.driver": f"{_SYSFS}: driver",
    "Telemetry.temperature": "dcmi_get_device_temperature",
    "Telemetry.memory_temperature": "dcmi_get_device_hbm_info",
    "Telemetry.power": "dcmi_get_device_power_info, dcmi_mcu_get_power_info",
    "Telemetry.power_limit": f"{_INFO} (8, 10)",
    "Telemetry.utilization": f"dcmi_get_device_multi_utilization_rate, {_RATE} 13, 2; "
    f"of a vNPU {_INFO} (52, 5)",
    "Telemetry.memory_bandwidth_utilization": f"dcmi_get_device_hbm_info, {_RATE} 10, 5",
    "Telemetry.core_clock": "dcmi_get_device_frequency 7",
    "Telemetry.memory_clock": f"{_MEMORY}, dcmi_get_device_frequency 6, 1",
    "Telemetry.memory_used": f"{_MEMORY}; of a vNPU {_INFO} (52, 5)",
    "Telemetry.memory_total": f"{_MEMORY}; of a vNPU {_INFO} (52, 5)",
    "Telemetry.throttle_reasons": f"{_INFO} (8, 9)",
    "BoardDetails.part_number": "dcmi_get_card_elabel_v2, dcmi_get_device_elabel_info",
    "BoardDetails.firmware": "dcmi_get_device_component_static_version",
    "BoardDetails.node": "dcmi_get_device_phyid_from_logicid",
    "BoardDetails.slowdown_temperature": "dcmi_get_device_sensor_info 9",
    "BoardDetails.shutdown_temperature": "dcmi_get_device_sensor_info 9",
    "BoardDetails.default_power_limit": f"{_INFO} (8, 10)",
    "BoardDetails.max_core_clock": "dcmi_get_device_frequency 9",
    "BoardDetails.cpu_affinity": "dcmi_get_affinity_cpu_info_by_device_id, "
    f"{_SYSFS}: local_cpulist",
    "BoardDetails.ecc": _ECC,
    "BoardDetails.partitioned": f"{_INFO} (52, 1)",
    "BoardDetails.fabric": f"{_INFO} (12, 1)",
    "MemoryErrors.corrected": _ECC,
    "MemoryErrors.uncorrected": _ECC,
    "MemoryErrors.corrected_total": _ECC,
    "MemoryErrors.uncorrected_total": _ECC,
    "MemoryErrors.repaired": _ECC,
    "MemoryErrors.repair_pending": _ECC,
    "PcieLink.generation": f"{_SYSFS}: current_link_speed",
    "PcieLink.max_generation": f"{_SYSFS}: max_link_speed",
    "PcieLink.lanes": f"{_SYSFS}: current_link_width",
    "PcieLink.max_lanes": f"{_SYSFS}: max_link_width",
    "PcieLink.replays": f"{_INFO} (55, 1)",
    "Link.peer": "SIO: the other chip of the card",
    "Link.up": f"HCCS: {_INFO} (16, 0); UB: dcmiv2_get_ub_port_link_status",
    "Link.lanes": f"{_INFO} (16, 1)",
    "Link.number": f"{_INFO} (16, 1); UB: place in dcmiv2_get_ub_port_link_status",
    "Link.errors": f"HCCS: {_INFO} (16, 5), (16, 3); SIO: {_INFO} (56, 0)",
    "HealthReport.device": "dcmi_get_device_health",
    "HealthReport.driver": "dcmi_get_driver_health",
    "HealthReport.fault": "dcmi_get_device_errorcode_v2, dcmi_get_device_errorcode_string",
    "HealthReport.ecc": _ECC,
    "HealthReport.page_isolation": _ECC,
    "HealthReport.link": f"{_INFO} (16, 0)",
    "HealthReport.throttle": f"{_INFO} (8, 9)",
    "HealthReport.answers": "any call that fails",
    "ProcessMemory.pid": _PROCESSES,
    "ProcessMemory.used": _PROCESSES,
    "Partition.profile": _VNPUS,
    "Partition.total_memory": f"{_VNPUS}, (52, 5)",
    "Partition.compute_share": _VNPUS,
    "relation": "dcmi_get_topo_info_by_device_id",
    "versions.driver": "dcmi_get_driver_version",
    "versions.library": "dcmi_get_dcmi_version",
}
"""Figure, named as in `Management.sources` -> the calls, in the order they are tried."""
