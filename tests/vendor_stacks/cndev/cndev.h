/* Structures of libcndev.so as cndev.h lays them out; the simulated library fills them in, and a
 * test has the compiler tell where each field stands. With OLD_DRIVER, those before 2.0.11. */
#ifndef ACCELHAL_CNDEV_H
#define ACCELHAL_CNDEV_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long ul;

#ifdef OLD_DRIVER
#define SINCE(...)
#else
#define SINCE(...) __VA_ARGS__
#endif

struct card_info { int version; u32 number; };
struct card_name { int version, id; };
struct uuid { int version; u8 uuid[37]; SINCE(ul ncsUUID64;) };
struct card_sn { int version; ul sn, motherBoardSn; };
struct part_number { int version; char partNumber[32]; };
struct pcie_info_v2 {
    u32 subsystemId, deviceId;
    u16 vendor, subsystemVendor;
    u32 domain, bus, device, function;
    u16 moduleId, slotId;
    u32 reserved[8];
};
struct pcie_info {
    int version;
    u32 subsystemId, deviceId;
    u16 vendor, subsystemVendor;
    u32 domain, bus, device, function;
    const char *physicalSlot;
    SINCE(int slotID;)
};
struct version_info {
    int version;
    u32 mcuMajorVersion, mcuMinorVersion, mcuBuildVersion, driverMajorVersion, driverMinorVersion, driverBuildVersion;
};
struct lib_version { int version; u32 libMajorVersion, libMinorVersion, libBuildVersion; };
struct memory_v2 {
    long physicalMemoryTotal, physicalMemoryUsed, reservedMemory, virtualMemoryTotal, virtualMemoryUsed;
    ul globalMemory, reserved[16];
};
struct memory {
    int version;
    long physicalMemoryTotal, physicalMemoryUsed, virtualMemoryTotal, virtualMemoryUsed, channelNumber, channelMemoryUsed[20];
    SINCE(ul globalMemory;)
};
struct temperature {
    int version, board, cluster[20], memoryDie[8], chip, airInlet;
    SINCE(int airOutlet, memory, videoInput, cpu, isp;)
};
struct over_temperature { int version; u32 powerOffCounter, underClockCounter; short powerOffTemp, underClockTemp; };
struct power_v2 { int usage, cap, machine, tdp, maxPower, reserved[16]; };
struct power {
    int version, usage, cap, usageDecimal, machine;
    SINCE(int capDecimal; u16 thermalDesignPower, instantaneousPowerUsage, instantaneousPowerUsageDecimal;)
};
struct power_limit { int version; u16 powerLimit, powerLimitDecimal; };
struct utilization { int version, averageCoreUtilization, coreUtilization[80]; };
struct frequency {
    int version, boardFreq, ddrFreq;
    u8 overtempDfsFlag, fastDfsFlag;
    SINCE(u16 mluClusterFreqCount, mluClusterFreq[20]; int boardDefaultFreq, boardFreqArange[2];)
};
struct throttle { int version, tdp, powerSetting, clockSetting, frequencyLocked, powerBrake, thermalSlowdown; };
union field_number { double dVal; u32 uiVal; ul ulVal; unsigned long long ullVal; int siVal; long slVal; long long sllVal; };
struct field_value { int fieldId, ret; union field_number value; int valueType; long long latencyUsec, timestamp; u32 scopeId; };
struct affinity { int version; u32 cpuCount, cpuAffinityBitMap[1024]; };
struct process { int version; u32 pid; ul physicalMemoryUsed, virtualMemoryUsed; };
struct mem_ecc {
    int version;
    u32 volatileSramEccSbeCounter, volatileSramEccDbeCounter, volatileSramEccParityCounter, volatileDramEccSbeCounter, volatileDramEccDbeCounter;
    ul aggregateDramEccSbeCounter, aggregateDramEccDbeCounter, aggregateSramEccSbeCounter, aggregateSramEccDbeCounter, aggregateSramEccParityCounter;
    _Bool aggregateSramEccThresholdExceeded;
    ul reserved[11];
};
struct ecc_info {
    int version;
    ul oneBitError, multipleOneError, multipleError, multipleMultipleError, correctedError, uncorrectedError, totalError;
    SINCE(ul addressForbiddenError;)
};
struct remapped_v2 { int version; u32 correctCounts, uncorrectCounts, histogram[3]; };
struct remapped { int version; u32 correctRows, uncorrectRows, pendingRows, failedRows; };
struct retired_pages { int version, cause; u32 pageCount; ul pageAddress[512]; };
struct retired_status { int version; u32 isPending, isFailure; };
struct repair_status { int version; _Bool isRetirePending, isPending, isFailure; };
struct fault { char msg[512]; u32 device_id, bdf; int code; u32 category, severity; };
struct incident { int system, health; struct fault error; };
struct health_v2 { int health, deviceState, driverState, overallHealth; u32 incident_count; struct incident incidents[64]; u32 reserved[8]; };
struct health { int version, health; SINCE(int deviceState, driverState;) };
struct current_pci { int version, currentSpeed, currentWidth; };
struct throughput_v2 { long pcieRead, pcieWrite, pcieReadTotal, pcieWriteTotal; ul timestamp; long reserved[8]; };
struct link_status_v2 { int macState, serdesState, presenceState; u32 serdesProgress, reserved[7]; };
struct link_status { int version, isActive, serdesState; SINCE(int cableState;) };
struct link_speed { int version; float speedValue; int speedFormat; };
struct link_errors { ul correctFecCnt, uncorrectFecCnt, rxBadFcsPkt, txBadFcsPkt, illegalAccessCnt, reserved[11]; };
struct link_events { ul linkDown, replay, replayFail, reserved[13]; };
struct link_counter {
    int version;
    ul cntrReadByte, cntrReadPackage, cntrWriteByte, cntrWritePackage;
    ul errReplay, errFatal, errEccDouble, errCRC24, errCRC32, errCorrected, errUncorrected;
    SINCE(ul errReadPackage, errWritePackage, errIllegalAccess, cntrCnpPackage, cntrPfcPackage, statQPInUsing, statTaskAlive;)
};
struct remote_info {
    int version;
    ul mcSn, baSn;
    u32 slotId, portId;
    u8 devIp[16], uuid[37];
    u32 devIpVersion, isIpValid;
    int connectType;
    SINCE(ul ncsUUID64; u8 mac_addr[6]; char port_name[256];)
};
struct mim_info {
    int version, parentDevice, instanceId, profileId;
    u8 uuid[37];
    int domain, bus, device, function, placement[3], mluCoreCount, vpuCount, jpuCount, gdmaCount, memorySize;
    char profileName[100], devNodeName[100], ipcmDevNodeName[100], instanceName[100];
    u32 reserved[128];
};
struct smlu_info {
    int version, profileId, instanceId;
    u8 uuid[37];
    int domain, bus, device, function;
    char profileName[100], instanceName[100], devNodeName[100];
    u32 mluQuota[2];
    ul memorySize[2];
    u32 reserved[128];
};

#endif
