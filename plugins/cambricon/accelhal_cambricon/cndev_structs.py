"""Layouts of cndev.h's structures; neighbouring fields that nobody reads are one.

A structure that begins with `version` wants the caller's API version there. Each older layout is a
beginning of ours, so one definition serves every release.
"""

from __future__ import annotations

import ctypes

UUID_BYTES = 37
INCIDENTS = 64
AFFINITY_WORDS = 1024
"""Lengths of the arrays in the structures."""


class Count(ctypes.Structure):
    """cndevCardInfo_t, cndevCardCoreCount_t, cndevPcieReplayCounter_t: one number."""

    _fields_ = (("version", ctypes.c_int), ("number", ctypes.c_uint))


class State(ctypes.Structure):
    """cndevCardName_t, cndevEccMode_t, cndevComputeMode_t and others: one number with a sign."""

    _fields_ = (("version", ctypes.c_int), ("value", ctypes.c_int))


class Uuid(ctypes.Structure):
    """cndevUUID_t; 44 bytes before 1.6.7."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("uuid", ctypes.c_ubyte * UUID_BYTES),
        ("ncsUUID64", ctypes.c_ulong),
    )


class Serial(ctypes.Structure):
    """cndevCardSN_t."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("sn", ctypes.c_ulong),
        ("motherBoardSn", ctypes.c_ulong),
    )


class PartNumber(ctypes.Structure):
    """cndevCardPartNumber_t."""

    _fields_ = (("version", ctypes.c_int), ("partNumber", ctypes.c_ubyte * 32))


class PcieInfo(ctypes.Structure):
    """cndevPCIeInfoV2_t."""

    _fields_ = (
        ("subsystemId", ctypes.c_uint),
        ("deviceId", ctypes.c_uint),
        ("vendor", ctypes.c_ushort),
        ("subsystemVendor", ctypes.c_ushort),
        ("domain", ctypes.c_uint),
        ("bus", ctypes.c_uint),
        ("device", ctypes.c_uint),
        ("function", ctypes.c_uint),
        ("moduleId", ctypes.c_ushort),
        ("slotId", ctypes.c_ushort),
        ("reserved", ctypes.c_uint * 8),
    )


class OldPcieInfo(ctypes.Structure):
    """cndevPCIeInfo_t; 40 bytes before 1.6.7."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("subsystemId", ctypes.c_uint),
        ("deviceId", ctypes.c_uint),
        ("vendor", ctypes.c_ushort),
        ("subsystemVendor", ctypes.c_ushort),
        ("domain", ctypes.c_uint),
        ("bus", ctypes.c_uint),
        ("device", ctypes.c_uint),
        ("function", ctypes.c_uint),
        ("physicalSlot", ctypes.c_void_p),
        ("slotID", ctypes.c_int),
    )


class Versions(ctypes.Structure):
    """cndevVersionInfo_t: three numbers each of firmware (MCU) and driver."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("mcu", ctypes.c_uint * 3),
        ("driver", ctypes.c_uint * 3),
    )


class ThreeNumbers(ctypes.Structure):
    """cndevLibVersionInfo_t, cndevMLULinkVersion_t."""

    _fields_ = (("version", ctypes.c_int), ("numbers", ctypes.c_uint * 3))


class Memory(ctypes.Structure):
    """cndevMemoryInfoV2_t: what its comments call MB is MiB."""

    _fields_ = (
        ("physicalMemoryTotal", ctypes.c_long),
        ("physicalMemoryUsed", ctypes.c_long),
        ("others", ctypes.c_long * 4),
        ("reserved", ctypes.c_ulong * 16),
    )


class OldMemory(ctypes.Structure):
    """cndevMemoryInfo_t: the same unit; 208 bytes before 2.0.11."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("physicalMemoryTotal", ctypes.c_long),
        ("physicalMemoryUsed", ctypes.c_long),
        ("others", ctypes.c_long * 24),
    )


class Temperatures(ctypes.Structure):
    """cndevTemperatureInfo_t, degrees Celsius; 128 bytes at first, then 132, 144, 148."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("board", ctypes.c_int),
        ("cluster", ctypes.c_int * 20),
        ("memoryDie", ctypes.c_int * 8),
        ("chip", ctypes.c_int),
        ("airInlet", ctypes.c_int),
        ("airOutlet", ctypes.c_int),
        ("memory", ctypes.c_int),
        ("others", ctypes.c_int * 3),
    )


