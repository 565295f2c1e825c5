"""Layouts of cndev.h's structures on memory errors, health, links and slices."""

from __future__ import annotations

import ctypes

from accelhal_cambricon.cndev_structs import INCIDENTS, UUID_BYTES


class MemoryEcc(ctypes.Structure):
    """cndevMemEccCounter_t; 152 bytes before 2.0.16."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("volatileSramEccSbeCounter", ctypes.c_uint),
        ("volatileSramEccDbeCounter", ctypes.c_uint),
        ("volatileSramEccParityCounter", ctypes.c_uint),
        ("volatileDramEccSbeCounter", ctypes.c_uint),
        ("volatileDramEccDbeCounter", ctypes.c_uint),
        ("aggregateDramEccSbeCounter", ctypes.c_ulong),
        ("aggregateDramEccDbeCounter", ctypes.c_ulong),
        ("aggregateSramEccSbeCounter", ctypes.c_ulong),
        ("aggregateSramEccDbeCounter", ctypes.c_ulong),
        ("aggregateSramEccParityCounter", ctypes.c_ulong),
        ("thresholdExceeded", ctypes.c_ubyte),
        ("reserved", ctypes.c_ulong * 11),
    )


class OldEcc(ctypes.Structure):
    """cndevECCInfo_t; 64 bytes before 1.6.7."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("kinds", ctypes.c_ulong * 4),
        ("correctedError", ctypes.c_ulong),
        ("uncorrectedError", ctypes.c_ulong),
        ("totalError", ctypes.c_ulong),
        ("addressForbiddenError", ctypes.c_ulong),
    )


class RemappedRows(ctypes.Structure):
    """cndevRemappedRowV2_t."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("correctCounts", ctypes.c_uint),
        ("uncorrectCounts", ctypes.c_uint),
        ("histogram", ctypes.c_uint * 3),
    )


class OldRemappedRows(ctypes.Structure):
    """cndevRemappedRow_t; the last two fields are reserved by now."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("correctRows", ctypes.c_uint),
        ("uncorrectRows", ctypes.c_uint),
        ("reserved", ctypes.c_uint * 2),
    )


class RetiredPages(ctypes.Structure):
    """cndevRetiredPageInfo_t: the caller gives the cause."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("cause", ctypes.c_int),
        ("pageCount", ctypes.c_uint),
        ("pageAddress", ctypes.c_ulong * 512),
    )


class RetirementStatus(ctypes.Structure):
    """cndevRetiredPageStatus_t."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("isPending", ctypes.c_uint),
        ("isFailure", ctypes.c_uint),
    )


class RepairStatus(ctypes.Structure):
    """cndevRepairStatus_t."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("isRetirePending", ctypes.c_ubyte),
        ("isPending", ctypes.c_ubyte),
        ("isFailure", ctypes.c_ubyte),
    )


class Fault(ctypes.Structure):
    """cndevDiagErrorDetail_t."""

    _fields_ = (
        ("msg", ctypes.c_ubyte * 512),
        ("device_id", ctypes.c_uint),
        ("bdf", ctypes.c_uint),
        ("code", ctypes.c_int),
        ("category", ctypes.c_uint),
        ("severity", ctypes.c_uint),
    )


class Incident(ctypes.Structure):
    """cndevIncidentInfo_t."""

    _fields_ = (("system", ctypes.c_int), ("health", ctypes.c_int), ("error", Fault))


class Health(ctypes.Structure):
    """cndevCardHealthStateV2_t."""

    _fields_ = (
        ("health", ctypes.c_int),
        ("deviceState", ctypes.c_int),
        ("driverState", ctypes.c_int),
        ("overallHealth", ctypes.c_int),
        ("incident_count", ctypes.c_uint),
        ("incidents", Incident * INCIDENTS),
        ("reserved", ctypes.c_uint * 8),
    )


class OldHealth(ctypes.Structure):
    """cndevCardHealthState_t; 8 bytes before 2.0.11."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("health", ctypes.c_int),
        ("deviceState", ctypes.c_int),
        ("driverState", ctypes.c_int),
    )


class PcieState(ctypes.Structure):
    """cndevCurrentPCIInfo_t, cndevPCIInfo_t: generation and lanes."""

    _fields_ = (("version", ctypes.c_int), ("speed", ctypes.c_int), ("width", ctypes.c_int))


class PcieTraffic(ctypes.Structure):
    """cndevPCIethroughputV2_t: bytes of the last 20 ms."""

    _fields_ = (
        ("pcieRead", ctypes.c_long),
        ("pcieWrite", ctypes.c_long),
        ("totals", ctypes.c_long * 2),
        ("timestamp", ctypes.c_ulong),
        ("reserved", ctypes.c_long * 8),
    )


