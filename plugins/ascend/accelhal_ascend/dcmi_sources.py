"""Which DCMI call, or file of the kernel, each figure is read from.

The names are the first generation's; on Ascend 950 it is the dcmiv2_ call of the same meaning.
"""

from __future__ import annotations

from collections.abc import Mapping

_INFO = "dcmi_get_device_info"
_MEMORY = "dcmi_get_device_hbm_info, dcmi_get_device_memory_info_v3"
_RATE = "dcmi_get_device_utilization_rate"
_SYSFS = "/sys/bus/pci/devices"

SOURCES: Mapping[str, str] = {
    "BoardInfo.name": "dcmi_get_device_chip_info_v2, dcmi_get_device_chip_info",
    "BoardInfo.index": "dcmi_get_device_logic_id",
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
    "BoardDetails.ecc": "dcmi_get_device_ecc_info",
    "BoardDetails.partitioned": f"{_INFO} (52, 1)",
    "BoardDetails.fabric": f"{_INFO} (12, 1)",
    "MemoryErrors.corrected": "dcmi_get_device_ecc_info",
    "MemoryErrors.uncorrected": "dcmi_get_device_ecc_info",
    "MemoryErrors.corrected_total": "dcmi_get_device_ecc_info",
    "MemoryErrors.uncorrected_total": "dcmi_get_device_ecc_info",
    "MemoryErrors.repaired": "dcmi_get_device_ecc_info",
    "MemoryErrors.repair_pending": "dcmi_get_device_ecc_info",
    "PcieLink.generation": f"{_SYSFS}: current_link_speed",
    "PcieLink.max_generation": f"{_SYSFS}: max_link_speed",
    "PcieLink.lanes": f"{_SYSFS}: current_link_width",
    "PcieLink.max_lanes": f"{_SYSFS}: max_link_width",
    "PcieLink.replays": f"{_INFO} (55, 1)",
    "Link.peer": "SIO: the other chip of the card",
    "Link.up": f"HCCS: {_INFO} (16, 0); UB: dcmiv2_get_ub_port_link_status",
    "Link.lanes": f"{_INFO} (16, 1)",
    "Link.errors": f"HCCS: {_INFO} (16, 5), (16, 3); SIO: {_INFO} (56, 0)",
}
"""Field of accelhal.facts -> the calls, in the order they are tried."""
