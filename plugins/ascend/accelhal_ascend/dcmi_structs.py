"""Layouts of dcmi_interface_api.h's structures; neighbouring fields that nobody reads are one."""

from __future__ import annotations

import ctypes

HCCS_PORTS = 16
UB_PORTS = 36
VNPUS = 32
"""Lengths of the arrays in the structures."""


class ChipInfo(ctypes.Structure):
    """dcmi_chip_info, and what dcmi_chip_info_v2 adds: npu_name."""

    _fields_ = (
        ("chip_type", ctypes.c_ubyte * 32),
        ("chip_name", ctypes.c_ubyte * 32),
        ("chip_ver", ctypes.c_ubyte * 32),
        ("aicore_cnt", ctypes.c_uint),
        ("npu_name", ctypes.c_ubyte * 32),
    )


class PcieInfo(ctypes.Structure):
    """dcmi_pcie_info_all: with the domain."""

    _fields_ = (
        ("venderid", ctypes.c_uint),
        ("subvenderid", ctypes.c_uint),
        ("deviceid", ctypes.c_uint),
        ("subdeviceid", ctypes.c_uint),
        ("domain", ctypes.c_int),
        ("bdf_busid", ctypes.c_uint),
        ("bdf_deviceid", ctypes.c_uint),
        ("bdf_funcid", ctypes.c_uint),
        ("reserve", ctypes.c_ubyte * 32),
    )


class OldPcieInfo(ctypes.Structure):
    """dcmi_pcie_info: another order of fields, and no domain."""

    _fields_ = (
        ("deviceid", ctypes.c_uint),
        ("venderid", ctypes.c_uint),
        ("subvenderid", ctypes.c_uint),
        ("subdeviceid", ctypes.c_uint),
        ("bdf_deviceid", ctypes.c_uint),
        ("bdf_busid", ctypes.c_uint),
        ("bdf_funcid", ctypes.c_uint),
    )


class BoardIds(ctypes.Structure):
    """dcmi_board_info."""

    _fields_ = (
        ("board_id", ctypes.c_uint),
        ("pcb_id", ctypes.c_uint),
        ("bom_id", ctypes.c_uint),
        ("slot_id", ctypes.c_uint),
    )


class Label(ctypes.Structure):
    """dcmi_elabel_info: the electronic label."""

    _fields_ = (
        ("product_name", ctypes.c_ubyte * 256),
        ("model", ctypes.c_ubyte * 256),
        ("manufacturer", ctypes.c_ubyte * 256),
        ("manufacturer_date", ctypes.c_ubyte * 256),
        ("serial_number", ctypes.c_ubyte * 256),
    )


class DieId(ctypes.Structure):
    """dcmi_die_id."""

    _fields_ = (("soc_die", ctypes.c_uint * 5),)


class HbmInfo(ctypes.Structure):
    """dcmi_hbm_info: MB, MHz, MB, degrees Celsius, percent."""

    _fields_ = (
        ("memory_size", ctypes.c_ulonglong),
        ("freq", ctypes.c_uint),
        ("memory_usage", ctypes.c_ulonglong),
        ("temp", ctypes.c_int),
        ("bandwith_util_rate", ctypes.c_uint),
    )


class DdrInfo(ctypes.Structure):
    """dcmi_get_memory_info_stru: MB and MHz. Its comment says 96 bytes; it has 112."""

    _fields_ = (
        ("memory_size", ctypes.c_ulonglong),
        ("memory_available", ctypes.c_ulonglong),
        ("freq", ctypes.c_uint),
        ("hugepagesize", ctypes.c_ulong),
        ("hugepages_total", ctypes.c_ulong),
        ("hugepages_free", ctypes.c_ulong),
        ("utiliza", ctypes.c_uint),
        ("reserve", ctypes.c_ubyte * 60),
    )


class Utilization(ctypes.Structure):
    """dcmi_multi_utilization_info: percent."""

    _fields_ = (
        ("aic_util", ctypes.c_uint),
        ("aiv_util", ctypes.c_uint),
        ("aicore_util", ctypes.c_uint),
        ("npu_util", ctypes.c_uint),
        ("reserved", ctypes.c_uint * 8),
    )


class EccInfo(ctypes.Structure):
    """dcmi_ecc_info of 36 bytes; drivers before CANN 8.5 end after 28, before the next_ counts."""

    _fields_ = (
        ("enable_flag", ctypes.c_int),
        ("single_bit_error_cnt", ctypes.c_uint),
        ("double_bit_error_cnt", ctypes.c_uint),
        ("total_single_bit_error_cnt", ctypes.c_uint),
        ("total_double_bit_error_cnt", ctypes.c_uint),
        ("single_bit_isolated_pages_cnt", ctypes.c_uint),
        ("double_bit_isolated_pages_cnt", ctypes.c_uint),
        ("single_bit_next_isolated_pages_cnt", ctypes.c_uint),
        ("double_bit_next_isolated_pages_cnt", ctypes.c_uint),
    )


class ProcessMemoryInfo(ctypes.Structure):
    """dcmi_proc_mem_info: process id on the host, bytes."""

    _fields_ = (("proc_id", ctypes.c_int), ("proc_mem_usage", ctypes.c_ulong))


class SensorInfo(ctypes.Union):
    """dcmi_sensor_info; the two temperatures are unsigned in truth."""

    _fields_ = (
        ("temp", ctypes.c_ubyte * 2),
        ("data", ctypes.c_uint * 16),
    )