class LinkStatus(ctypes.Structure):
    """cndevMLULinkStatusV2_t."""

    _fields_ = (
        ("macState", ctypes.c_int),
        ("serdesState", ctypes.c_int),
        ("presenceState", ctypes.c_int),
        ("serdesProgress", ctypes.c_uint),
        ("reserved", ctypes.c_uint * 7),
    )


class OldLinkStatus(ctypes.Structure):
    """cndevMLULinkStatus_t; 8 bytes at first, then 12, 16."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("isActive", ctypes.c_int),
        ("serdesState", ctypes.c_int),
        ("cableState", ctypes.c_int),
    )


class LinkSpeed(ctypes.Structure):
    """cndevMLULinkSpeed_t: GB/s."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("speedValue", ctypes.c_float),
        ("speedFormat", ctypes.c_int),
    )


class LinkErrors(ctypes.Structure):
    """cndevMLULinkErrorCounter_t."""

    _fields_ = (
        ("correctFecCnt", ctypes.c_ulong),
        ("uncorrectFecCnt", ctypes.c_ulong),
        ("rxBadFcsPkt", ctypes.c_ulong),
        ("txBadFcsPkt", ctypes.c_ulong),
        ("illegalAccessCnt", ctypes.c_ulong),
        ("reserved", ctypes.c_ulong * 11),
    )


class LinkEvents(ctypes.Structure):
    """cndevMLULinkEventCounter_t."""

    _fields_ = (
        ("linkDown", ctypes.c_ulong),
        ("replay", ctypes.c_ulong),
        ("replayFail", ctypes.c_ulong),
        ("reserved", ctypes.c_ulong * 13),
    )


class OldLinkCounters(ctypes.Structure):
    """cndevMLULinkCounter_t; 96 bytes before 2.0.11, then 136, 152."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("traffic", ctypes.c_ulong * 4),
        ("errReplay", ctypes.c_ulong),
        ("errFatal", ctypes.c_ulong),
        ("errEccDouble", ctypes.c_ulong),
        ("errCRC24", ctypes.c_ulong),
        ("errCRC32", ctypes.c_ulong),
        ("errCorrected", ctypes.c_ulong),
        ("errUncorrected", ctypes.c_ulong),
        ("others", ctypes.c_ulong * 7),
    )


class LinkPeer(ctypes.Structure):
    """cndevMLULinkRemoteInfo_t; 104 bytes at first, then 112, 376."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("serials", ctypes.c_ulong * 2),
        ("slotId", ctypes.c_uint),
        ("portId", ctypes.c_uint),
        ("devIp", ctypes.c_ubyte * 16),
        ("uuid", ctypes.c_ubyte * UUID_BYTES),
        ("devIpVersion", ctypes.c_uint),
        ("isIpValid", ctypes.c_uint),
        ("connectType", ctypes.c_int),
        ("ncsUUID64", ctypes.c_ulong),
        ("mac_addr", ctypes.c_ubyte * 6),
        ("port_name", ctypes.c_ubyte * 256),
    )


class MimInstance(ctypes.Structure):
    """cndevMluInstanceInfo_t: an instance of MIM."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("parentDevice", ctypes.c_int),
        ("instanceId", ctypes.c_int),
        ("profileId", ctypes.c_int),
        ("uuid", ctypes.c_ubyte * UUID_BYTES),
        ("address", ctypes.c_int * 4),
        ("placement", ctypes.c_int * 3),
        ("mluCoreCount", ctypes.c_int),
        ("units", ctypes.c_int * 3),
        ("memorySize", ctypes.c_int),
        ("profileName", ctypes.c_ubyte * 100),
        ("names", ctypes.c_ubyte * 300),
        ("reserved", ctypes.c_uint * 128),
    )


class SmluInstance(ctypes.Structure):
    """cndevSMluInfo_t: quota and use, percent and bytes."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("profileId", ctypes.c_int),
        ("instanceId", ctypes.c_int),
        ("uuid", ctypes.c_ubyte * UUID_BYTES),
        ("address", ctypes.c_int * 4),
        ("profileName", ctypes.c_ubyte * 100),
        ("names", ctypes.c_ubyte * 200),
        ("mluQuota", ctypes.c_uint * 2),
        ("memorySize", ctypes.c_ulong * 2),
        ("reserved", ctypes.c_uint * 128),
    )