class OverTemperature(ctypes.Structure):
    """cndevOverTemperatureInfo_t: degrees Celsius."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("counters", ctypes.c_uint * 2),
        ("powerOffTemp", ctypes.c_short),
        ("underClockTemp", ctypes.c_short),
    )


class Power(ctypes.Structure):
    """cndevDevicePowerInfo_t: watts."""

    _fields_ = (
        ("usage", ctypes.c_int),
        ("cap", ctypes.c_int),
        ("machine", ctypes.c_int),
        ("tdp", ctypes.c_int),
        ("maxPower", ctypes.c_int),
        ("reserved", ctypes.c_int * 16),
    )


class OldPower(ctypes.Structure):
    """cndevPowerInfo_t, watts; 20 bytes at first, then 24, 28, 32."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("usage", ctypes.c_int),
        ("cap", ctypes.c_int),
        ("usageDecimal", ctypes.c_int),
        ("machine", ctypes.c_int),
        ("capDecimal", ctypes.c_int),
        ("thermalDesignPower", ctypes.c_ushort),
        ("instantaneous", ctypes.c_ushort * 2),
    )


class PowerLimit(ctypes.Structure):
    """cndevPowerManagementLimitation_t: watts."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("powerLimit", ctypes.c_ushort),
        ("powerLimitDecimal", ctypes.c_ushort),
    )


class Utilization(ctypes.Structure):
    """cndevUtilizationInfo_t: percent."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("averageCoreUtilization", ctypes.c_int),
        ("coreUtilization", ctypes.c_int * 80),
    )


class Frequency(ctypes.Structure):
    """cndevFrequencyInfo_t: MHz, but ddrFreq is a transfer rate; 16 bytes before 2.0.11."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("boardFreq", ctypes.c_int),
        ("ddrFreq", ctypes.c_int),
        ("flags", ctypes.c_ubyte * 2),
        ("clusters", ctypes.c_ushort * 21),
        ("boardDefaultFreq", ctypes.c_int),
        ("boardFreqArange", ctypes.c_int * 2),
    )


class ThrottleReasons(ctypes.Structure):
    """cndevPerformanceThrottleReason_t: 0 or 1 each."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("tdp", ctypes.c_int),
        ("powerSetting", ctypes.c_int),
        ("clockSetting", ctypes.c_int),
        ("frequencyLocked", ctypes.c_int),
        ("powerBrake", ctypes.c_int),
        ("thermalSlowdown", ctypes.c_int),
    )


class FieldNumber(ctypes.Union):
    """cndevValue_t."""

    _fields_ = (
        ("dVal", ctypes.c_double),
        ("uiVal", ctypes.c_uint),
        ("ulVal", ctypes.c_ulong),
        ("ullVal", ctypes.c_ulonglong),
        ("siVal", ctypes.c_int),
        ("slVal", ctypes.c_long),
        ("sllVal", ctypes.c_longlong),
    )


class FieldValue(ctypes.Structure):
    """cndevFieldValue_t: the caller gives fieldId and scopeId; `ret` is this entry's own code."""

    _fields_ = (
        ("fieldId", ctypes.c_int),
        ("ret", ctypes.c_int),
        ("value", FieldNumber),
        ("valueType", ctypes.c_int),
        ("times", ctypes.c_longlong * 2),
        ("scopeId", ctypes.c_uint),
    )


class Affinity(ctypes.Structure):
    """cndevAffinity_t."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("cpuCount", ctypes.c_uint),
        ("cpuAffinityBitMap", ctypes.c_uint * AFFINITY_WORDS),
    )


class Process(ctypes.Structure):
    """cndevProcessInfo_t: KiB."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("pid", ctypes.c_uint),
        ("physicalMemoryUsed", ctypes.c_ulong),
        ("virtualMemoryUsed", ctypes.c_ulong),
    )