class PowerInfo(ctypes.Structure):
    """dcmi_lp_power_info: milliwatts."""

    _fields_ = (("soc_rated_power", ctypes.c_uint), ("reserved", ctypes.c_ubyte * 32))


class PcieErrors(ctypes.Structure):
    """dcmi_pcie_link_error_info."""

    _fields_ = (
        ("tx_err_cnt", ctypes.c_uint),
        ("rx_err_cnt", ctypes.c_uint),
        ("lcrc_err_cnt", ctypes.c_uint),
        ("ecrc_err_cnt", ctypes.c_uint),
        ("retry_cnt", ctypes.c_uint),
        ("rsv", ctypes.c_uint * 32),
    )


class HccsStatus(ctypes.Structure):
    """dcmi_hccs_statues."""

    _fields_ = (
        ("pcs_status", ctypes.c_uint),
        ("hdlc_status", ctypes.c_uint),
        ("reserve", ctypes.c_ubyte * 4),
    )


class HccsLanes(ctypes.Structure):
    """dcmi_hccs_lane_info."""

    _fields_ = (
        ("hccs_port_pcs_bitmap", ctypes.c_uint),
        ("pcs_lane_bitmap", ctypes.c_uint * HCCS_PORTS),
        ("reserve", ctypes.c_uint * HCCS_PORTS),
    )


class HccsCounters(ctypes.Structure):
    """dcmi_hccs_statistic_info."""

    _fields_ = (
        ("tx_cnt", ctypes.c_uint * HCCS_PORTS),
        ("rx_cnt", ctypes.c_uint * HCCS_PORTS),
        ("crc_err_cnt", ctypes.c_uint * HCCS_PORTS),
        ("retry_cnt", ctypes.c_uint * HCCS_PORTS),
        ("reserved_field_cnt", ctypes.c_uint * 64),
    )


class WideHccsCounters(ctypes.Structure):
    """dcmi_hccs_statistic_info_u64."""

    _fields_ = (
        ("tx_cnt", ctypes.c_ulonglong * HCCS_PORTS),
        ("rx_cnt", ctypes.c_ulonglong * HCCS_PORTS),
        ("crc_err_cnt", ctypes.c_ulonglong * HCCS_PORTS),
        ("retry_cnt", ctypes.c_ulonglong * HCCS_PORTS),
        ("reserved", ctypes.c_ulonglong * 64),
    )


class SioErrors(ctypes.Structure):
    """dcmi_sio_crc_err_statistics_info."""

    _fields_ = (
        ("tx_error_count", ctypes.c_ushort),
        ("rx_error_count", ctypes.c_ushort),
        ("reserved", ctypes.c_ubyte * 8),
    )


class UbPorts(ctypes.Structure):
    """dcmi_ub_port_link_status."""

    _fields_ = (("ub_link_status", ctypes.c_int), ("ub_port_status", ctypes.c_int * UB_PORTS))


class SuperPod(ctypes.Structure):
    """dcmi_spod_info."""

    _fields_ = (
        ("sdid", ctypes.c_uint),
        ("super_pod_size", ctypes.c_uint),
        ("super_pod_id", ctypes.c_uint),
        ("server_index", ctypes.c_uint),
        ("chassis_id", ctypes.c_uint),
        ("super_pod_type", ctypes.c_uint),
        ("reserve", ctypes.c_uint * 6),
    )


class ComputeShare(ctypes.Structure):
    """dcmi_computing_resource: AI cores (a fraction of one is possible), MB, percent."""

    _fields_ = (
        ("aic", ctypes.c_float),
        ("aiv", ctypes.c_float),
        ("queues", ctypes.c_ushort * 8),
        ("memory_size", ctypes.c_ulonglong),
        ("ids", ctypes.c_uint * 4),
        ("cpus", ctypes.c_ushort * 5),
        ("vdev_aicore_utilization", ctypes.c_uint),
        ("vdev_memory_total", ctypes.c_ulonglong),
        ("vdev_memory_free", ctypes.c_ulonglong),
        ("reserved", ctypes.c_ubyte * 12),
    )


class VnpuInfo(ctypes.Structure):
    """dcmi_vdev_query_info."""

    _fields_ = (
        ("name", ctypes.c_ubyte * 16),
        ("status", ctypes.c_uint),
        ("is_container_used", ctypes.c_uint),
        ("vfid", ctypes.c_uint),
        ("vfg_id", ctypes.c_uint),
        ("container_id", ctypes.c_ulonglong),
        ("base", ctypes.c_ulonglong * 8),
        ("computing", ComputeShare),
        ("media", ctypes.c_uint * 14),
    )


class VnpuQuery(ctypes.Structure):
    """dcmi_vdev_query_stru: the caller gives the number."""

    _fields_ = (("vdev_id", ctypes.c_uint), ("query_info", VnpuInfo))


class ChipResources(ctypes.Structure):
    """dcmi_soc_total_resource: what a chip has, and the numbers of its vNPUs."""

    _fields_ = (
        ("vdev_num", ctypes.c_uint),
        ("vdev_id", ctypes.c_uint * VNPUS),
        ("vfg_num", ctypes.c_uint),
        ("vfg_bitmap", ctypes.c_uint),
        ("base", ctypes.c_ulonglong * 8),
        ("computing", ComputeShare),
        ("media", ctypes.c_uint * 14),
    )
